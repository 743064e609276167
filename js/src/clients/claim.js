/**
 * Clients by what a token says that was verified.
 * @module
 */

import { check } from '../errors.js';
import { extractor } from './extractor.js';

/** @import { ClientExtractor, RequestSource } from './types.js' */

/**
 * Clients by a claim of a bearer token: `claim:sub:ada`. It verifies nothing: `getPayload` gives the payload of a token
 * whose signature, issuer and expiry were checked before, by what the service has for it. Null where there is no payload,
 * or the payload has no such claim of its own, or it is empty.
 *
 * A claim is text or a whole number. The number 42 is another client than the text `42` (`claim-number:sub:42`). What is
 * neither of them (a fraction, a number that is above 2^53-1 and so not the one that the token has, a list, an object)
 * counts as no claim. A subject is one only for its issuer: where there are several, use `every` of both claims.
 *
 * @template [Request=unknown]
 * @param {(request: Request, source: RequestSource) => object | null | undefined} getPayload the verified payload of this
 *   request, at once; null where it has none
 * @param {string} [name] of the claim. Default `'sub'`
 * @returns {ClientExtractor<Request>} it throws a TypeError when `getPayload` returns anything else: a promise, or a token
 *   that is not decoded
 * @throws {TypeError} when an argument is not as it should be
 * @example
 * claim((request) => request.auth); // where something before has put it
 * every(claim(payloadOf, 'iss'), claim(payloadOf, 'sub'));
 */
export function claim(getPayload, name = 'sub') {
  const isFunction = typeof getPayload === 'function';
  check(isFunction, 'getPayload', 'a function that returns a verified payload or null', getPayload);
  check(typeof name === 'string' && name !== '', 'name', 'the name of a claim', name);
  // Names may hold colons (https://example.com/tenant), and so may values.
  const encoded = name.replace(/[%:]/g, encodeURIComponent);
  return extractor('claim', byClaim);

  /** @param {Request} request @param {RequestSource} source */
  function byClaim(request, source) {
    const payload = getPayload(request, source) ?? null;
    if (payload === null) return null;
    const isPayload =
      typeof payload === 'object' && typeof (/** @type {any} */ (payload).then) !== 'function';
    check(isPayload, 'what getPayload returns', 'a verified payload or null, at once', payload);
    if (!Object.hasOwn(payload, name)) return null;
    const value = /** @type {Record<string, unknown>} */ (payload)[name];
    if (typeof value === 'string') return value === '' ? null : `claim:${encoded}:${value}`;
    return Number.isSafeInteger(value) ? `claim-number:${encoded}:${value}` : null;
  }
}
