/**
 * Clients by API key.
 * @module
 */

import { checkNames } from '../arguments.js';
import { check } from '../errors.js';
import { extractor } from './extractor.js';
import { checkFieldName, isFieldName } from './field-name.js';
import { fieldValue } from './header.js';

/** @import { ApiKeyOptions, ClientExtractor, RequestSource } from './types.js' */

/**
 * Clients by API key: `key:KEY`. Null where there is none, or it is empty or not known. Without `isKnown` each key counts
 * that somebody makes up, so whoever sends another one with each request is never refused: let requests with keys that do
 * not exist end before.
 *
 * The name holds the key. The limiter keeps a keyed hash of it; what else is done with it is up to you, in logs for one.
 *
 * @param {ApiKeyOptions} [options] `header`, `scheme`, `isKnown`
 * @returns {ClientExtractor} it throws a TypeError when `isKnown` returns no boolean: a promise, say
 * @throws {TypeError} when an option is not as it should be; the message names it and its value
 * @example
 * firstOf(apiKey({ isKnown: (key) => keys.has(key) }), address());
 * apiKey({ header: 'authorization', scheme: 'Bearer' });
 */
export function apiKey(options = {}) {
  checkNames(options, ['header', 'scheme', 'isKnown']);
  const { header = 'x-api-key', scheme, isKnown } = options;
  const field = checkFieldName('header', header);
  const isScheme = scheme === undefined || isFieldName(scheme);
  check(isScheme, 'scheme', 'a word such as "Bearer"', scheme);
  const isFunction = isKnown === undefined || typeof isKnown === 'function';
  check(isFunction, 'isKnown', 'a function that returns whether there is such a key', isKnown);
  const before = scheme?.toLowerCase();
  return extractor('key', byKey);

  /** @param {unknown} _request @param {RequestSource} source */
  function byKey(_request, source) {
    const value = fieldValue(source, field);
    const key = before === undefined ? value : keyAfter(before, value);
    if (key === '') return null;
    if (isKnown === undefined) return `key:${key}`;
    const known = isKnown(key);
    // A promise would be true of every key.
    check(typeof known === 'boolean', 'what isKnown returns', 'a boolean', known);
    return known ? `key:${key}` : null;
  }
}

/**
 * @param {string} scheme in lower case
 * @param {string} value
 */
function keyAfter(scheme, value) {
  const { length } = scheme;
  if (value[length] !== ' ' || value.slice(0, length).toLowerCase() !== scheme) return '';
  return value.slice(length).trim();
}
