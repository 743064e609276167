/**
 * Rate limiting as middleware of Hono 4, in every runtime that it runs in.
 * @module
 */

import { check } from '../../errors.js';
import { fieldsOn, onRecord, outgoingOf, writeAtHead } from '../at-head.js';
import { ResponseWatch } from '../fetch/response-watch.js';
import { withFields } from '../fetch/response-fields.js';
import { exposedHeaders } from '../headers.js';
import { Judge } from '../judge.js';
import { onEnd } from '../outgoing.js';
import { peerOf } from '../peer.js';

/** @import { NodeResponse } from '../at-head.js' */
/** @import { Verdict } from '../judge.js' */
/** @import { RateLimitOptions } from '../types.js' */

export { exposedHeaders };

/**
 * @typedef {import('../types.js').HeaderOptions} HeaderOptions
 * @typedef {import('../types.js').RequestLimiter} RequestLimiter
 * @typedef {import('../types.js').RequestSource} RequestSource
 */

/**
 * @template Context
 * @typedef {import('../types.js').DecisionAbout<Context>} DecisionAbout
 */

/**
 * @template Context
 * @typedef {import('../types.js').Extractor<Context>} Extractor
 */

/**
 * What is used of Hono's request.
 *
 * @typedef {object} HonoRequest
 * @property {Request} raw The request as the runtime has it.
 * @property {string} method The request's method: `GET`.
 * @property {string} url With its origin.
 * @property {(name: string) => string | undefined} header A header field by its name.
 */

/**
 * What is used of Hono's Context: `request` of the options, unless its type is named, as in `rateLimit<Context>(…)`.
 *
 * @typedef {object} HonoContext
 * @property {unknown} env What the runtime passes on: on Node its own request and response.
 * @property {HonoRequest} req The request.
 * @property {Response} res The response.
 * @property {boolean} finalized Whether there is one yet.
 */

/**
 * What the Hono adapter alone is told.
 *
 * @template {HonoContext} [Context=HonoContext]
 * @typedef {object} HonoOnlyOptions
 * @property {(context: Context) => string | null | undefined} [address] The peer's address. Default: as
 *   `@hono/node-server`, `Deno.serve` and `Bun.serve` tell it; elsewhere there is none, so `client` or this is needed.
 */

/**
 * What the Hono adapter is told: `limiter` is required.
 *
 * @template {HonoContext} [Context=HonoContext]
 * @typedef {RateLimitOptions<Context, Response> & HonoOnlyOptions<Context>} HonoOptions
 */

/**
 * Middleware that limits all that comes after it. What is refused goes no further; what the limiter or an option throws
 * comes to `app.onError`. A request that meets it twice counts once.
 *
 * With `@hono/node-server` the fields of admitted requests are set while Node writes the head of the response, which costs
 * less: they are sent, but middleware does not see them in `c.res.headers`.
 *
 * @template {HonoContext} [Context=HonoContext]
 * @param {HonoOptions<Context>} options `limiter` is required
 * @returns {(c: Context, next: () => Promise<void>) => Promise<Response | void>}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * app.use(rateLimit({ limiter, client: header('x-api-key') }));
 * app.post('/login', rateLimit({ limiter: strict }), login);
 */
export function rateLimit(options) {
  const { address = peerOfContext, ...rest } = Object(options);
  check(typeof address === 'function', 'address', 'a function', address);
  const isObject = typeof options === 'object' && options !== null;
  /** @type {Judge<Context, Response>} */
  const judge = new Judge(isObject ? rest : options);
  /** Set on contexts that this middleware has seen, and on responses that it has written to. */
  const mark = Symbol('tierlimit');

  return function rateLimit(c, next) {
    const marked = /** @type {Record<symbol, boolean>} */ (/** @type {unknown} */ (c));
    if (marked[mark]) return next();
    marked[mark] = true;
    const verdict = judge.judge(c, new HonoSource(c, address));
    if (verdict instanceof Promise) return verdict.then((it) => proceed(it, c, next));
    return proceed(verdict, c, next);
  };

  /**
   * @param {Verdict<Context, Response> | null} verdict
   * @param {Context} c
   * @param {() => Promise<void>} next
   * @returns {Promise<Response | void>}
   */
  function proceed(verdict, c, next) {
    if (verdict === null) return next();
    if (verdict.refused) return Promise.resolve(refusal(verdict, c));
    const outgoing = outgoingOf(c.env);
    if (outgoing !== null && judge.fields !== null && !outgoing.headersSent) {
      writeAtHead(verdict, outgoing);
    }
    const isDone = outgoing !== null || judge.fields === null;
    if (isDone && !judge.watchesOutcome && !judge.watchesAbort) return next();
    return follow(verdict, c, next, outgoing);
  }

  /**
   * Goes on, and does what there is to do with the response.
   * @param {Verdict<Context, Response>} verdict
   * @param {Context} c
   * @param {() => Promise<void>} next
   * @param {NodeResponse | null} outgoing
   */
  async function follow(verdict, c, next, outgoing) {
    let watch = null;
    if (judge.watchesAbort) {
      if (outgoing !== null) onEnd(outgoing, (isAborted) => isAborted && verdict.abort());
      else watch = new ResponseWatch(verdict, c.req.raw.signal);
    }
    // Not of errors, but of what else can be thrown: for errors Hono has made a response by now.
    let hasResponse = false;
    try {
      await next();
      hasResponse = c.finalized;
    } finally {
      if (!hasResponse) {
        verdict.settle(500, null);
        watch?.stop();
      }
    }
    if (!hasResponse) return;
    const { res } = c;
    verdict.settle(res.status, res);
    let response = res;
    if (outgoing === null && judge.fields !== null) response = withFields(verdict, res, mark);
    if (watch !== null) response = watch.around(response);
    if (response === res) return;
    // Or else the fields of the one that was there would be added to those of this one.
    c.res = /** @type {any} */ (undefined);
    c.res = response;
  }
}

/**
 * What is known of a request.
 * @implements {RequestSource}
 */
class HonoSource {
  #context;
  #address;

  /**
   * @param {HonoContext} context
   * @param {(context: any) => string | null | undefined} address
   */
  constructor(context, address) {
    this.#context = context;
    this.#address = address;
  }

  /** @param {string} name */
  header(name) {
    return this.#context.req.raw.headers.get(name);
  }

  get address() {
    return this.#address(this.#context) ?? null;
  }

  get method() {
    return this.#context.req.method;
  }

  get url() {
    return this.#context.req.url;
  }
}

/**
 * The peer's address, where Hono's own helpers of these runtimes find it.
 * @param {HonoContext} context
 * @returns {string | null}
 */
function peerOfContext({ env, req }) {
  return peerOf(req.raw, /** @type {any} */ (env)?.server ?? env);
}

/**
 * What is sent for a request that is refused, with what earlier middleware has set by `c.header`.
 * @param {Verdict<any, Response>} verdict
 * @param {HonoContext} c
 */
function refusal(verdict, c) {
  const { status, contentType, body } = verdict.refusal();
  const fields = { 'Content-Type': contentType, ...fieldsOn(outgoingOf(c.env)) };
  verdict.write(fields, onRecord);
  return /** @type {any} */ (c).body(verdict.isHead ? null : body, status, fields);
}
