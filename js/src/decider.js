/**
 * Decisions of one limiter, for clients by name and by what stands for a name.
 * @module
 */

import { checkCost, checkNames, checkTier } from './arguments.js';
import { ClockError, checkNumber } from './errors.js';
import * as hotPath from './hot-path.js';
import { doesNotFit, fits } from './policy-text.js';
import { Reservation } from './reservation.js';
import { seedBytes } from './settings.js';

/** @import { Clock } from './clock.js' */
/** @import { CoreLimiter, CoreProblem, CoreReport } from './core-types.js' */
/** @import { HotPath } from './hot-path.js' */
/** @import { Decision, ReserveOptions } from './types.js' */

/** What a limiter and the handles of its clients have in common. */
export class Decider {
  /** The limiter in the core; 0 when it is disposed of. */
  handle;
  /** The same once it is seeded and there may be decisions. */
  ready = 0;
  /** How often the numbers of tiers may have come to stand for others. */
  tierRevision = 0;

  #path;
  #bound;
  #clock;
  /** Numbers of the document's tiers by name, as far as they were asked for. @type {Map<string, number>} */
  #tierIds = new Map();
  /** Names by number. @type {(string | null)[]} */
  #tierNames = [];
  /** Names of limits by where they are in memory. @type {Map<number, string>} */
  #limitNames = new Map();

  /**
   * @param {HotPath} path
   * @param {CoreLimiter} bound
   * @param {Clock} clock
   */
  constructor(path, bound, clock) {
    this.#path = path;
    this.#bound = bound;
    this.#clock = clock;
    this.handle = bound.handle();
  }

  /** Throws where there is nothing to ask any more. */
  alive() {
    if (this.handle === 0) throw new Error('the TierLimiter is disposed');
  }

  /** To be called before a decision. */
  prepare() {
    this.alive();
    if (this.ready === 0) this.seed(randomBytes());
  }

  /** @param {Uint8Array} bytes */
  seed(bytes) {
    const [a, b, c, d] = new Uint32Array(Uint8Array.from(bytes).buffer);
    if (!this.#bound.seed(a, b, c, d)) {
      throw new RangeError('there is no memory for the clients assigned to tiers');
    }
    this.ready = this.handle;
  }

  dispose() {
    this.handle = this.ready = 0;
    this.#bound.delete();
  }

  /** To be called before a change by which a number may come to stand for another name. */
  forget() {
    this.#tierIds.clear();
    this.#tierNames.length = 0;
    this.#limitNames.clear();
    this.tierRevision += 1;
  }

  /**
   * Changes policies, or who is in which tier. The clock is read only where the core says that the time counts: there may
   * be none yet.
   * @template {CoreReport | CoreProblem | null} T
   * @param {(nowMs: number) => T} change
   * @param {(outcome: any, nowMs: number) => void} tooEarly throws
   * @param {boolean} [timed] whether to read it at once
   * @returns {T}
   */
  change(change, tooEarly, timed = false) {
    for (let nowMs = timed ? this.now() : NaN; ; nowMs = this.now()) {
      this.forget();
      const outcome = change(nowMs);
      const { code = '' } = /** @type {any} */ (outcome)?.errors?.[0] ?? outcome ?? {};
      if (code === 'clock') tooEarly(outcome, nowMs);
      if (code !== 'invalid-time') return outcome;
    }
  }

  /**
   * The number of a tier named by a call.
   * @param {string | null | undefined} tier
   */
  tierId(tier) {
    if (tier === undefined || tier === null) return hotPath.asAssigned;
    checkTier(tier);
    const known = this.#tierIds.get(tier);
    if (known !== undefined) return known;
    if (!fits(this.#path.module, tier.length)) throw new RangeError(doesNotFit(tier.length));
    const id = this.#bound.tier(tier);
    // Only the document's tiers are remembered: names out of requests are as many as somebody likes.
    if (id !== hotPath.unknownTier) this.#tierIds.set(tier, id);
    return id;
  }

  /**
   * @param {string} client
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @returns {boolean}
   */
  allow(client, cost, tier) {
    const nowMs = this.now();
    const tierId = tier === undefined ? hotPath.asAssigned : this.tierId(tier);
    return this.#admitted(
      this.#path.ask(hotPath.allow, this.ready, client, tierId, cost, nowMs),
      nowMs,
    );
  }

  /**
   * @param {readonly string[]} clients
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @returns {boolean[]}
   */
  allowMany(clients, cost, tier) {
    const nowMs = this.now();
    const outcome = this.#path.allowMany(this.ready, clients, this.tierId(tier), cost, nowMs);
    if (typeof outcome === 'number') throw this.#failure(outcome, nowMs);
    return outcome;
  }

  /**
   * @param {number} what to check or to peek
   * @param {string} client
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @param {number} [nowMs] what `now` returned
   * @returns {Decision}
   */
  decide(what, client, cost, tier, nowMs = this.now()) {
    const tierId = this.tierId(tier);
    const outcome = this.#path.ask(what, this.ready, client, tierId, cost, nowMs);
    return this.#decision(outcome, nowMs, tier);
  }

  /**
   * @param {string} client
   * @param {ReserveOptions | undefined} options
   * @param {readonly string[]} names of options
   * @param {string | null | undefined} [own] the tier, where that is no option
   */
  reserve(client, options = {}, names, own) {
    checkNames(options, names);
    const { cost = 1, ttlMs = 60_000, tier = own } = options;
    checkCost(cost);
    checkNumber(Number.isFinite(ttlMs) && ttlMs > 0, 'ttlMs', 'a finite number above 0', ttlMs);
    const nowMs = this.now();
    const decision = this.decide(hotPath.reserve, client, cost, tier, nowMs);
    return new Reservation(this, client, tier, cost, decision, nowMs + ttlMs, this.#path.held());
  }

  /**
   * Refunds, or settles what is held.
   * @param {number} what
   * @param {string} client
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @param {number} [nowMs] what `now` returned
   * @param {Uint8Array} [held]
   * @returns {number} tokens that were not there to be charged, or that no limit took back
   */
  adjust(what, client, cost, tier, nowMs = this.now(), held = undefined) {
    const tierId = this.tierId(tier);
    const path = this.#path;
    if (held !== undefined) path.hold(held);
    this.#admitted(path.ask(what, this.ready, client, tierId, cost, nowMs), nowMs);
    return path.doubles()[hotPath.debtAt];
  }

  /**
   * What stands for a client from now on: three words.
   * @param {string} client
   */
  fingerprint(client) {
    const path = this.#path;
    this.#admitted(path.ask(hotPath.fingerprint, this.ready, client, 0, 0, 0), 0);
    return path.words().slice(hotPath.fingerprintAt, hotPath.fingerprintAt + 3);
  }

  /**
   * `allow` for a client by its fingerprint.
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} tierId
   * @param {number} cost
   * @param {number} nowMs what `now` returned
   * @returns {boolean}
   */
  allowKnown(a, b, c, tierId, cost, nowMs) {
    return this.#admitted(this.#path.allowKnown(this.ready, a, b, c, tierId, cost, nowMs), nowMs);
  }

  /**
   * `decide` for a client by its fingerprint.
   * @param {number} what
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} tierId
   * @param {number} cost
   * @param {string | null} tier the name of that number
   * @param {number} nowMs what `now` returned
   * @returns {Decision}
   */
  decideKnown(what, a, b, c, tierId, cost, tier, nowMs) {
    const outcome = this.#path.askKnown(what, this.ready, a, b, c, tierId, cost, nowMs);
    return this.#decision(outcome, nowMs, tier);
  }

  /**
   * The time. A clock of the caller's may do anything, even change the policies or dispose of the limiter: whatever a
   * decision is made of is looked up after it.
   */
  now() {
    const nowMs = this.#clock.now();
    if (this.handle === 0) this.alive();
    return nowMs;
  }

  /**
   * @param {number} outcome
   * @param {number} nowMs
   * @param {string | null | undefined} tier
   * @returns {Decision}
   */
  #decision(outcome, nowMs, tier) {
    const admitted = this.#admitted(outcome, nowMs);
    const path = this.#path;
    const name = tier ?? this.#tierName(path.words()[hotPath.tierAt]);
    return path.answer(admitted, name, this.#limitNames);
  }

  /** @param {number} id */
  #tierName(id) {
    if (id < 0) return null;
    this.#tierNames[id] ??= this.#bound.tierName(id);
    return this.#tierNames[id];
  }

  /**
   * @param {number} outcome
   * @param {number} nowMs
   */
  #admitted(outcome, nowMs) {
    if (outcome < 0) throw this.#failure(outcome, nowMs);
    return outcome === hotPath.admitted;
  }

  /**
   * @param {number} outcome
   * @param {number} nowMs
   */
  #failure(outcome, nowMs) {
    if (outcome === hotPath.clockIsEarly) {
      return new ClockError(nowMs, this.#path.doubles()[hotPath.touchedAt]);
    }
    if (outcome === hotPath.outOfMemory) {
      return new RangeError('there is no memory for so many clients at a time');
    }
    return new Error(`the core gave no decision (${outcome})`);
  }
}

/** @returns {Uint8Array} */
function randomBytes() {
  try {
    return crypto.getRandomValues(new Uint8Array(seedBytes));
  } catch (error) {
    throw new Error(
      'the first decision draws random bytes, which are refused here; in a worker decide in a handler, not at module scope',
      { cause: error },
    );
  }
}
