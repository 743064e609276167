/**
 * One client of a limiter, for whoever asks for the same one again and again.
 * @module
 */

import { checkCost, checkKnownOptions } from './arguments.js';

/** @import { Decider } from './decider.js' */
/** @import { ClientCheckOptions, Decision } from './types.js' */

const owner = 'a client of a TierLimiter';

/**
 * One client of a limiter: a connection that lives for long, say, and asks for each of its messages. The same answers
 * as from the limiter by the client's name, at a fraction of the time, since the name is looked at only once.
 *
 * It refers to the client, not to its bucket: it stays good while the table grows and buckets are forgotten, and
 * follows every change of policies and of the client's tier. It holds no memory outside of JavaScript's heap and needs
 * no disposal.
 *
 * @example
 * const client = limiter.client('acme');
 * socket.on('message', () => {
 *   if (!client.allow()) socket.send('slow down');
 * });
 */
export class Client {
  #decider;
  #id;
  #tier;
  // What stands for the name and for the tier in the core, the latter until the next document.
  #a = 0;
  #b = 0;
  #c = 0;
  #tierId = 0;
  #tierRevision = -1;

  /**
   * @param {Decider} decider
   * @param {string} id
   * @param {string | null} tier
   */
  constructor(decider, id, tier) {
    this.#decider = decider;
    this.#id = id;
    this.#tier = tier;
  }

  /** The client's name. */
  get id() {
    Client.#own(this, 'id');
    return this.#id;
  }

  /** The tier that each call asks for; null: the client's own. */
  get tier() {
    Client.#own(this, 'tier');
    return this.#tier;
  }

  /**
   * Whether the client may spend `cost` tokens now. They are spent if so.
   *
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @returns {boolean}
   * @throws {ClockError | TypeError | RangeError} as `TierLimiter.allow`
   */
  allow(cost = 1) {
    if (!(#decider in Object(this)) || this.#decider.ready === 0) Client.#prepare(this, 'allow');
    if (cost !== 1) checkCost(cost);
    const decider = this.#decider;
    const nowMs = decider.now('allow', owner);
    if (this.#tierRevision !== decider.tierRevision) this.#lookUp();
    return decider.allowKnown(this.#a, this.#b, this.#c, this.#tierId, cost, nowMs);
  }

  /**
   * Like `allow`, with the whole answer.
   *
   * @param {ClientCheckOptions} [options]
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError} as `TierLimiter.allow`
   */
  check(options = undefined) {
    return Client.#decide(this, 'check', options);
  }

  /**
   * Whether `check` would admit the cost now. Nothing is spent and nothing is stored.
   *
   * @param {ClientCheckOptions} [options]
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError} as `TierLimiter.allow`
   */
  peek(options = undefined) {
    return Client.#decide(this, 'peek', options);
  }

  /**
   * @param {Client} client
   * @param {'check' | 'peek'} method
   * @param {ClientCheckOptions | undefined} options
   */
  static #decide(client, method, options) {
    Client.#prepare(client, method);
    if (options !== undefined) checkKnownOptions(options);
    const cost = options?.cost === undefined ? 1 : options.cost;
    checkCost(cost);
    const decider = client.#decider;
    const nowMs = decider.now(method, owner);
    if (client.#tierRevision !== decider.tierRevision) client.#lookUp();
    const tier = client.#tier;
    const tierId = client.#tierId;
    return decider.decideKnown(method, client.#a, client.#b, client.#c, tierId, cost, tier, nowMs);
  }

  /**
   * @param {Client} client
   * @param {string} method
   */
  static #own(client, method) {
    if (!(#decider in Object(client))) throw new TypeError(`${method} must be called on ${owner}`);
  }

  /**
   * For a decision.
   * @param {Client} client
   * @param {string} method
   */
  static #prepare(client, method) {
    Client.#own(client, method);
    client.#decider.prepare(method, owner);
  }

  #lookUp() {
    const decider = this.#decider;
    if (this.#tierRevision < 0) {
      const { a, b, c } = decider.fingerprint(this.#id);
      this.#a = a;
      this.#b = b;
      this.#c = c;
    }
    this.#tierId = decider.tierId(this.#tier);
    this.#tierRevision = decider.tierRevision;
  }
}
