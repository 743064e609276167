/**
 * The path of a request, as a part of a client's name.
 * @module
 */

import { checkNames } from '../arguments.js';
import { check } from '../errors.js';
import { extractor } from './extractor.js';

/** @import { PathOptions, ClientExtractor, RequestSource } from './types.js' */

/**
 * The path of a request, so that a client has a bucket for each: `path:/login`. What routers may take for the same path is
 * the same: letters of either case, slashes at the end and several in a row, `.` and `..`, `\` for `/`, and characters that
 * are written as `%6C`, once, but for those that would then mean something else (`%2F`, `%5C`, `%25`, `%3F`, `%23`). Query
 * and fragment do not count. It always finds one.
 *
 * It is for a fixed set of paths, such as a limiter in front of `/login` and `/reset`. Where paths hold something that the
 * client chooses (`/users/7`, or paths that do not exist), each of them is a bucket of its own: take the pattern of the
 * route in its place, by `named`.
 *
 * @param {PathOptions} [options] `caseSensitive`
 * @returns {ClientExtractor}
 * @throws {TypeError} when an option is not as it should be
 * @example
 * every(path(), address());
 */
export function path(options = {}) {
  checkNames(options, ['caseSensitive']);
  const { caseSensitive = false } = options;
  check(typeof caseSensitive === 'boolean', 'caseSensitive', 'a boolean', caseSensitive);
  return extractor('path', byPath);

  /** @param {unknown} _request @param {RequestSource} source */
  function byPath(_request, source) {
    const { url } = source;
    if (settled.test(url)) return `path:${url}`;
    const normal = normalized(url);
    return `path:${caseSensitive ? normal : normal.toLowerCase()}`;
  }
}

/** A path that is as it should be. */
const settled = /^(?:\/[a-z\d_~-][a-z\d._~-]*)+$/;

const origin = /^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*/i;

/** @param {string} url with its origin or without */
function normalized(url) {
  const [pathname] = url.replace(origin, '').split(/[?#]/, 1);
  const segments = [];
  for (const segment of pathname.replace(/%[\da-f]{2}/gi, decoded).split(/[/\\]/)) {
    if (segment === '..') segments.pop();
    else if (segment !== '.') segments.push(segment);
  }
  return `/${segments.filter(Boolean).join('/')}`;
}

/**
 * A character that is written in hexadecimal.
 * @param {string} text
 */
function decoded(text) {
  const character = String.fromCharCode(Number.parseInt(text.slice(1), 16));
  return /[!-~]/.test(character) && !/[/\\%?#]/.test(character) ? character : text.toUpperCase();
}
