/**
 * Rate limiting as middleware of Express 4 and 5, and of whatever else calls middleware as they do.
 * @module
 */

import { exposedHeaders } from '../headers.js';
import { IncomingSource } from '../incoming.js';
import { Judge } from '../judge.js';
import { admits, thrown, tooLate } from '../outgoing.js';

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
 * What is used of Express's request beside what is used of Node's.
 *
 * @typedef {object} ExpressOnlyRequest
 * @property {readonly string[] | undefined} [rawHeaders] Names and values of its header fields, as they came.
 * @property {string | undefined} [originalUrl] The URL as it came, wherever the router is mounted.
 * @property {string | undefined} [ip] The peer's address or, with the setting `trust proxy`, what Express takes for it.
 */

/**
 * What is used of Express's request: `request` of the options, unless they name its type, as in
 * `client: (request: express.Request) => …`.
 *
 * @typedef {Incoming & ExpressOnlyRequest} ExpressRequest
 */

/**
 * What is used of Express's response.
 *
 * @typedef {Outgoing} ExpressResponse
 */

/**
 * What the middleware is told: `limiter` is required.
 *
 * @template {ExpressRequest} [Request=ExpressRequest]
 * @template {ExpressResponse} [Response=ExpressResponse]
 * @typedef {RateLimitOptions<Request, Response>} ExpressOptions
 */

/**
 * Middleware that limits all that comes after it. Where the limiter answers at once, `next` is called at once; what the
 * limiter or an option throws is given to `next`. A request that meets it twice counts once.
 *
 * @template {ExpressRequest} [Request=ExpressRequest]
 * @template {ExpressResponse} [Response=ExpressResponse]
 * @param {ExpressOptions<Request, Response>} options `limiter` is required
 * @returns {(request: Request, response: Response, next: (error?: unknown) => void) => void}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * app.use(rateLimit({ limiter }));
 * app.post('/login', rateLimit({ limiter: strict }), login);
 */
export function rateLimit(options) {
  /** @type {Judge<Request, Response>} */
  const judge = new Judge(options);
  /** Set on requests that this middleware has seen. */
  const seen = Symbol('tierlimit');

  return function rateLimit(request, response, next) {
    // Express gives each request a prototype of its app's, and to add to such an object takes V8 microseconds. The list of
    // its header fields is as much its own.
    const { rawHeaders } = request;
    const own = /** @type {unknown} */ (Object.isExtensible(rawHeaders) ? rawHeaders : request);
    const marked = /** @type {Record<symbol, boolean>} */ (own);
    if (marked[seen]) {
      next();
      return;
    }
    marked[seen] = true;
    if (response.headersSent) {
      next(tooLate());
      return;
    }
    let verdict;
    try {
      verdict = judge.judge(request, new ExpressSource(request));
    } catch (error) {
      next(thrown(error));
      return;
    }
    if (verdict instanceof Promise) {
      verdict.then(
        (it) => proceed(it, response, next),
        (error) => next(thrown(error)),
      );
    } else proceed(verdict, response, next);
  };

  /**
   * @param {import('../judge.js').Verdict<Request, Response> | null} verdict
   * @param {Response} response
   * @param {(error?: unknown) => void} next
   */
  function proceed(verdict, response, next) {
    let mayGoOn;
    try {
      mayGoOn = admits(judge, verdict, response);
    } catch (error) {
      next(thrown(error));
      return;
    }
    if (mayGoOn) next();
  }
}

/** What is known of a request, wherever its router is mounted. */
class ExpressSource extends IncomingSource {
  get url() {
    return /** @type {ExpressRequest} */ (this.incoming).originalUrl ?? super.url;
  }
}
