/**
 * Clients by a function of one's own.
 * @module
 */

import { check } from '../errors.js';
import { extractor } from './extractor.js';

/** @import { ClientExtractor, RequestSource } from './types.js' */

/** The kinds that names begin with here: another kind must not look the same. */
const ours = ['claim', 'claim-number', 'every', 'header', 'ip', 'key', 'path'];

/**
 * Clients by a function of your own, kept apart from all others by their kind: `user:ada`. Null where the function returns
 * null, undefined or ''.
 *
 * @template [Request=unknown]
 * @param {string} kind a lower-case letter, and then such letters, digits and `-`; none that this entry uses: `ip`, `key`,
 *   `header`, `claim`, `claim-number`, `path`, `every`
 * @param {(request: Request, source: RequestSource) => string | null | undefined} find at once
 * @returns {ClientExtractor<Request>} it throws a TypeError when the function returns anything else: a promise, say
 * @throws {TypeError} when an argument is not as it should be
 * @example
 * named('user', (request) => request.session?.userId);
 * every(named('route', (request) => request.routeOptions.url), address());
 */
export function named(kind, find) {
  const isKind = typeof kind === 'string' && /^[a-z][a-z\d-]*$/.test(kind) && !ours.includes(kind);
  const rule = `a lower-case letter, and then such letters, digits and "-", and not ${ours.join(', ')}`;
  check(isKind, 'kind', rule, kind);
  check(typeof find === 'function', 'find', 'a function that returns a string or null', find);
  const start = `${kind}:`;
  return extractor(kind, byName);

  /** @param {Request} request @param {RequestSource} source */
  function byName(request, source) {
    const value = find(request, source) ?? '';
    check(typeof value === 'string', `what finds a ${kind}`, 'a string or null, at once', value);
    return value === '' ? null : start + value;
  }
}
