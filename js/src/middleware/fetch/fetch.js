/**
 * Rate limiting for handlers of the fetch kind: a Request in, a Response out. Workers, Deno and Bun serve such handlers, and
 * the two halves, `decider` and `headersFor`, fit into whatever else has a Request.
 * @module
 */

import { check } from '../../errors.js';
import { fieldsOn, outgoingOf, writeAtHead } from '../at-head.js';
import { HeaderFields, exposedHeaders, retryAfter } from '../headers.js';
import { Judge } from '../judge.js';
import { peerOf } from '../peer.js';
import { onHeaders, withFields } from './response-fields.js';
import { ResponseWatch } from './response-watch.js';

/** @import { Decision } from '../../types.js' */
/** @import { Access } from '../headers.js' */
/** @import { RateLimitOptions } from '../types.js' */

export { exposedHeaders };

/**
 * What was decided about a request, and what becomes of its tokens.
 *
 * @typedef {import('../judge.js').Verdict<Request, Response>} FetchVerdict
 */

/**
 * @typedef {import('../types.js').DecisionAbout<Request>} DecisionAbout
 * @typedef {import('../types.js').Extractor<Request>} Extractor
 * @typedef {import('../types.js').HeaderOptions} HeaderOptions
 * @typedef {import('../types.js').RequestLimiter} RequestLimiter
 * @typedef {import('../types.js').RequestSource} RequestSource
 */

/**
 * A handler: what a runtime or a framework passes on beside the request is passed on as it is.
 *
 * @template {unknown[]} Rest
 * @typedef {(request: Request, ...rest: Rest) => Response | Promise<Response>} FetchHandler
 */

/**
 * Tells the peer's address, of what a handler is called with. What the runtime or the framework passes on beside the
 * request may be of any type.
 *
 * @typedef {{ of(request: Request, ...rest: unknown[]): string | null | undefined }['of']} PeerAddress
 */

/**
 * What the fetch adapter alone is told.
 *
 * @typedef {object} FetchOnlyOptions
 * @property {PeerAddress} [address] The peer's address. Default: as `Deno.serve`, `Bun.serve` and `@hono/node-server` tell
 *   it; elsewhere there is none, so `client` or this is needed.
 */

/**
 * What the fetch adapter is told: `limiter` is required.
 *
 * @typedef {RateLimitOptions<Request, Response> & FetchOnlyOptions} FetchOptions
 */

/**
 * Limits a handler: what is refused does not reach it, and its responses get the header fields. Where the limiter and
 * the handler answer at once, so does the limited handler.
 *
 * With `@hono/node-server` the fields of admitted requests are set while Node writes the head of the response, which costs
 * less: they are sent, but are not among the headers of what the limited handler returns.
 *
 * @param {FetchOptions} options `limiter` is required
 * @returns {<Rest extends unknown[]>(handler: FetchHandler<Rest>) => FetchHandler<Rest>}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const limited = rateLimit({ limiter, client: cloudflare() });
 * export default { fetch: limited((request) => new Response('hello')) };
 */
export function rateLimit(options) {
  const { judge, sourceOf } = prepared(options);
  return limit;

  /**
   * @template {unknown[]} Rest
   * @param {FetchHandler<Rest>} handler
   * @returns {FetchHandler<Rest>}
   */
  function limit(handler) {
    check(typeof handler === 'function', 'handler', 'a function', handler);
    return limited;

    /**
     * @this {unknown}
     * @param {Request} request
     * @param {Rest} rest
     * @returns {Response | Promise<Response>}
     */
    function limited(request, ...rest) {
      const verdict = judge.judge(request, sourceOf(request, rest));
      if (verdict instanceof Promise) return verdict.then((it) => answer(this, it, request, rest));
      return answer(this, verdict, request, rest);
    }

    /**
     * @param {unknown} self
     * @param {FetchVerdict | null} verdict
     * @param {Request} request
     * @param {Rest} rest
     * @returns {Response | Promise<Response>}
     */
    function answer(self, verdict, request, rest) {
      if (verdict === null) return handler.call(self, request, ...rest);
      const outgoing = judge.fields === null ? null : outgoingOf(rest[0]);
      if (verdict.refused) return refused(verdict, outgoing);
      const isAtHead = outgoing !== null && !outgoing.headersSent;
      if (isAtHead) writeAtHead(verdict, outgoing);
      const isDone = isAtHead || judge.fields === null;
      if (isDone && !judge.watchesOutcome && !judge.watchesAbort) {
        return handler.call(self, request, ...rest);
      }
      const watch = judge.watchesAbort ? new ResponseWatch(verdict, request.signal) : null;
      let response;
      try {
        response = handler.call(self, request, ...rest);
      } catch (error) {
        throw failed(verdict, watch, error);
      }
      if (typeof (/** @type {any} */ (response)?.then) !== 'function') {
        return finished(verdict, watch, /** @type {Response} */ (response), isDone);
      }
      return Promise.resolve(response).then(
        (it) => finished(verdict, watch, it, isDone),
        (error) => Promise.reject(failed(verdict, watch, error)),
      );
    }
  }

  /**
   * @param {FetchVerdict} verdict
   * @param {ResponseWatch | null} watch
   * @param {Response} response
   * @param {boolean} isDone whether the fields are not to be set here
   */
  function finished(verdict, watch, response, isDone) {
    // What a handler returns that is none is for whoever called to judge.
    if (typeof response?.headers !== 'object') return failed(verdict, watch, response);
    verdict.settle(response.status, response);
    const decorated = isDone ? response : withFields(verdict, response, judge.mark);
    return watch === null ? decorated : watch.around(decorated);
  }
}

/**
 * The first half by itself: decides about a request, and spends. Null: the request is not limited. Where the limiter
 * answers by promises, so does this.
 *
 * @param {FetchOptions} options as for `rateLimit`
 * @returns {(request: Request, ...rest: unknown[]) => FetchVerdict | null | Promise<FetchVerdict | null>}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const decide = decider({ limiter, client: header('x-api-key') });
 *
 * const verdict = await decide(request);
 * if (verdict?.refused) return refusal(verdict);
 */
export function decider(options) {
  const { judge, sourceOf } = prepared(options);
  return function decide(request, ...rest) {
    return judge.judge(request, sourceOf(request, rest));
  };
}

/**
 * The other half: the header fields of a decision, by their names; of one that denies with `Retry-After`.
 *
 * @param {Decision} decision of any limiter
 * @param {HeaderOptions & { client?: string, cost?: number }} [options] as the option `headers` of `rateLimit`; `client`
 *   is needed for a partition key, and `cost` for what version 12 says of it
 * @returns {Record<string, string>}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const { decision } = verdict;
 * for (const [name, value] of Object.entries(headersFor(decision))) response.headers.set(name, value);
 */
export function headersFor(decision, options = {}) {
  const { client = null, cost = null, ...rest } = options;
  /** @type {Record<string, string>} */
  const fields = {};
  const writer =
    Object.keys(rest).length === 0 ? (usual ??= new HeaderFields()) : new HeaderFields(rest);
  writer.write(decision, client, cost, fields, onObject, false);
  const seconds = decision.allowed ? null : retryAfter(decision);
  if (seconds !== null) fields['Retry-After'] = seconds;
  return fields;
}

/**
 * What is sent for a request that is refused, with the header fields.
 *
 * @param {FetchVerdict} verdict one that is refused
 * @returns {Response}
 * @example
 * if (verdict?.refused) return refusal(verdict);
 */
export function refusal(verdict) {
  return refused(verdict, null);
}

/**
 * @param {FetchVerdict} verdict
 * @param {import('../at-head.js').NodeResponse | null} outgoing what a limiter around the app may have written to: its fields
 *   would be replaced
 */
function refused(verdict, outgoing) {
  const { status, contentType, body } = verdict.refusal();
  const headers = new Headers({ 'Content-Type': contentType, ...fieldsOn(outgoing) });
  verdict.write(headers, onHeaders);
  return new Response(verdict.isHead ? null : body, { status, headers });
}

/** Made when needed. @type {HeaderFields | undefined} */
let usual;

/** @type {Access<Record<string, string>>} */
const onObject = {
  get: (fields, name) => fields[name],
  set: (fields, name, value) => (fields[name] = value),
};

/** @param {FetchOptions} options */
function prepared(options) {
  const { address = peerOf, ...rest } = Object(options);
  check(typeof address === 'function', 'address', 'a function', address);
  const isObject = typeof options === 'object' && options !== null;
  /** @type {Judge<Request, Response> & { mark: symbol }} */
  const judge = Object.assign(new Judge(isObject ? rest : options), { mark: Symbol('tierlimit') });
  return {
    judge,
    sourceOf: (/** @type {Request} */ request, /** @type {unknown[]} */ rest) =>
      new FetchSource(request, rest, address),
  };
}

/**
 * What is known of a Request.
 * @implements {RequestSource}
 */
class FetchSource {
  #request;
  #rest;
  #address;

  /**
   * @param {Request} request
   * @param {unknown[]} rest
   * @param {PeerAddress} address
   */
  constructor(request, rest, address) {
    this.#request = request;
    this.#rest = rest;
    this.#address = address;
  }

  /** @param {string} name */
  header(name) {
    return this.#request.headers.get(name);
  }

  get address() {
    return this.#address(this.#request, ...this.#rest) ?? null;
  }

  get method() {
    return this.#request.method;
  }

  get url() {
    return this.#request.url;
  }
}

/**
 * @template Failure
 * @param {FetchVerdict} verdict
 * @param {ResponseWatch | null} watch
 * @param {Failure} failure
 * @returns {Failure}
 */
function failed(verdict, watch, failure) {
  verdict.settle(500, null);
  watch?.stop();
  return failure;
}
