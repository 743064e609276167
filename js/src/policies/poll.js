/**
 * Policies that are asked for from within requests.
 * @module
 */

import { Clock, systemNow } from '../clock.js';
import { check, checkNumber } from '../errors.js';
import { Ledger, checkFunction } from './ledger.js';
import { PolicySource } from './source.js';
import { TimeLimit } from './time-limit.js';

/** @import { LookOutcome, PolicyDocument, SourceOptions } from './types.js' */

/** The answers that need no look, made once: `refresh` is called at each request. */
const answers = {
  notDue: Promise.resolve(/** @type {LookOutcome} */ ('not-due')),
  underWay: Promise.resolve(/** @type {LookOutcome} */ ('under-way')),
  closed: Promise.resolve(/** @type {LookOutcome} */ ('closed')),
};

/**
 * What sources that are polled may be told beside `SourceOptions`.
 *
 * @typedef {object} PollSchedule
 * @property {number} [intervalMs] At most one look is begun in so many milliseconds, above 0. Default 30,000.
 * @property {() => number} [now] A clock in milliseconds, which is read once in each `refresh`. Default: the runtime's own.
 */

/**
 * What a read is told.
 *
 * @typedef {object} ReadContext
 * @property {AbortSignal} signal Aborts when the time is over, or the source is closed.
 * @property {string | number | null} version Of the document that came last, as it was given with it: an ETag, say. Null:
 *   none, or the last document was not dealt with, so that it has to be read again.
 */

/**
 * A document that was read, with the source's own mark of it.
 *
 * @typedef {object} VersionedDocument
 * @property {PolicyDocument} document Its text, the bytes of that in UTF-8, or an object.
 * @property {string | number | null} [version] An ETag or the like; or a number that grows, in which case a document with a
 *   lower one than that of the last is dropped. Default: none.
 */

/**
 * A source of one's own that is polled.
 *
 * @typedef {object} PollOwnOptions
 * @property {(context: ReadContext) => Promise<string | Uint8Array | VersionedDocument | null>} read Reads the document; null: it is the
 *   same as last time. It rejects when it cannot be read.
 * @property {string} [from] What `status` and warnings call it. Default `'read()'`.
 */

/**
 * What `poll` may be told.
 *
 * @typedef {SourceOptions & PollSchedule & PollOwnOptions} PollOptions
 */

/**
 * A source that is looked at from within requests, and never by itself: it has no timer. `pollUrl`, `pollKv` and `poll`
 * make it.
 *
 * @example
 * source.refresh(ctx); // in each request; asks when it is time to
 */
export class PolledSource extends PolicySource {
  #ledger;
  #read;
  #intervalMs;
  #clock;
  #begunMs = -Infinity;
  /** The look under way. @type {TimeLimit | null} */
  #look = null;

  /**
   * @internal
   * @param {PollOptions} options
   * @param {Ledger} ledger
   */
  constructor(options, ledger) {
    const { read, intervalMs = 30_000, now = systemNow } = options;
    checkNumber(
      Number.isFinite(intervalMs) && intervalMs > 0,
      'intervalMs',
      'milliseconds above 0',
      intervalMs,
    );
    checkFunction('now', now);
    super(ledger, options);
    this.#ledger = ledger;
    this.#read = read;
    this.#intervalMs = intervalMs;
    this.#clock = new Clock(now, false);
  }

  /**
   * Looks at the source if the last look was begun `intervalMs` ago or longer, and none is under way. It never makes a
   * request wait unless what it returns is awaited, and then only the request that begins a look. The first call is due.
   *
   * Where requests are cut off with their I/O when they are answered (Workers), give it the request's context, so that
   * the look may outlive it. A look that has lasted longer than `timeoutMs` counts as lost, with whatever it might still
   * bring.
   *
   * @param {{ waitUntil(promise: Promise<unknown>): void }} [ctx] the context that the runtime hands to a request
   * @returns {Promise<LookOutcome>} of the look that this call has begun; at once where it has begun none. It never rejects.
   * @throws {TypeError | RangeError} when what `now` returns is not as it should be, or ctx has no waitUntil
   * @example
   * export default {
   *   async fetch(request, env, ctx) {
   *     source.refresh(ctx);
   *     return handle(request);
   *   },
   * };
   */
  refresh(ctx = undefined) {
    if (this.#ledger.state !== 'open') return answers.closed;
    const nowMs = this.#clock.now();
    // A clock that was set back must not put the next look off until it has caught up.
    if (nowMs < this.#begunMs) this.#begunMs = nowMs;
    const sinceMs = nowMs - this.#begunMs;
    if (this.#look !== null && sinceMs < this.#ledger.timeoutMs) return answers.underWay;
    if (sinceMs < this.#intervalMs) return answers.notDue;
    if (ctx !== undefined) {
      check(
        typeof (/** @type {any} */ (ctx)?.waitUntil) === 'function',
        'ctx',
        'what has waitUntil()',
        ctx,
      );
    }
    this.#begunMs = nowMs;
    const look = this.#begin();
    ctx?.waitUntil(look);
    return look;
  }

  /** @internal */
  stop() {
    this.#look?.end(new Error('the source is closed'));
  }

  /** @returns {Promise<LookOutcome>} */
  async #begin() {
    const ledger = this.#ledger;
    /** @type {TimeLimit | null} */
    let look = null;
    // The one before, if it is not over, is lost. It may belong to a request that is no more, so it is left alone.
    this.#look = null;
    const isLost = () => this.#look !== look || ledger.state !== 'open';
    const lost = () => (ledger.state === 'open' ? 'outdated' : 'closed');
    try {
      look = new TimeLimit(ledger.timeoutMs, `a look at ${ledger.from}`);
      this.#look = look;
      const read = await look.race(this.#ask(look.signal));
      if (isLost()) return lost();
      if (read === null) return ledger.unchanged();
      const applied = look.race(ledger.apply(read.document, read.version));
      // What is late there is the limiter.
      return await applied.catch((error) => (isLost() ? lost() : ledger.refuse(error)));
    } catch (error) {
      return isLost() ? lost() : ledger.unreadable(error);
    } finally {
      look?.done();
      if (this.#look === look) this.#look = null;
    }
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<{ document: unknown, version: string | number | null } | null>}
   */
  async #ask(signal) {
    const read = this.#read;
    const answer = await read({ signal, version: this.#ledger.version });
    if (answer === null) return null;
    if (typeof answer === 'string' || answer instanceof Uint8Array)
      return { document: answer, version: null };
    const isDocument = typeof answer === 'object' && 'document' in answer;
    check(isDocument, 'what read() returns', 'a text, bytes, { document } or null', answer);
    const { document, version = null } = answer;
    const isVersion = version === null || typeof version === 'string' || Number.isFinite(version);
    check(isVersion, 'version', 'a string, a finite number or null', version);
    return { document, version };
  }
}

/**
 * Policies that a function of one's own reads: from a database, a bucket of objects, another kind of KV. It is called from
 * within requests, at most once in `intervalMs` and once at a time, and never by a timer. What it brings too late, when
 * a newer look is under way or over, is dropped.
 *
 * A change is in force for a request that begins `intervalMs`, and the time that reading takes, after it was made, or
 * later: it takes a request to ask, and that one is judged by what is in force when it asks.
 *
 * @param {PollOptions} options `limiter` and `read` are required
 * @returns {PolledSource}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const source = poll({
 *   limiter,
 *   read: async ({ version }) => {
 *     const row = await database.get('policies');
 *     return row.id === version ? null : { document: row.text, version: row.id };
 *   },
 * });
 */
export function poll(options) {
  const { read, from = 'read()' } = Object(options);
  const ledger = new Ledger(options, ['read', 'from', 'intervalMs', 'now'], from);
  check(typeof read === 'function', 'read', 'a function that gives a promise of a document', read);
  check(typeof from === 'string', 'from', 'a string', from);
  return new PolledSource(options, ledger);
}
