/**
 * Token-bucket rate limiting for edge workers and Node: per-client buckets, tiers, and policies that change while it
 * runs.
 * @module
 */

import { sharedCore } from './core/shared.js';
import { TierLimiter as Limiter, coreOf } from './limiter.js';

export { ClockError, PolicyError } from './errors.js';

/**
 * @typedef {import('./client.js').Client} Client
 * @typedef {import('./reservation.js').Reservation} Reservation
 * @typedef {import('./types.js').Accrual} Accrual
 * @typedef {import('./types.js').CheckOptions} CheckOptions
 * @typedef {import('./types.js').ClientCheckOptions} ClientCheckOptions
 * @typedef {import('./types.js').ClientReserveOptions} ClientReserveOptions
 * @typedef {import('./types.js').Decision} Decision
 * @typedef {import('./types.js').Limit} Limit
 * @typedef {import('./types.js').LimitDecision} LimitDecision
 * @typedef {import('./types.js').LimitName} LimitName
 * @typedef {import('./types.js').OnRaise} OnRaise
 * @typedef {import('./types.js').Policies} Policies
 * @typedef {import('./types.js').Policy} Policy
 * @typedef {import('./types.js').PolicyProblem} PolicyProblem
 * @typedef {import('./types.js').PolicyReport} PolicyReport
 * @typedef {import('./types.js').Refill} Refill
 * @typedef {import('./types.js').ReserveOptions} ReserveOptions
 * @typedef {import('./types.js').RestoreOptions} RestoreOptions
 * @typedef {import('./types.js').SetTierOptions} SetTierOptions
 * @typedef {import('./types.js').Settlement} Settlement
 * @typedef {import('./types.js').SeveralLimits} SeveralLimits
 * @typedef {import('./types.js').ShadowCount} ShadowCount
 * @typedef {import('./types.js').TierLimiterOptions} TierLimiterOptions
 * @typedef {import('./types.js').TierLimiterStats} TierLimiterStats
 * @typedef {import('./types.js').TokenBucket} TokenBucket
 * @typedef {import('./types.js').Window} Window
 */

/**
 * Decides for every client whether a request may proceed: a token bucket for each, by tiers whose policies may change
 * while it runs. One limiter keeps the state of one isolate. It is made synchronously in every runtime; nothing is read,
 * drawn or started by importing the package or by making one. All limiters of an isolate share one instance of the
 * WebAssembly module, which is made with the first of them.
 *
 * @example
 * import { TierLimiter } from 'tierlimit';
 *
 * const limiter = new TierLimiter({
 *   policies: { default: { capacity: 5, refillPerSecond: 1 } },
 * });
 * limiter.allow('acme'); // true, five times; then false for a second
 */
export class TierLimiter extends Limiter {
  /** @internal */
  [coreOf]() {
    return sharedCore();
  }
}
