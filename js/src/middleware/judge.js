/**
 * Decides about requests, for all adapters: options in, verdicts out. It knows nothing of frameworks and sends nothing.
 * @module
 */

import { checkNames } from '../arguments.js';
import { address } from '../clients/address.js';
import { check, checkNumber } from '../errors.js';
import { HeaderFields, retryAfter } from './headers.js';
import { checkChoice, checkFunction, checkShared } from './options.js';
import { clientProblem, problemType, quotaProblem } from './problem.js';
import { Warnings } from './warnings.js';

/** @import { Decision } from '../types.js' */
/** @import { Access } from './headers.js' */
/** @import { Extractor, RateLimitOptions, Refusal, RequestSource } from './types.js' */

const printable = /^[ -~]+$/;

const names = [
  ...['limiter', 'client', 'noClient', 'tier', 'cost', 'skip', 'preflight', 'counts', 'isFailure'],
  ...['refundAborted', 'headers', 'status', 'body', 'contentType', 'onDecision', 'shadow'],
  'onWarning',
];

/**
 * The options of an adapter, checked, and what they decide.
 *
 * @example
 * const judge = new Judge(options);
 * const verdict = judge.judge(request, source);
 *
 * @template Request, Response
 */
export class Judge {
  /** Whether a verdict is to be told how its request ended: by `settle` or `fail`. */
  watchesOutcome;
  /** Whether a verdict is to be told that its client went away, by `abort`, and must know of the end of the response. */
  watchesAbort;

  /** @internal */
  limiter;
  /** @internal @type {HeaderFields | null} */
  fields;
  /** For refusals, which name the limits even where no fields are sent. @internal */
  words;
  /** @internal */
  options;

  #client;
  #noClient;
  #tier;
  #cost;
  #skip;
  #preflightIsFree;
  #onDecision;
  #warnings;
  #isShadow;
  /** What each check is told, where it is the same for all requests. */
  #fixed;

  /**
   * @param {RateLimitOptions<Request, Response>} options
   * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
   */
  constructor(options) {
    checkNames(options, names);
    const { limiter, client = address(), noClient = 'reject', tier, cost = 1 } = options;
    const { skip, counts = 'all', refundAborted = false, isFailure, shadow = false } = options;
    const { preflight = 'count', headers = !shadow, status = 429, onDecision } = options;
    const { body, contentType, onWarning } = options;
    checkShared({ limiter, client, noClient, tier, cost, onDecision, onWarning, shadow });
    checkFunction('skip', skip);
    checkChoice('preflight', preflight, ['count', 'free']);
    checkChoice('counts', counts, ['all', 'failed', 'successful']);
    checkFunction('isFailure', isFailure);
    checkChoice('refundAborted', refundAborted, [false, true]);
    const isStatus = Number.isInteger(status) && status >= 400 && status <= 599;
    checkNumber(isStatus, 'status', 'a whole number from 400 to 599', status);
    checkFunction('body', body);
    check(
      contentType === undefined || (typeof contentType === 'string' && printable.test(contentType)),
      'contentType',
      'a string of printable ASCII characters',
      contentType,
    );
    if (counts !== 'all' || refundAborted) {
      const rule = 'an object with a method refund, for counts and refundAborted';
      check(typeof limiter.refund === 'function', 'limiter', rule, limiter);
    }
    check(
      typeof headers === 'boolean' ||
        (typeof headers === 'object' && headers && !Array.isArray(headers)),
      'headers',
      'true, false or an object',
      headers,
    );

    this.limiter = limiter;
    this.words = new HeaderFields(typeof headers === 'object' ? headers : {});
    this.fields = headers === false ? null : this.words;
    this.options = {
      ...{ status, body, contentType },
      ...{ isFailure: isFailure ?? ((/** @type {number} */ it) => it >= 400), counts },
    };
    this.watchesOutcome = counts !== 'all';
    this.watchesAbort = refundAborted;
    this.#client = client;
    this.#noClient = noClient;
    this.#tier = tier;
    this.#cost = cost;
    this.#skip = skip;
    this.#preflightIsFree = preflight === 'free';
    this.#onDecision = onDecision;
    this.#warnings = new Warnings(onWarning);
    this.#isShadow = shadow;
    this.#fixed =
      tier === undefined && cost === 1
        ? undefined
        : Object.freeze({ cost: Number(cost), tier: /** @type {string} */ (tier) });
  }

  /**
   * Decides about a request, and spends. Where the limiter answers at once, so does this.
   *
   * @param {Request} request
   * @param {RequestSource} source
   * @returns {Verdict<Request, Response> | null | Promise<Verdict<Request, Response> | null>} null: the request is not
   *   limited, and there is nothing to do
   * @throws {Error} what the limiter throws, or a function among the options
   */
  judge(request, source) {
    if (this.#preflightIsFree && isPreflight(source)) return null;
    const skipped = /** @type {any} */ (this.#skip?.(request, source));
    if (skipped) {
      // A promise would be as good as true.
      check(typeof skipped.then !== 'function', 'what skip returns', 'true or false', skipped);
      return null;
    }
    const found = this.#client(request, source);
    // An empty header field is as good as none.
    let client = found ?? '';
    if (client === '') {
      // Shadow mode refuses nobody.
      const other = this.#isShadow && this.#noClient === 'reject' ? 'skip' : this.#noClient;
      this.#warnings.noClient('request', other, 'is refused with status 400');
      if (other === 'skip') return null;
      if (other === 'reject') return new Verdict(this, request, source, null, null, null, 1);
      ({ client } = /** @type {{ client: string }} */ (other));
    }
    let options = this.#fixed;
    let tier = options?.tier ?? null;
    let cost = options?.cost ?? 1;
    const tierOf = this.#tier;
    const costOf = this.#cost;
    if (typeof tierOf === 'function' || typeof costOf === 'function') {
      if (typeof costOf === 'function') cost = costOf(request, source);
      else cost = costOf;
      if (cost === 0) return null;
      tier = typeof tierOf === 'function' ? (tierOf(request, source) ?? null) : (tierOf ?? null);
      options = /** @type {any} */ ({ cost, tier });
    }
    const answer = /** @type {any} */ (this.limiter.check(client, options));
    if (typeof answer.then === 'function') {
      return this.#later(answer, request, source, client, tier, cost);
    }
    return this.#verdict(answer, request, source, client, tier, cost);
  }

  /**
   * Tells once of each kind of trouble.
   * @internal
   * @param {string} kind
   * @param {string} message
   * @param {unknown} [cause]
   */
  warn(kind, message, cause) {
    this.#warnings.once(kind, message, cause);
  }

  /**
   * @param {Promise<Decision>} answer
   * @param {Request} request
   * @param {RequestSource} source
   * @param {string} client
   * @param {string | null} tier
   * @param {number} cost
   */
  async #later(answer, request, source, client, tier, cost) {
    return this.#verdict(await answer, request, source, client, tier, cost);
  }

  /**
   * @param {Decision} decision
   * @param {Request} request
   * @param {RequestSource} source
   * @param {string} client
   * @param {string | null} tier
   * @param {number} cost
   */
  #verdict(decision, request, source, client, tier, cost) {
    const verdict = new Verdict(this, request, source, decision, client, tier, cost);
    verdict.refused = !decision.allowed && !this.#isShadow;
    if (this.#onDecision) this.#tell(verdict, decision, client);
    return verdict;
  }

  /**
   * @param {Verdict<Request, Response>} verdict
   * @param {Decision} decision
   * @param {string} client
   */
  #tell({ request, cost, tier, refused }, decision, client) {
    const failed = (/** @type {unknown} */ error) =>
      this.warn('onDecision', 'onDecision threw, and no request is the worse for it', error);
    try {
      const about = { client, tier: decision.tier ?? tier, cost, request, refused };
      const told = /** @type {any} */ (this.#onDecision?.(decision, about));
      if (typeof told?.then === 'function') told.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }
}

/**
 * What was decided about one request, and what becomes of its tokens.
 *
 * @template Request, Response
 */
export class Verdict {
  /** Whether the request is to be refused: in shadow mode it never is. */
  refused;
  /** The decision; null where the client is not known, and nothing was asked. @type {Decision | null} */
  decision;
  /** Who asks; null where that is not known. @type {string | null} */
  client;
  /** The tier that the request was judged by, where an option says so. @type {string | null} */
  tier;
  /** Tokens that the request costs. @type {number} */
  cost;
  /** The request, as the framework has it. @type {Request} */
  request;

  #judge;
  #source;
  /** Whether its tokens are spent and may be put back. */
  #isCharged;

  /**
   * @internal
   * @param {Judge<Request, Response>} judge
   * @param {Request} request
   * @param {RequestSource} source
   * @param {Decision | null} decision
   * @param {string | null} client
   * @param {string | null} tier
   * @param {number} cost
   */
  constructor(judge, request, source, decision, client, tier, cost) {
    this.refused = true;
    this.decision = decision;
    this.client = client;
    this.tier = tier;
    this.cost = cost;
    this.request = request;
    this.#judge = judge;
    this.#source = source;
    this.#isCharged = decision !== null && decision.allowed;
  }

  /**
   * Sets the header fields: of the limits and, where the request is refused, Retry-After and Cache-Control. Not to be
   * called once the response has begun.
   *
   * @template Target
   * @param {Target} target what has the fields, as `access` knows it: a response, a Headers object
   * @param {Access<Target>} access how fields are read there, and set
   * @param {boolean} [isOutside] whether a limiter inside this one has set its fields already, as where a handler was
   *   asked first; by default those that are there are of a limiter around this one
   * @returns {void}
   * @example
   * verdict.write(response.headers, {
   *   get: (headers, name) => headers.get(name),
   *   set: (headers, name, value) => headers.set(name, value),
   * });
   */
  write(target, access, isOutside = false) {
    const { decision } = this;
    if (decision !== null) {
      this.#judge.fields?.write(decision, this.client, this.cost, target, access, isOutside);
    }
    if (!this.refused) return;
    const seconds = decision === null ? null : retryAfter(decision);
    if (seconds !== null) access.set(target, 'Retry-After', seconds);
    access.set(target, 'Cache-Control', 'no-store');
  }

  /**
   * What is sent in place of a response where the request is refused.
   *
   * @returns {Refusal}
   * @throws {Error} what the option `body` throws
   * @example
   * if (verdict.refused) {
   *   const { status, contentType, body } = verdict.refusal();
   * }
   */
  refusal() {
    const { decision } = this;
    if (decision === null) {
      const body = JSON.stringify(clientProblem);
      return { status: clientProblem.status, contentType: problemType, body };
    }
    const { status, body, contentType } = this.#judge.options;
    if (body === undefined) {
      const problem = quotaProblem(status, this.#judge.words.violated(decision));
      return { status, contentType: problemType, body: JSON.stringify(problem) };
    }
    const made = body(decision, this.request);
    return typeof made === 'string'
      ? { status, contentType: contentType ?? 'text/plain; charset=utf-8', body: made }
      : { status, contentType: contentType ?? 'application/json', body: JSON.stringify(made) };
  }

  /** Whether the response to this request has no body, since it is a HEAD. */
  get isHead() {
    return this.#source.method === 'HEAD';
  }

  /**
   * Says how the request ended: with a response. Its tokens are put back where `counts` says that it does not count.
   *
   * @param {number} status 500 where the handler threw
   * @param {Response | null} response the framework's own; null where the handler threw
   * @returns {void}
   * @example
   * verdict.settle(response.status, response);
   */
  settle(status, response) {
    const { counts, isFailure } = this.#judge.options;
    if (counts === 'all' || !this.#isCharged) return;
    let failed;
    try {
      const said = /** @type {any} */ (isFailure(status, response));
      check(typeof said?.then !== 'function', 'what isFailure returns', 'true or false', said);
      failed = Boolean(said);
    } catch (error) {
      this.#judge.warn('isFailure', 'isFailure threw, and the request counts', error);
      return;
    }
    if (failed !== (counts === 'failed')) this.refund();
  }

  /**
   * Says that the client went away before the response had ended. Tokens are put back where `refundAborted` says so.
   *
   * @returns {void}
   * @example
   * request.signal.addEventListener('abort', () => verdict.abort());
   */
  abort() {
    if (this.#judge.watchesAbort) this.refund();
  }

  /**
   * Puts the tokens back, at most once; nothing where the request was denied.
   *
   * @returns {void}
   * @example
   * if (response.headers.has('X-Cached')) verdict.refund();
   */
  refund() {
    if (!this.#isCharged) return;
    this.#isCharged = false;
    const { limiter } = this.#judge;
    const failed = (/** @type {unknown} */ error) =>
      this.#judge.warn('refund', 'a refund failed, and its request stays counted', error);
    try {
      const done = /** @type {any} */ (
        limiter.refund?.(/** @type {string} */ (this.client), this.cost, this.tier)
      );
      if (typeof done?.then === 'function') done.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** @param {RequestSource} source */
const isPreflight = (source) =>
  source.method === 'OPTIONS' &&
  source.header('origin') !== null &&
  source.header('access-control-request-method') !== null;
