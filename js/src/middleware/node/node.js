/**
 * Rate limiting for the request listeners of Node's own servers: node:http, node:https and, by its compatibility API,
 * node:http2.
 * @module
 */

import { check } from '../../errors.js';
import { exposedHeaders } from '../headers.js';
import { IncomingSource } from '../incoming.js';
import { Judge } from '../judge.js';
import * as outgoing from '../outgoing.js';

/** @import { Incoming } from '../incoming.js' */
/** @import { Outgoing } from '../outgoing.js' */
/** @import { RateLimitOptions } from '../types.js' */

export { exposedHeaders };

/**
 * @typedef {import('../types.js').HeaderOptions} HeaderOptions
 * @typedef {import('../types.js').RequestLimiter} RequestLimiter
 * @typedef {import('../types.js').RequestSource} RequestSource
 */

/**
 * @template Request
 * @typedef {import('../types.js').DecisionAbout<Request>} DecisionAbout
 */

/**
 * @template Request
 * @typedef {import('../types.js').Extractor<Request>} Extractor
 */

/**
 * What is used of Node's request.
 *
 * @typedef {Incoming} NodeRequest
 */

/**
 * What is used of Node's response.
 *
 * @typedef {Outgoing} NodeResponse
 */

/**
 * What was decided about a request, and what becomes of its tokens.
 *
 * @template {NodeRequest} [Request=NodeRequest]
 * @template {NodeResponse} [Response=NodeResponse]
 * @typedef {import('../judge.js').Verdict<Request, Response>} NodeVerdict
 */

/**
 * What this adapter alone is told.
 *
 * @template {NodeRequest} [Request=NodeRequest]
 * @template {NodeResponse} [Response=NodeResponse]
 * @typedef {object} NodeOnlyOptions
 * @property {(error: Error, request: Request, response: Response) => void} [onError] Answers where the limiter or an option
 *   threw, or where the request is refused and another response has begun already; the listener is not called. Default:
 *   status 500 where that can still be said, and `onWarning` is told, once.
 */

/**
 * What this adapter is told: `limiter` is required.
 *
 * @template {NodeRequest} [Request=NodeRequest]
 * @template {NodeResponse} [Response=NodeResponse]
 * @typedef {RateLimitOptions<Request, Response> & NodeOnlyOptions<Request, Response>} NodeOptions
 */

export { refuse, writeFields } from '../outgoing.js';

/**
 * Limits a listener: what is refused does not reach it. It is called with what the server gives, and what it returns is
 * returned, by a promise where the limiter answers by one. A request that meets the same limiter twice counts once.
 *
 * @template {NodeRequest} [Request=NodeRequest]
 * @template {NodeResponse} [Response=NodeResponse]
 * @param {NodeOptions<Request, Response>} options `limiter` is required
 * @returns {<Req extends Request, Res extends Response>(listener: (request: Req, response: Res) => unknown) =>
 *   (request: Req, response: Res) => unknown}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const limited = rateLimit({ limiter });
 * createServer(limited((request, response) => response.end('hello'))).listen(8080);
 */
export function rateLimit(options) {
  const { judge, onError } = prepared(options);
  /** Set on requests that this limiter has seen. */
  const seen = Symbol('tierlimit');
  return limit;

  /**
   * @template {Request} Req
   * @template {Response} Res
   * @param {(request: Req, response: Res) => unknown} listener
   * @returns {(request: Req, response: Res) => unknown}
   */
  function limit(listener) {
    check(typeof listener === 'function', 'listener', 'a function', listener);
    return limited;

    /**
     * @this {unknown}
     * @param {Req} request
     * @param {Res} response
     * @returns {unknown}
     */
    function limited(request, response) {
      const marked = /** @type {Record<symbol, boolean>} */ (/** @type {unknown} */ (request));
      if (marked[seen]) return listener.call(this, request, response);
      marked[seen] = true;
      let mayGoOn;
      try {
        if (response.headersSent) throw outgoing.tooLate();
        const verdict = judge.judge(request, new IncomingSource(request));
        if (verdict instanceof Promise) return later(this, verdict, request, response);
        mayGoOn = outgoing.admits(judge, verdict, response);
      } catch (error) {
        onError(error, request, response);
        return undefined;
      }
      return mayGoOn ? listener.call(this, request, response) : undefined;
    }

    /**
     * @param {unknown} self
     * @param {Promise<NodeVerdict<Request, Response> | null>} answer
     * @param {Req} request
     * @param {Res} response
     */
    async function later(self, answer, request, response) {
      let mayGoOn;
      try {
        mayGoOn = outgoing.admits(judge, await answer, response);
      } catch (error) {
        onError(error, request, response);
        return undefined;
      }
      return mayGoOn ? listener.call(self, request, response) : undefined;
    }
  }
}

/**
 * The first half by itself: decides about a request, and spends. Null: the request is not limited. Where the limiter
 * answers by promises, so does this. `refuse` and `writeFields` are the other half.
 *
 * @template {NodeRequest} [Request=NodeRequest]
 * @template {NodeResponse} [Response=NodeResponse]
 * @param {RateLimitOptions<Request, Response>} options as for `rateLimit`
 * @returns {(request: Request) =>
 *   NodeVerdict<Request, Response> | null | Promise<NodeVerdict<Request, Response> | null>}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const decide = decider({ limiter });
 *
 * const verdict = await decide(request);
 * if (verdict?.refused) return refuse(verdict, response);
 * if (verdict) writeFields(verdict, response);
 */
export function decider(options) {
  /** @type {Judge<Request, Response>} */
  const judge = new Judge(options);
  return function decide(request) {
    return judge.judge(request, new IncomingSource(request));
  };
}

/**
 * @template {NodeRequest} Request
 * @template {NodeResponse} Response
 * @param {NodeOptions<Request, Response>} options
 */
function prepared(options) {
  const { onError, ...rest } = Object(options);
  check(onError === undefined || typeof onError === 'function', 'onError', 'a function', onError);
  const isObject = typeof options === 'object' && options !== null;
  /** @type {Judge<Request, Response>} */
  const judge = new Judge(isObject ? rest : options);
  return { judge, onError: onError ?? failed };

  /** @param {Error} error @param {Request} _request @param {Response} response */
  function failed(error, _request, response) {
    judge.warn('error', 'requests are answered with status 500', error);
    if (response.headersSent) return;
    response.statusCode = 500;
    response.end('');
  }
}
