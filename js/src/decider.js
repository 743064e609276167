/**
 * Decisions of one limiter, for clients by name and by what stands for a name.
 * @module
 */

import { checkTier } from './arguments.js';
import { ClockError } from './errors.js';
import * as hotPath from './hot-path.js';
import { doesNotFit, fits } from './policy-text.js';
import { seedBytes } from './settings.js';

/** @import { Clock } from './clock.js' */
/** @import { CoreLimiter } from './core-types.js' */
/** @import { HotPath } from './hot-path.js' */
/** @import { Decision } from './types.js' */

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

  /** To be called before the document changes: a number that stands for another tier must not be used. */
  forgetTiers() {
    this.#tierIds.clear();
    this.tierRevision += 1;
    this.forgetTierNames();
  }

  /** To be called before an assignment changes, by which a number may come to stand for another name. */
  forgetTierNames() {
    this.#tierNames.length = 0;
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
   * @returns {Decision}
   */
  decide(what, client, cost, tier) {
    const nowMs = this.now();
    const tierId = this.tierId(tier);
    const outcome = this.#path.ask(what, this.ready, client, tierId, cost, nowMs);
    return this.#decision(outcome, nowMs, tier);
  }

  /**
   * What stands for a client from now on: three words.
   * @param {string} client
   */
  fingerprint(client) {
    const path = this.#path;
    this.#admitted(path.ask(hotPath.fingerprint, this.ready, client, 0, 0, 0), 0);
    return path.fingerprint();
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
    return path.answer(admitted, tier ?? this.#tierName(path.tier()));
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
    if (outcome === hotPath.clockIsEarly) return new ClockError(nowMs, this.#path.touchedMs());
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
