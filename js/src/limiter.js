/**
 * The limiter, over whichever core it is given.
 * @module
 */

import { checkClient, checkClients, checkCost, checkOptions, checkTier } from './arguments.js';
import { Client } from './client.js';
import { Clock, systemNow } from './clock.js';
import { Decider } from './decider.js';
import { show } from './errors.js';
import { checkPoliciesFit, doesNotFit, fits, policyText, readReport } from './policy-text.js';
import { settings } from './settings.js';

/** @import { Core } from './core.js' */
/** @import { CheckOptions, Decision, LimiterOptions, LimiterStats } from './types.js' */
/** @import { Policies, PolicyReport } from './types.js' */

const owner = 'a TierLimiter';

/**
 * Whether a limiter has been disposed of, or lost with its core. A limiter of another copy of the package is for that
 * copy to say.
 * @type {(limiter: Limiter) => boolean}
 */
export let isGone;

/**
 * Decides for every client whether a request may proceed: a token bucket for each, by tiers whose policies may change
 * while it runs. One limiter keeps the state of one isolate. Nothing is read, drawn or started at construction.
 *
 * @example
 * const limiter = new TierLimiter({
 *   policies: { default: { capacity: 5, refillPerSecond: 1 } },
 * });
 * limiter.allow('acme'); // true, five times; then false for a second
 */
export class Limiter {
  #core;
  #bound;
  #decider;
  #clock;
  #settings;
  /** @type {PolicyReport} */
  #report;

  static {
    isGone = (limiter) => limiter.#decider.handle === 0 || Boolean(limiter.#core.module.broken);
  }

  /**
   * @param {Core} core
   * @param {LimiterOptions} options
   * @throws {PolicyError} when the policies are refused
   * @throws {TypeError | RangeError} when an option is; the message names it and its value
   */
  constructor(core, options) {
    this.#settings = settings(options);
    const { text, isText } = policyText(options.policies);
    const { now, onClockBackward, seed } = options;
    // The runtime's clock is the time of day in some workers, and that may be set back.
    this.#clock = new Clock(now ?? systemNow, now === undefined || onClockBackward === 'hold');
    this.#core = core;
    checkPoliciesFit(core, text);
    const { maxClients, maxBytes, onFull, strict, sweep } = this.#settings;
    this.#bound = new core.module.TierLimiter(
      text,
      maxClients,
      maxBytes,
      onFull === 'deny',
      strict,
      sweep,
    );
    try {
      this.#report = readReport(this.#bound.report(), isText);
    } catch (error) {
      this.#bound.delete();
      throw error;
    }
    this.#decider = new Decider(core, this.#bound, this.#clock);
    if (seed !== undefined) this.#decider.seed(seed);
  }

  /**
   * Whether the client may spend `cost` tokens now. They are spent if so.
   *
   * @param {string} client any string; different strings are different clients
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @param {string | null} [tier] the tier for this call alone; by default the client's own
   * @returns {boolean}
   * @throws {ClockError} when the clock reads earlier than at the client's last decision
   * @throws {TypeError | RangeError} when an argument is not as it should be
   * @example
   * if (!limiter.allow('acme', 5, 'pro')) return new Response(null, { status: 429 });
   */
  allow(client, cost = 1, tier = undefined) {
    if (!(#decider in Object(this)) || this.#decider.ready === 0) Limiter.#prepare(this, 'allow');
    if (typeof client !== 'string') checkClient(client);
    if (cost !== 1) checkCost(cost);
    return this.#decider.allow(client, cost, tier, owner);
  }

  /**
   * `allow` for each of the clients, one after the other, all at one reading of the clock. Nobody is charged when it
   * throws. Several requests of one client are as many decisions.
   *
   * @param {readonly string[]} clients
   * @param {number} [cost] of each; default 1
   * @param {string | null} [tier] of each, for this call alone; by default each client's own
   * @returns {boolean[]} in the order of the clients
   * @throws {ClockError} when the clock reads earlier than at the last decision of any of them
   * @throws {TypeError | RangeError} when an argument is not as it should be, or there is no memory for so many
   * @example
   * const admitted = limiter.allowMany(['acme', 'globex', 'acme']); // [true, true, true]
   */
  allowMany(clients, cost = 1, tier = undefined) {
    Limiter.#prepare(this, 'allowMany');
    const names = checkClients(clients);
    checkCost(cost);
    return this.#decider.allowMany(names, cost, tier, owner);
  }

  /**
   * Like `allow`, with the whole answer.
   *
   * @param {string} client
   * @param {CheckOptions} [options]
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError} as `allow`
   * @example
   * const decision = limiter.check('acme', { cost: 5 });
   * if (!decision.allowed) console.log(`come back in ${decision.retryAfterMs} ms`);
   */
  check(client, options = undefined) {
    return Limiter.#decide(this, 'check', client, options);
  }

  /**
   * Whether `check` would admit the cost now. Nothing is spent and nothing is stored: `remaining` and `resetMs` are of
   * the bucket as it is at this moment, and the rest is what `check` would answer.
   *
   * @param {string} client
   * @param {CheckOptions} [options]
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError} as `allow`
   * @example
   * const { remaining, limit } = limiter.peek('acme');
   */
  peek(client, options = undefined) {
    return Limiter.#decide(this, 'peek', client, options);
  }

  /**
   * Puts a policy document in force. It takes effect for each client at its next decision: no balance changes by
   * itself, time since the client's last decision accrues at the new rate up to the new capacity, and what is above a
   * smaller capacity is lost. `clients` is replaced; what setTier set stays.
   *
   * @param {Policies | string} policies an object or JSON text
   * @returns {PolicyReport}
   * @throws {PolicyError} when the document is refused; the one in force stays
   * @example
   * const { rejected } = limiter.setPolicies(await readFile('policies.json', 'utf8'));
   * for (const { path, message } of rejected) console.warn(path, message);
   */
  setPolicies(policies) {
    const { text, isText } = policyText(policies);
    Limiter.#alive(this, 'setPolicies');
    checkPoliciesFit(this.#core, text);
    this.#decider.forgetTiers();
    this.#report = readReport(this.#bound.setPolicies(text), isText);
    return this.#report;
  }

  /**
   * Puts a client into a tier, before whatever the document says of it, until it is set anew. The tier need not be in
   * the document: the default judges until it is.
   *
   * @param {string} client
   * @param {string | null} tier null takes the assignment back
   * @throws {TypeError} when an argument is of another type
   * @throws {RangeError} when there is no memory for one more assignment
   * @example
   * limiter.setTier('acme', 'pro');
   */
  setTier(client, tier) {
    Limiter.#alive(this, 'setTier');
    checkClient(client);
    if (tier !== null) checkTier(tier);
    const length = client.length + (tier?.length ?? 0);
    if (!fits(this.#core, length)) throw new RangeError(doesNotFit(length));
    this.#decider.forgetTierNames();
    const error = tier === null ? this.#bound.clearTier(client) : this.#bound.setTier(client, tier);
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
    Limiter.#alive(this, 'client');
    if (typeof id !== 'string') throw new TypeError(`id must be a string; got ${show(id)}`);
    if (tier !== null) checkTier(tier);
    return new Client(this.#decider, id, tier);
  }

  /** How many policy documents have been accepted. */
  get revision() {
    Limiter.#alive(this, 'revision');
    return this.#report.revision;
  }

  /** What of the document in force was refused and is judged by the default. */
  get rejected() {
    Limiter.#alive(this, 'rejected');
    return this.#report.rejected;
  }

  /** What of the document in force is not exactly as written. */
  get warnings() {
    Limiter.#alive(this, 'warnings');
    return this.#report.warnings;
  }

  /**
   * What the limiter holds and has done.
   * @returns {LimiterStats}
   * @example
   * const { buckets, evictions, evictedTokens } = limiter.stats();
   */
  stats() {
    Limiter.#alive(this, 'stats');
    return {
      ...this.#bound.stats(),
      maxClients: this.#settings.maxClients,
      clockRegressions: this.#clock.regressions,
      revision: this.#report.revision,
    };
  }

  /** Gives the limiter's memory back. Whatever is asked of it afterwards throws, except to dispose of it again. */
  dispose() {
    if (!(#decider in Object(this))) throw new TypeError(`dispose must be called on ${owner}`);
    if (this.#decider.handle === 0) return;
    this.#decider.dispose();
    this.#bound.delete();
  }

  /**
   * @param {Limiter} limiter
   * @param {'check' | 'peek'} method
   * @param {string} client
   * @param {CheckOptions | undefined} options
   * @returns {Decision}
   */
  static #decide(limiter, method, client, options) {
    Limiter.#prepare(limiter, method);
    checkClient(client);
    if (options !== undefined) checkOptions(options);
    const cost = options?.cost === undefined ? 1 : options.cost;
    checkCost(cost);
    return limiter.#decider.decide(method, client, cost, options?.tier, owner);
  }

  // Static, for what is called on anything else than a limiter (a method pulled off its object) finds no private methods.

  /**
   * @param {Limiter} limiter
   * @param {string} method
   */
  static #alive(limiter, method) {
    if (!(#decider in Object(limiter))) throw new TypeError(`${method} must be called on ${owner}`);
    limiter.#decider.alive(method, owner);
  }

  /**
   * For a decision.
   * @param {Limiter} limiter
   * @param {string} method
   */
  static #prepare(limiter, method) {
    Limiter.#alive(limiter, method);
    limiter.#decider.prepare(method, owner);
  }
}

// `using limiter = …` where the runtime knows it.
if (Symbol.dispose !== undefined) {
  Object.defineProperty(Limiter.prototype, Symbol.dispose, {
    value: Limiter.prototype.dispose,
    configurable: true,
    writable: true,
  });
}
