/**
 * Tokens that are spent ahead, for a request whose cost is known only afterwards.
 * @module
 */

import { checkWhole } from './arguments.js';
import { check } from './errors.js';
import { settle } from './hot-path.js';

/** @import { Decider } from './decider.js' */
/** @import { Decision, Settlement } from './types.js' */

/**
 * Tokens that were spent ahead for a request whose cost is known only when it is done: a stream, say, or what a language
 * model writes. `TierLimiter.reserve` and `Client.reserve` make it.
 *
 * The estimate is charged when the reservation is made, to all limits at once or to none. `settle` charges the actual
 * cost in its place, `cancel` nothing; each reservation ends once. One that is not ended within its time to live ends by
 * itself: the estimate stays spent. There is no timer, and nothing to dispose of.
 *
 * It stays good whatever becomes of policies, of the client's tier and of its buckets: tokens are put back into those
 * limits that were charged and still judge the client, and never above their capacity.
 *
 * @example
 * const reservation = limiter.reserve('acme', { cost: 500 });
 * if (!reservation.allowed) return tooMany(reservation.decision.retryAfterMs);
 * const { usage } = await complete(prompt);
 * const { returned, debt } = reservation.settle(usage.totalTokens);
 */
export class Reservation {
  #decider;
  #client;
  #tier;
  #cost;
  #held;
  /** How it ended; empty: it has not. @type {Settlement['outcome'] | ''} */
  #end = '';

  /**
   * @internal
   * @param {Decider} decider
   * @param {string} client
   * @param {string | null | undefined} tier
   * @param {number} cost
   * @param {Decision} decision
   * @param {number} expiresAtMs
   * @param {Uint8Array} held
   */
  constructor(decider, client, tier, cost, decision, expiresAtMs, held) {
    this.#decider = decider;
    this.#client = client;
    this.#tier = tier;
    this.#cost = cost;
    this.#held = held;
    /** The decision that charged the estimate, or that denied it: as `check` answers. */
    this.decision = decision;
    /** Whether the estimate was admitted. If not nothing is held. */
    this.allowed = decision.allowed;
    /** From then on, by the limiter's clock in milliseconds, it cannot be settled any more. */
    this.expiresAtMs = expiresAtMs;
    if (!decision.allowed) this.#end = 'denied';
  }

  /**
   * Charges the actual cost in place of the estimate. Below it the rest is put back; above it each limit gives of the
   * extra what it has, in whole tokens, and what there is not is told as `debt`. Where none of the limits that were charged
   * judges the client any more, nothing is put back and nobody is charged: both are 0 then.
   *
   * @param {number} actualCost whole tokens, from 0 to 2^53-1
   * @returns {Settlement} `settled`, or why nothing has changed: `denied`, `expired`, `already-settled`,
   *   `already-cancelled`
   * @throws {ClockError} when the clock reads earlier than at the client's last decision; it can be settled later
   * @throws {TypeError | RangeError} when the cost or what `now` returns is not as it should be
   * @throws {Error} when the limiter is disposed
   * @example
   * const { returned, debt } = reservation.settle(320);
   */
  settle(actualCost) {
    const reservation = Reservation.#of(this);
    checkWhole('actualCost', actualCost, 0, Number.MAX_SAFE_INTEGER);
    return reservation.#finish(actualCost, 'settled');
  }

  /**
   * Puts all of the estimate back, for a request that was not served: `settle(0)` by another name. Where none of the
   * limits that were charged judges the client any more, `returned` is 0.
   *
   * @returns {Settlement} `cancelled`, or why nothing has changed, as of `settle`
   * @throws {ClockError | RangeError | Error} as `settle`
   * @example
   * reservation.cancel();
   */
  cancel() {
    return Reservation.#of(this).#finish(0, 'cancelled');
  }

  /**
   * @param {number} actual
   * @param {'settled' | 'cancelled'} outcome
   * @returns {Settlement}
   */
  #finish(actual, outcome) {
    this.#decider.alive();
    // A clock of the caller's may do anything, even settle this.
    const nowMs = this.#end === '' ? this.#decider.now() : 0;
    if (this.#end === '' && nowMs >= this.expiresAtMs) this.#end = 'expired';
    if (this.#end !== '') return { outcome: this.#end, returned: 0, debt: 0 };
    const rest = this.#cost - actual;
    const left =
      rest && this.#decider.adjust(settle, this.#client, actual, this.#tier, nowMs, this.#held);
    this.#end = `already-${outcome}`;
    return rest < 0
      ? { outcome, returned: 0, debt: left }
      : { outcome, returned: rest - left, debt: 0 };
  }

  /**
   * Static, for what is called on anything else (a method pulled off its object) finds no private methods.
   * @param {Reservation} reservation
   */
  static #of(reservation) {
    check(#end in Object(reservation), 'this', 'a reservation of a TierLimiter', reservation);
    return reservation;
  }
}
