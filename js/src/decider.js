/**
 * Decisions of one limiter, for clients by name and by what stands for a name.
 * @module
 */

import { checkTier } from './arguments.js';
import { ClockError } from './errors.js';
import { asAssigned, status, unknownTier, verb } from './hot-path.js';
import { seedBytes } from './settings.js';

/** @import { Clock } from './clock.js' */
/** @import { BoundLimiter, Core } from './core.js' */
/** @import { Fingerprint } from './hot-path.js' */
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
   * @param {Core} core
   * @param {BoundLimiter} bound
   * @param {Clock} clock
   */
  constructor(core, bound, clock) {
    this.#path = core.hotPath;
    this.#bound = bound;
    this.#clock = clock;
    this.handle = bound.handle();
  }

  /**
   * Throws where there is nothing to ask any more.
   * @param {string} method
   * @param {string} owner
   */
  alive(method, owner) {
    if (this.handle === 0) throw new Error(`${method} was called on ${owner} that is disposed`);
  }

  /**
   * To be called before a decision.
   * @param {string} method
   * @param {string} owner
   */
  prepare(method, owner) {
    this.alive(method, owner);
    if (this.ready === 0) this.seed(randomBytes());
  }

  /** @param {Uint8Array} bytes */
  seed(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const word = (/** @type {number} */ at) => view.getUint32(at, true);
    if (!this.#bound.seed(word(0), word(4), word(8), word(12))) {
      throw new RangeError('there is no memory for the clients that are assigned to tiers');
    }
    this.ready = this.handle;
  }

  dispose() {
    this.handle = 0;
    this.ready = 0;
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
    if (tier === undefined || tier === null) return asAssigned;
    checkTier(tier);
    const known = this.#tierIds.get(tier);
    if (known !== undefined) return known;
    const id = this.#bound.tier(tier);
    // Only the document's tiers are remembered: names out of requests are as many as somebody likes.
    if (id !== unknownTier) this.#tierIds.set(tier, id);
    return id;
  }

  /**
   * @param {string} client
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @param {string} owner
   * @returns {boolean}
   */
  allow(client, cost, tier, owner) {
    const nowMs = this.now('allow', owner);
    const tierId = tier === undefined ? asAssigned : this.tierId(tier);
    const outcome = this.#path.ask(verb.allow, this.ready, client, tierId, cost, nowMs);
    if (outcome < 0) throw this.#failure(outcome, nowMs);
    return outcome === status.admitted;
  }

  /**
   * @param {readonly string[]} clients
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @param {string} owner
   * @returns {boolean[]}
   */
  allowMany(clients, cost, tier, owner) {
    const nowMs = this.now('allowMany', owner);
    const outcome = this.#path.allowMany(this.ready, clients, this.tierId(tier), cost, nowMs);
    if (typeof outcome === 'number') throw this.#failure(outcome, nowMs);
    return outcome;
  }

  /**
   * @param {'check' | 'peek'} method
   * @param {string} client
   * @param {number} cost
   * @param {string | null | undefined} tier
   * @param {string} owner
   * @returns {Decision}
   */
  decide(method, client, cost, tier, owner) {
    const nowMs = this.now(method, owner);
    const tierId = this.tierId(tier);
    const outcome = this.#path.ask(verb[method], this.ready, client, tierId, cost, nowMs);
    return this.#decision(outcome, nowMs, tier);
  }

  /**
   * What stands for a client from now on.
   * @param {string} client
   * @returns {Fingerprint}
   */
  fingerprint(client) {
    const outcome = this.#path.ask(verb.fingerprint, this.ready, client, 0, 0, 0);
    if (outcome < 0) throw this.#failure(outcome, 0);
    return this.#path.fingerprint();
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
    const outcome = this.#path.allowKnown(this.ready, a, b, c, tierId, cost, nowMs);
    if (outcome < 0) throw this.#failure(outcome, nowMs);
    return outcome === status.admitted;
  }

  /**
   * `decide` for a client by its fingerprint.
   * @param {'check' | 'peek'} method
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} tierId
   * @param {number} cost
   * @param {string | null} tier the name of that number
   * @param {number} nowMs what `now` returned
   * @returns {Decision}
   */
  decideKnown(method, a, b, c, tierId, cost, tier, nowMs) {
    const path = this.#path;
    const outcome = path.askKnown(verb[method], this.ready, a, b, c, tierId, cost, nowMs);
    return this.#decision(outcome, nowMs, tier);
  }

  /**
   * The time. A clock of the caller's may do anything, even change the policies or dispose of the limiter: whatever a
   * decision is made of is looked up after it.
   * @param {string} method
   * @param {string} owner
   */
  now(method, owner) {
    const nowMs = this.#clock.now();
    if (this.handle === 0) this.alive(method, owner);
    return nowMs;
  }

  /**
   * @param {number} outcome
   * @param {number} nowMs
   * @param {string | null | undefined} tier
   * @returns {Decision}
   */
  #decision(outcome, nowMs, tier) {
    if (outcome < 0) throw this.#failure(outcome, nowMs);
    const path = this.#path;
    return path.answer(outcome === status.admitted, tier ?? this.#tierName(path.answeredTier()));
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
  #failure(outcome, nowMs) {
    if (outcome === status.clock) return new ClockError(nowMs, this.#path.touchedMs());
    if (outcome === status.outOfMemory) {
      return new RangeError('so many clients at a time do not fit the memory that can be had');
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
      'the first decision draws random bytes, which this runtime refuses here; in a worker, decide inside a handler, ' +
        'not at module scope (or pass a seed)',
      { cause: error },
    );
  }
}
