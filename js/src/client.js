/**
 * One client of a limiter, for whoever asks for the same one again and again.
 * @module
 */

import { checkCost, checkNames } from './arguments.js';
import { check } from './errors.js';
import * as hotPath from './hot-path.js';

/** @import { Decider } from './decider.js' */
/** @import { Reservation } from './reservation.js' */
/** @import { ClientCheckOptions, ClientReserveOptions, Decision } from './types.js' */

/**
 * One client of a limiter: a connection that lives for long, say, and asks for each of its messages. The same answers
 * as from the limiter by the client's name, at a fraction of the time, since the name is looked at only once.
 * `TierLimiter.client` makes it.
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
   * @internal
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
    return Client.#of(this).#id;
  }

  /** The tier that each call asks for; null: the client's own at the time of the call. */
  get tier() {
    return Client.#of(this).#tier;
  }

  /**
   * Whether the client may spend `cost` tokens now. They are spent if so; a denied request is charged nothing.
   *
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @returns {boolean}
   * @throws {ClockError} when the clock reads earlier than at the client's last decision
   * @throws {TypeError | RangeError} when the cost or what `now` returns is not as it should be
   * @throws {Error} when the limiter is disposed
   * @example
   * if (!client.allow(5)) socket.close();
   */
  allow(cost = 1) {
    if (!(#decider in Object(this)) || this.#decider.ready === 0)
      Client.#of(this).#decider.prepare();
    if (cost !== 1) checkCost(cost);
    const decider = this.#decider;
    const nowMs = decider.now();
    if (this.#tierRevision !== decider.tierRevision) this.#lookUp();
    return decider.allowKnown(this.#a, this.#b, this.#c, this.#tierId, cost, nowMs);
  }

  /**
   * Like `allow`, with the whole answer. It spends, too.
   *
   * @param {ClientCheckOptions} [options] `cost` in tokens; default 1
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * const { allowed, retryAfterMs } = client.check({ cost: 5 });
   */
  check(options = undefined) {
    return Client.#decide(this, hotPath.check, options);
  }

  /**
   * Whether `check` would admit the cost now. Nothing is spent and nothing is stored.
   *
   * @param {ClientCheckOptions} [options] `cost` in tokens; default 1
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * const { remaining, limit } = client.peek();
   */
  peek(options = undefined) {
    return Client.#decide(this, hotPath.peek, options);
  }

  /**
   * Puts tokens back, for a request that turned out to cost less: as `TierLimiter.refund`.
   *
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @returns {void}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * client.refund(3);
   */
  refund(cost = 1) {
    const client = Client.#of(this);
    client.#decider.prepare();
    checkCost(cost);
    client.#decider.adjust(hotPath.refund, client.#id, cost, client.#tier);
  }

  /**
   * Spends an estimate, to be settled when the cost is known: as `TierLimiter.reserve`.
   *
   * @param {ClientReserveOptions} [options] `cost` in tokens, the estimate, and `ttlMs`; default 1 and 60,000
   * @returns {Reservation}
   * @throws {ClockError | TypeError | RangeError | Error} as `allow`
   * @example
   * const reservation = client.reserve({ cost: 500 });
   */
  reserve(options = undefined) {
    const client = Client.#of(this);
    client.#decider.prepare();
    return client.#decider.reserve(client.#id, options, ['cost', 'ttlMs'], client.#tier);
  }

  /**
   * @param {Client} client
   * @param {number} what
   * @param {ClientCheckOptions | undefined} options
   */
  static #decide(client, what, options) {
    const decider = Client.#of(client).#decider;
    decider.prepare();
    if (options !== undefined) checkNames(options, ['cost']);
    const { cost = 1 } = options ?? {};
    checkCost(cost);
    const nowMs = decider.now();
    if (client.#tierRevision !== decider.tierRevision) client.#lookUp();
    return decider.decideKnown(
      what,
      client.#a,
      client.#b,
      client.#c,
      client.#tierId,
      cost,
      client.#tier,
      nowMs,
    );
  }

  /**
   * Static, for what is called on anything else (a method pulled off its object) finds no private methods.
   * @param {Client} client
   */
  static #of(client) {
    check(#decider in Object(client), 'this', 'a client of a TierLimiter', client);
    return client;
  }

  #lookUp() {
    const decider = this.#decider;
    if (this.#tierRevision < 0) [this.#a, this.#b, this.#c] = decider.fingerprint(this.#id);
    this.#tierId = decider.tierId(this.#tier);
    this.#tierRevision = decider.tierRevision;
  }
}
