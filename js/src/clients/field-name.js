/**
 * Names of header fields.
 * @module
 */

import { check } from '../errors.js';

/**
 * Whether a value is a token (RFC 9110), as the names of fields are.
 *
 * @param {unknown} value
 * @returns {value is string}
 */
export const isFieldName = (value) =>
  typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value);

/**
 * The name in lower case, as requests are asked for it.
 *
 * @param {string} name of the argument
 * @param {unknown} value
 * @returns {string}
 */
export function checkFieldName(name, value) {
  check(isFieldName(value), name, 'the name of a header field', value);
  return value.toLowerCase();
}
