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
 * @typedef {import('./types.js').CheckOptions} CheckOptions
 * @typedef {import('./types.js').ClientCheckOptions} ClientCheckOptions
 * @typedef {import('./types.js').Decision} Decision
 * @typedef {import('./types.js').Policies} Policies
 * @typedef {import('./types.js').Policy} Policy
 * @typedef {import('./types.js').PolicyProblem} PolicyProblem
 * @typedef {import('./types.js').PolicyReport} PolicyReport
 * @typedef {import('./types.js').Refill} Refill
 * @typedef {import('./types.js').TierLimiterOptions} TierLimiterOptions
 * @typedef {import('./types.js').TierLimiterStats} TierLimiterStats
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
