/**
 * Names of header fields.
 * @module
 */

import { check } from '../errors.js';

/**
 * The name in lower case, as requests are asked for it.
 *
 * @param {string} name of the argument
 * @param {unknown} value
 * @returns {string}
 */
export function checkFieldName(name, value) {
  const isName = typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value);
  check(isName, name, 'the name of a header field', value);
  return value.toLowerCase();
}
