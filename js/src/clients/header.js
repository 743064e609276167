/**
 * Clients by a header field.
 * @module
 */

import { extractor } from './extractor.js';
import { checkFieldName } from './field-name.js';

/** @import { ClientExtractor, RequestSource } from './types.js' */

/**
 * Clients by a header field that somebody has checked before, such as a gateway that says whose request it is:
 * `header:x-tenant:acme`. Null where the field is missing or empty. Whoever may write the field freely has as many buckets
 * as he likes, and those of others.
 *
 * @param {string} name of the field, in any case
 * @returns {ClientExtractor}
 * @throws {TypeError} when it is no name of a field
 * @example
 * header('x-tenant');
 */
export function header(name) {
  const field = checkFieldName('name', name);
  // No name of a field holds a colon, so the value begins after the second.
  const start = `header:${field}:`;
  return extractor('header', named);

  /** @param {unknown} _request @param {RequestSource} source */
  function named(_request, source) {
    const value = fieldValue(source, field);
    return value === '' ? null : start + value;
  }
}

/**
 * The value of a field without the white space around it; '' where there is none.
 *
 * @param {RequestSource} source
 * @param {string} field in lower case
 */
export const fieldValue = (source, field) => (source.header(field) ?? '').trim();
