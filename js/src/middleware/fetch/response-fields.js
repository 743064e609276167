/**
 * Header fields on a Response that a handler has made.
 * @module
 */

import { exposedHeaders } from '../headers.js';

/** @import { Access } from '../headers.js' */
/** @import { Verdict } from '../judge.js' */

/** @type {Access<Headers>} */
export const onHeaders = {
  get: (headers, name) => headers.get(name),
  set: (headers, name, value) => headers.set(name, value),
  remove: (headers, name) => headers.delete(name),
};

/**
 * A response with the fields of a decision. Headers that may not be changed (of a redirect, of what fetch returned) are
 * copied, and so are those of a Response without a body, which a handler may keep and return again.
 * @template Asked
 * @param {Verdict<Asked, Response>} verdict
 * @param {Response} response
 * @param {symbol} mark what this limiter marks those with that it has written to
 */
export function withFields(verdict, response, mark) {
  // Neither an upgrade to WebSocket, which is the runtime's own object, nor Response.error() can be copied or added to.
  if (response.status === 101 || response.status === 0) return response;
  const marked = /** @type {Record<symbol, boolean>} */ (/** @type {unknown} */ (response));
  if (response.body !== null && !marked[mark]) {
    try {
      verdict.write(response.headers, onHeaders, true);
      marked[mark] = true;
      return response;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  const copy = new Response(response.body, response);
  if (marked[mark]) for (const name of exposedHeaders) copy.headers.delete(name);
  verdict.write(copy.headers, onHeaders, true);
  return copy;
}
