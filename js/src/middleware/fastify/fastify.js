/**
 * Rate limiting as a plugin of Fastify 5.
 * @module
 */

import { check } from '../../errors.js';
import { writeAtHead } from '../at-head.js';
import { exposedHeaders } from '../headers.js';
import { IncomingSource } from '../incoming.js';
import { Judge } from '../judge.js';
import { thrown, tooLate, watch } from '../outgoing.js';

/** @import { NodeResponse } from '../at-head.js' */
/** @import { Access } from '../headers.js' */
/** @import { Incoming } from '../incoming.js' */
/** @import { Verdict } from '../judge.js' */
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
 * What is used of Fastify's request: `request` of the options, unless they name its type, as in
 * `client: (request: fastify.FastifyRequest) => …`.
 *
 * @typedef {object} FastifyRequest
 * @property {Incoming} raw Node's own request.
 * @property {string} ip The peer's address, or, with Fastify's option `trustProxy`, what it takes for it.
 * @property {{ config?: unknown }} routeOptions Of the route that was found.
 */

/**
 * What is used of Fastify's reply.
 *
 * @typedef {object} FastifyReply
 * @property {NodeResponse} raw Node's own response.
 * @property {(name: string) => number | string | string[] | undefined} getHeader Of those that are set so far.
 * @property {(name: string, value: string) => unknown} header Sets one, in place of what is there.
 * @property {(name: string) => unknown} removeHeader What is not there is no error.
 * @property {(status: number) => unknown} code Sets the status.
 * @property {(payload: Uint8Array) => unknown} send Sends the response.
 */

/**
 * A hook of Fastify's for requests that come in.
 *
 * @typedef {(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void} FastifyHook
 */

/**
 * What is used of Fastify's instance.
 *
 * @typedef {object} FastifyInstance
 * @property {(name: 'onRequest', hook: FastifyHook) => unknown} addHook Adds one that is called for each request.
 */

/**
 * What the plugin is told: `limiter` is required.
 *
 * @template {FastifyRequest} [Request=FastifyRequest]
 * @template {FastifyReply} [Reply=FastifyReply]
 * @typedef {RateLimitOptions<Request, Reply>} FastifyOptions
 */

/**
 * The plugin: an `onRequest` hook of the instance that it is registered on and of all plugins there, before it or after it,
 * so also for what is not found. The fields of admitted requests are set while Node writes the head of the response, which
 * costs less: they are sent, but `reply.getHeader` and hooks do not see them. A route says otherwise by its `config`: with `rateLimit: false` it is not limited, and
 * `rateLimit: { cost: 5 }` are options in place of those given here. Refusals are sent and not thrown, so an error handler
 * does not see them; what the limiter or an option throws comes to the error handler.
 *
 * @template {FastifyRequest} [Request=FastifyRequest]
 * @template {FastifyReply} [Reply=FastifyReply]
 * @param {FastifyInstance} instance Fastify's
 * @param {FastifyOptions<Request, Reply>} options `limiter` is required
 * @param {(error?: Error) => void} done is told a TypeError or a RangeError where an option is not as it should be; its
 *   message names it and its value
 * @returns {void}
 * @example
 * await app.register(rateLimit, { limiter });
 * app.get('/health', { config: { rateLimit: false } }, health);
 */
export function rateLimit(instance, options, done) {
  let judges = made.get(options);
  if (judges === undefined) {
    try {
      judges = new RouteJudges(/** @type {any} */ (options));
    } catch (error) {
      // What a plugin throws itself, Fastify does not catch.
      done(error);
      return;
    }
    made.set(options, judges);
  }
  instance.addHook('onRequest', hookOf(judges));
  done();
}

const utf8 = new TextEncoder();

/** @type {Access<FastifyReply>} */
const onReply = {
  get: (reply, name) => reply.getHeader(name),
  set: (reply, name, value) => reply.header(name, value),
  remove: (reply, name) => reply.removeHeader(name),
};

/**
 * By the options that they were made of: who registers the same options twice has one limiter.
 * @type {WeakMap<object, RouteJudges>}
 */
const made = new WeakMap();

/** @param {RouteJudges} judges */
function hookOf(judges) {
  const { seen } = judges;
  return rateLimit;

  /**
   * @param {FastifyRequest} request
   * @param {FastifyReply} reply
   * @param {(error?: Error) => void} next
   */
  function rateLimit(request, reply, next) {
    const marked = /** @type {Record<symbol, boolean>} */ (/** @type {unknown} */ (request));
    if (marked[seen]) {
      next();
      return;
    }
    marked[seen] = true;
    let judge;
    let verdict;
    try {
      judge = judges.of(request);
      verdict = judge === null ? null : judge.judge(request, new IncomingSource(request.raw));
    } catch (error) {
      next(thrown(error));
      return;
    }
    if (judge === null || verdict === null) next();
    else if (verdict instanceof Promise) {
      const known = judge;
      verdict.then(
        (it) => proceed(known, it, reply, next),
        (error) => next(thrown(error)),
      );
    } else proceed(judge, verdict, reply, next);
  }
}

// Fastify's own signs: that the hook is also for what stands beside the plugin, and what the plugin is called.
Object.defineProperties(rateLimit, {
  [Symbol.for('skip-override')]: { value: true },
  [Symbol.for('fastify.display-name')]: { value: 'tierlimit' },
  [Symbol.for('plugin-meta')]: { value: { name: 'tierlimit', fastify: '5.x' } },
});

/** What judges the requests of each route. */
class RouteJudges {
  /** Set on requests that have come by. */
  seen = Symbol('tierlimit');
  #options;
  #usual;
  /** Of routes with options of their own, by these. @type {WeakMap<object, Judge<FastifyRequest, FastifyReply>>} */
  #own = new WeakMap();

  /** @param {FastifyOptions} options */
  constructor(options) {
    this.#options = options;
    /** @type {Judge<FastifyRequest, FastifyReply>} */
    this.#usual = new Judge(options);
  }

  /**
   * @param {FastifyRequest} request
   * @returns {Judge<FastifyRequest, FastifyReply> | null} null where the route is not limited
   */
  of(request) {
    const config = /** @type {{ rateLimit?: unknown } | undefined} */ (request.routeOptions.config);
    const own = config?.rateLimit;
    if (own === undefined) return this.#usual;
    if (own === false) return null;
    const rule = 'false or an object with options';
    check(typeof own === 'object' && own, 'config.rateLimit', rule, own);
    let judge = this.#own.get(own);
    if (judge === undefined) {
      judge = new Judge({ ...this.#options, ...own });
      this.#own.set(own, judge);
    }
    return judge;
  }
}

/**
 * @param {Judge<FastifyRequest, FastifyReply>} judge
 * @param {Verdict<FastifyRequest, FastifyReply> | null} verdict
 * @param {FastifyReply} reply
 * @param {(error?: Error) => void} next
 */
function proceed(judge, verdict, reply, next) {
  try {
    if (verdict?.refused) {
      refuse(verdict, reply);
      return;
    }
    if (verdict !== null) {
      if (judge.fields !== null && !reply.raw.headersSent) writeAtHead(verdict, reply.raw);
      if (judge.watchesOutcome || judge.watchesAbort) watch(verdict, reply.raw, reply);
    }
  } catch (error) {
    next(thrown(error));
    return;
  }
  next();
}

/**
 * @param {Verdict<FastifyRequest, FastifyReply>} verdict
 * @param {FastifyReply} reply
 */
function refuse(verdict, reply) {
  if (reply.raw.headersSent) throw tooLate();
  const { status, contentType, body } = verdict.refusal();
  verdict.write(reply, onReply);
  reply.code(status);
  reply.header('Content-Type', contentType);
  // As bytes, for to text of such a type Fastify adds a charset, and a serializer of the app's may come over it.
  reply.send(utf8.encode(body));
}
