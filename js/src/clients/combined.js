/**
 * Clients by several things.
 * @module
 */

import { check } from '../errors.js';
import { extractor } from './extractor.js';

/** @import { ClientExtractor, RequestSource } from './types.js' */

/**
 * The first of several ways that finds a client; null where none does. Clients of different kinds are different clients,
 * whatever they are called.
 *
 * @template [Request=unknown]
 * @param {ClientExtractor<Request>[]} extractors at least one, of this entry; functions of your own by `named`
 * @returns {ClientExtractor<Request>}
 * @throws {TypeError} when one of them is none
 * @example
 * firstOf(claim((request) => request.auth), address()); // users, and others by their address
 */
export function firstOf(...extractors) {
  checkExtractors(extractors);
  return extractor('first-of', first);

  /** @param {Request} request @param {RequestSource} source */
  function first(request, source) {
    for (const extract of extractors) {
      const client = extract(request, source);
      if (client !== null) return client;
    }
    return null;
  }
}

/**
 * All of them together make a client: `every:ip:203.0.113.5|path:/login`. Null where one of them finds none. Two clients
 * are the same only when all of their parts are: in a part `%` and `|` are written as `%25` and `%7C`.
 *
 * @template [Request=unknown]
 * @param {ClientExtractor<Request>[]} extractors at least one, of this entry; functions of your own by `named`
 * @returns {ClientExtractor<Request>}
 * @throws {TypeError} when one of them is none
 * @example
 * every(address(), path()); // each address has a bucket for each path
 */
export function every(...extractors) {
  checkExtractors(extractors);
  return extractor('every', all);

  /** @param {Request} request @param {RequestSource} source */
  function all(request, source) {
    let name = 'every:';
    for (const [i, extract] of extractors.entries()) {
      const part = extract(request, source);
      if (part === null) return null;
      if (i > 0) name += '|';
      name += /[%|]/.test(part) ? part.replace(/[%|]/g, encodeURIComponent) : part;
    }
    return name;
  }
}

/** @param {readonly unknown[]} extractors */
function checkExtractors(extractors) {
  check(extractors.length > 0, 'extractors', 'at least one', undefined);
  for (const [i, extract] of extractors.entries()) {
    const { kind } = /** @type {{ kind?: unknown }} */ (Object(extract));
    const isOne = typeof extract === 'function' && typeof kind === 'string';
    const rule = "made by tierlimit/clients, a function of your own by named('its-kind', function)";
    check(isOne, `extractors[${i}]`, rule, extract);
  }
}
