/**
 * The limiter, over whichever core its subclasses have.
 * @module
 */

/// <reference lib="esnext.disposable" preserve="true" />

import { checkClients, checkCost, checkNames, checkString, checkTier } from './arguments.js';
import { Client } from './client.js';
import { Clock, systemNow } from './clock.js';
import { Decider } from './decider.js';
import { ClockError, check, show } from './errors.js';
import * as hotPath from './hot-path.js';
import { forIsolate } from './isolate.js';
import { checkPoliciesFit, doesNotFit, fits, policyText, readReport } from './policy-text.js';
import { restoreOptions, settings } from './settings.js';
import { Snapshot, joined } from './snapshot.js';

/** @import { HotPath } from './hot-path.js' */
/** @import { Reservation } from './reservation.js' */
/** @import { RestoreOptions } from './types.js' */
/** @import { CheckOptions, Decision, TierLimiterOptions, TierLimiterStats } from './types.js' */
/** @import { Policies, PolicyProblem, PolicyReport } from './types.js' */
/** @import { ReserveOptions, SetTierOptions, ShadowCount } from './types.js' */

/** @internal Under it the instances of a subclass have what gives them their core. */
export const coreOf = Symbol('core');

/** In the core they are numbers. @type {readonly string[]} */
const raises = ['keep', 'fill', 'proportional', 'add'];

/**
 * Some runtimes know no `using`, and have nothing of that name.
 * @type {typeof Symbol.dispose}
 */
const disposeSymbol = Symbol.dispose ?? Symbol('dispose');

/**
 * Decides for every client whether a request may proceed: a token bucket for each, by tiers whose policies may change
 * while it runs. One limiter keeps the state of one isolate. It is made synchronously; nothing is read, drawn or started
 * by making one.
 *
 * @example
 * const limiter = new TierLimiter({
 *   policies: { default: { capacity: 5, refillPerSecond: 1 } },
 * });
 * limiter.allow('acme'); // true, five times; then false for a second
 */
export class TierLimiter {
  #core;
  #bound;
  #decider;
  #clock;
  #settings;
  /** @type {PolicyReport} */
  #report;
  /** What the shadow judges by. @type {{ text: string, isText: boolean } | undefined} */
  #candidate;

  /**
   * This isolate's limiter of that name, made at first use and kept on globalThis: a module that is evaluated twice (by
   * a hot reload, or in two bundles) shares its state. A later call with other policies puts them in force. The clock is
   * that of the first call. After `dispose()` the next call makes a new one.
   *
   * @param {string} name any string
   * @param {TierLimiterOptions} options as for `new TierLimiter`, at every call
   * @returns {TierLimiter}
   * @throws {RangeError} at a later call with another maxClients, maxBytes, onFull, strict, sweep or seed
   * @throws {PolicyError | TypeError | RangeError | Error} as `new TierLimiter`
   * @example
   * const limiter = TierLimiter.forIsolate('api', { policies });
   */
  static forIsolate(name, options) {
    return forIsolate(name, options, () => {
      const limiter = new this(options);
      const isGone = () => limiter.#decider.handle === 0 || Boolean(limiter.#core.module.broken);
      return { limiter, isGone };
    });
  }

  /**
   * A limiter with full buckets, made synchronously in every runtime.
   *
   * @param {TierLimiterOptions} options `policies` is required
   * @throws {PolicyError} when the policies are refused
   * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
   * @throws {Error} when the runtime refuses to compile WebAssembly
   * @example
   * const limiter = new TierLimiter({ policies, maxClients: 100_000, onFull: 'deny' });
   */
  constructor(options) {
    const held = settings(options);
    const { policies } = options;
    const snapshot = policies instanceof Snapshot ? policies : null;
    const { text, isText } = snapshot ? { text: '', isText: false } : policyText(policies);
    const core = /** @type {{ [coreOf](): HotPath }} */ (/** @type {unknown} */ (this))[coreOf]();
    checkPoliciesFit(core.module, text);
    this.#core = core;
    this.#settings = held;
    this.#clock = new Clock(options.now ?? systemNow, held.hold);
    this.#bound = new core.module.TierLimiter(
      text,
      held.maxClients,
      held.maxBytes,
      held.onFull === 'deny',
      held.strict,
      held.sweep,
    );
    try {
      snapshot?.restore(core.module, this.#bound, this.#clock.now());
      this.#report = readReport(this.#bound.report(), isText);
    } catch (error) {
      this.#bound.delete();
      throw error;
    }
    this.#decider = new Decider(core, this.#bound, this.#clock);
    if (options.seed !== undefined) this.#decider.seed(options.seed);
    if (snapshot) this.#decider.ready = this.#decider.handle;
  }

  /**
   * A limiter that goes on where the one stopped of which the snapshot is: with its policies, assignments, buckets and
   * secret. All that it knows has the age that it had, by the clock of this one, so the time in between goes by without
   * accruing anything, and a client that was drained still is. `stats()` counts anew.
   *
   * @param {Uint8Array} bytes what `snapshot()` gave
   * @param {RestoreOptions} [options] as for `new TierLimiter`, but for policies and seed
   * @returns {TierLimiter}
   * @throws {RangeError} when the bytes are no snapshot, or altered, truncated or of another format, or there is not
   *   room for as many buckets
   * @throws {TypeError} when an argument is not as it should be
   * @example
   * const limiter = TierLimiter.restore(await readFile('limiter.snapshot'));
   */
  static restore(bytes, options = undefined) {
    check(bytes instanceof Uint8Array, 'bytes', 'a Uint8Array', bytes);
    if (options !== undefined) checkNames(options, restoreOptions);
    const policies = /** @type {any} */ (new Snapshot(bytes));
    return new this({ ...options, policies });
  }

  /**
   * Whether the client may spend `cost` tokens now. They are spent if so; a denied request is charged nothing.
   *
   * @param {string} client any string; different strings are different clients
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @param {string | null} [tier] the tier for this call alone; by default the client's own
   * @returns {boolean}
   * @throws {ClockError} when the clock reads earlier than at the client's last decision
   * @throws {TypeError | RangeError} when an argument is not as it should be, or what `now` returns is not
   * @throws {Error} when the limiter is disposed, or the first decision is made where random bytes are refused
   * @example
   * if (!limiter.allow('acme', 5, 'pro')) return new Response(null, { status: 429 });
   */
  allow(client, cost = 1, tier = undefined) {
    if (!(#decider in Object(this)) || this.#decider.ready === 0) TierLimiter.#of(this).prepare();
    if (typeof client !== 'string') checkString('client', client);
    if (cost !== 1) checkCost(cost);
    return this.#decider.allow(client, cost, tier);
  }

  /**
   * `allow` for each of the clients, one after the other, all at one reading of the clock. Nobody is charged when it
   * throws. Several requests of one client are as many decisions.
   *
   * @param {readonly string[]} clients their names, of which one may be there several times
   * @param {number} [cost] whole tokens of each, from 1 to 2^53-1; default 1
   * @param {string | null} [tier] of each, for this call alone; by default each client's own
   * @returns {boolean[]} in the order of the clients
   * @throws {ClockError} when the clock reads earlier than at the last decision of any of them
   * @throws {TypeError | RangeError} when an argument is not as it should be, or there is no memory for so many
   * @example
   * const admitted = limiter.allowMany(['acme', 'globex', 'acme']); // [true, true, true]
   */
  allowMany(clients, cost = 1, tier = undefined) {
    const decider = TierLimiter.#of(this);
    decider.prepare();
    const names = checkClients(clients);
    checkCost(cost);
    return decider.allowMany(names, cost, tier);
  }

  /**
   * Like `allow`, with the whole answer. It spends, too; `peek` does not.
   *
   * @param {string} client any string
   * @param {CheckOptions} [options] `cost` in tokens and `tier`; default 1 and the client's own
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * const decision = limiter.check('acme', { cost: 5 });
   * if (!decision.allowed) console.log(`come back in ${decision.retryAfterMs} ms`);
   */
  check(client, options = undefined) {
    return TierLimiter.#decide(this, hotPath.check, client, options);
  }

  /**
   * Whether `check` would admit the cost now. Nothing is spent and nothing is stored: `remaining` and `resetMs` are of
   * the bucket as it is at this moment, and the rest is what `check` would answer.
   *
   * @param {string} client any string
   * @param {CheckOptions} [options] `cost` in tokens and `tier`; default 1 and the client's own
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * const { remaining, limit } = limiter.peek('acme');
   */
  peek(client, options = undefined) {
    return TierLimiter.#decide(this, hotPath.peek, client, options);
  }

  /**
   * Puts tokens back, for a request that turned out to cost less, or that failed: into each of the limits that judge the
   * client now, and at most up to its capacity. Of a sliding window the oldest charges that still count go first. A client
   * who has spent nothing gets nothing. It is no decision: `stats()` does not count it.
   *
   * @param {string} client any string
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @param {string | null} [tier] the tier for this call alone; by default the client's own
   * @returns {void}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * if (limiter.allow('acme', 10) && !(await serve(request))) limiter.refund('acme', 10);
   */
  refund(client, cost = 1, tier = undefined) {
    const decider = TierLimiter.#of(this);
    decider.prepare();
    checkString('client', client);
    checkCost(cost);
    decider.adjust(hotPath.refund, client, cost, tier);
  }

  /**
   * Spends an estimate, as `check` does, for a request whose cost is known only when it is done; `settle` then charges
   * that in its place. See `Reservation`.
   *
   * @param {string} client any string
   * @param {ReserveOptions} [options] `cost` in tokens, the estimate, `ttlMs`, for how long it can be settled, and
   *   `tier`; default 1, 60,000 and the client's own
   * @returns {Reservation} whether or not it was admitted
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * const reservation = limiter.reserve('acme', { cost: 500, ttlMs: 30_000 });
   * if (reservation.allowed) reservation.settle(await stream(request));
   */
  reserve(client, options = undefined) {
    const decider = TierLimiter.#of(this);
    decider.prepare();
    checkString('client', client);
    return decider.reserve(client, options, ['cost', 'ttlMs', 'tier']);
  }

  /**
   * Puts a policy document in force. It takes effect for each client at its next decision: no balance changes by
   * itself, time since the client's last decision accrues at the new rate up to the new capacity, and what is above a
   * smaller capacity is lost; `onRaise` and `accrual` of a policy say otherwise. `clients` is replaced; what setTier set
   * stays. The clock is read only where a limit of this document or of the one before is prorated.
   *
   * @param {Policies | string} policies an object or JSON text
   * @returns {PolicyReport} what of it is judged by the default, and what was rounded
   * @throws {PolicyError} when the document is refused; the one in force stays
   * @throws {ClockError} when the clock is read and reads earlier than at the last change; nothing changes
   * @throws {TypeError} when it is no JSON text, and no object that can be written as such
   * @example
   * const { rejected } = limiter.setPolicies(await readFile('policies.json', 'utf8'));
   * for (const { path, message } of rejected) console.warn(path, message);
   */
  setPolicies(policies) {
    return TierLimiter.#load(this, policyText(policies));
  }

  /**
   * Judges every request by another policy document too, beside the one in force, and counts what it would decide
   * otherwise: `shadowStats` tells. It changes no decision. It has buckets of its own, which start full and take as much
   * memory again; `setTier`, refunds and reservations are for both. A candidate that was there before ends.
   *
   * @param {Policies | string | null} policies an object or JSON text; null: there is no candidate any more
   * @returns {PolicyReport} on the candidate; `revision` is that of the document in force. Of null: on that one.
   * @throws {PolicyError} when the document is refused; a candidate that was there before stays
   * @throws {TypeError} when it is no JSON text, and no object that can be written as such
   * @throws {Error} when random bytes are needed, as for the first decision, and refused
   * @example
   * limiter.setShadowPolicies({ default: { capacity: 3, refillPerSecond: 1 } });
   */
  setShadowPolicies(policies) {
    const candidate = policies === null ? undefined : policyText(policies);
    const decider = TierLimiter.#of(this);
    let report = this.#report;
    decider.forget();
    if (candidate) {
      decider.prepare();
      const { text, isText } = candidate;
      checkPoliciesFit(this.#core.module, text);
      report = readReport(this.#bound.setShadowPolicies(text), isText);
    } else {
      this.#bound.clearShadow();
    }
    this.#candidate = candidate;
    return report;
  }

  /**
   * Puts the candidate in force, as `setPolicies` would: the buckets in force carry over. The shadow ends.
   *
   * @returns {PolicyReport}
   * @throws {Error} when there is no candidate
   * @throws {PolicyError | ClockError} as `setPolicies`; the candidate stays
   * @example
   * limiter.promoteShadow();
   */
  promoteShadow() {
    TierLimiter.#of(this);
    const candidate = this.#candidate;
    if (!candidate) throw new Error('there are no shadow policies to promote');
    const report = TierLimiter.#load(this, candidate);
    this.setShadowPolicies(null);
    return report;
  }

  /**
   * How often the candidate would have decided otherwise, for each tier and for each way in which clients came by it.
   *
   * @returns {ShadowCount[]} as it is now; empty where there is no candidate, or nobody has come yet
   * @throws {Error} when the limiter is disposed
   * @example
   * for (const { tier, onlyLiveAllows } of limiter.shadowStats()) console.log(tier, onlyLiveAllows);
   */
  shadowStats() {
    TierLimiter.#of(this);
    return this.#bound.shadowStats();
  }

  /**
   * Puts a client into a tier, before whatever the document says of it, until it is set anew. The tier need not be in
   * the document: the default judges until it is. Balances stay, but for `onRaise`. The clock is read only where a limit
   * of the new tier is prorated, or there is a candidate.
   *
   * @param {string} client any string
   * @param {string | null} tier null takes the assignment back
   * @param {SetTierOptions} [options] `onRaise`: what a larger capacity does to the client's balances, once, at its next
   *   decision, and only if its tier becomes another one by this call; default `'keep'`
   * @returns {void}
   * @throws {TypeError} when an argument is of another type, or there is no such option
   * @throws {RangeError} when there is no memory for one more assignment
   * @throws {ClockError} when the clock is read and reads earlier than at the client's last decision; nothing changes
   * @example
   * limiter.setTier('acme', 'pro', { onRaise: 'fill' });
   */
  setTier(client, tier, options = undefined) {
    const decider = TierLimiter.#of(this);
    checkString('client', client);
    if (tier !== null) checkTier(tier);
    if (options !== undefined) checkNames(options, ['onRaise']);
    const { onRaise = 'keep' } = options ?? {};
    const raise = raises.indexOf(onRaise);
    check(raise >= 0, 'onRaise', raises.map(show).join(' or '), onRaise);
    const length = client.length + (tier?.length ?? 0);
    if (!fits(this.#core.module, length)) throw new RangeError(doesNotFit(length));
    const bound = this.#bound;
    const error = decider.change(
      (nowMs) =>
        tier === null
          ? bound.clearTier(client, raise, nowMs)
          : bound.setTier(client, tier, raise, nowMs),
      // By its tier until now it is as much too early for a decision, which tells how much.
      (_, nowMs) => decider.decide(hotPath.peek, client, 1, null, nowMs),
      // A candidate may need the time where the policies in force do not.
      this.#candidate !== undefined,
    );
    if (error !== null) throw new RangeError(error.message);
  }

  /**
   * A handle of one client, with the same verbs, for whoever asks for the same one again and again: see `Client`.
   *
   * @param {string} id the client's name
   * @param {string | null} [tier] the tier that each of its calls asks for; by default the client's own
   * @returns {Client}
   * @throws {TypeError} when an argument is of another type
   * @example
   * const client = limiter.client('acme');
   * client.allow(); // as limiter.allow('acme'), and at a fraction of the time
   */
  client(id, tier = null) {
    const decider = TierLimiter.#of(this);
    checkString('id', id);
    if (tier !== null) checkTier(tier);
    return new Client(decider, id, tier);
  }

  /** How many policy documents have been accepted, the first included. */
  get revision() {
    TierLimiter.#of(this);
    return this.#report.revision;
  }

  /**
   * Tiers of the document in force that are invalid, and clients of tiers that are not there: the default judges them.
   * @returns {readonly PolicyProblem[]}
   */
  get rejected() {
    TierLimiter.#of(this);
    return this.#report.rejected;
  }

  /**
   * What of the document in force is not exactly as written: rates that were rounded.
   * @returns {readonly PolicyProblem[]}
   */
  get warnings() {
    TierLimiter.#of(this);
    return this.#report.warnings;
  }

  /**
   * What the limiter holds and has done.
   *
   * @returns {TierLimiterStats} as it is now; it does not change afterwards
   * @throws {Error} when the limiter is disposed
   * @example
   * const { buckets, evictions, evictedTokens } = limiter.stats();
   */
  stats() {
    TierLimiter.#of(this);
    return {
      ...this.#bound.stats(),
      maxClients: this.#settings.maxClients,
      clockRegressions: this.#clock.regressions,
      revision: this.#report.revision,
    };
  }

  /**
   * All that the limiter knows, as bytes for `TierLimiter.restore`: policies, assignments and buckets, and the secret by
   * which clients are told apart, so keep them as one. 32 bytes for each bucket, and 16 for each microsecond in the log
   * of a sliding window. Reservations that are not settled yet stay spent, and a candidate is not in it.
   *
   * @returns {Uint8Array}
   * @throws {Error} when the limiter is disposed, or random bytes are needed and refused
   * @example
   * await writeFile('limiter.snapshot', limiter.snapshot());
   */
  snapshot() {
    const decider = TierLimiter.#of(this);
    decider.prepare();
    return joined(this.#bound.snapshot(decider.now()));
  }

  /**
   * Gives the limiter's memory back, which no garbage collector does. Whatever is asked of it afterwards throws, except
   * to dispose of it again.
   *
   * @returns {void}
   * @example
   * limiter.dispose();
   */
  dispose() {
    if (TierLimiter.#ours(this).handle !== 0) this.#decider.dispose();
  }

  /**
   * The same as `dispose`, for `using`. In a runtime without `Symbol.dispose` it is not there.
   *
   * @returns {void}
   * @example
   * using limiter = new TierLimiter({ policies });
   */
  [disposeSymbol]() {
    this.dispose();
  }

  /**
   * @param {TierLimiter} limiter
   * @param {number} what
   * @param {string} client
   * @param {CheckOptions | undefined} options
   * @returns {Decision}
   */
  static #decide(limiter, what, client, options) {
    const decider = TierLimiter.#of(limiter);
    decider.prepare();
    checkString('client', client);
    if (options !== undefined) checkNames(options, ['cost', 'tier']);
    const { cost = 1, tier } = options ?? {};
    checkCost(cost);
    return decider.decide(what, client, cost, tier);
  }

  /**
   * Puts a document in force.
   * @param {TierLimiter} limiter
   * @param {{ text: string, isText: boolean }} document
   */
  static #load(limiter, { text, isText }) {
    const decider = TierLimiter.#of(limiter);
    checkPoliciesFit(limiter.#core.module, text);
    const raw = decider.change(
      (nowMs) => limiter.#bound.setPolicies(text, nowMs),
      ({ changedMs }, nowMs) => {
        throw new ClockError(nowMs, Number(changedMs));
      },
    );
    limiter.#report = readReport(raw, isText);
    return limiter.#report;
  }

  // Static, for what is called on anything else than a limiter (a method pulled off its object) finds no private methods.

  /** @param {TierLimiter} limiter */
  static #ours(limiter) {
    check(#decider in Object(limiter), 'this', 'a TierLimiter', limiter);
    return limiter.#decider;
  }

  /** @param {TierLimiter} limiter not disposed of */
  static #of(limiter) {
    const decider = TierLimiter.#ours(limiter);
    decider.alive();
    return decider;
  }
}
