/**
 * Token-bucket rate limiting for edge workers and Node: per-client buckets, tiers, and policies that change while it
 * runs.
 * @module
 */

import { sharedCore } from './core/shared.js';
import { forIsolate } from './isolate.js';
import { Limiter } from './limiter.js';

export { ClockError, PolicyError } from './errors.js';

/** @import { LimiterOptions } from './types.js' */
/**
 * @typedef {import('./types.js').CheckOptions} CheckOptions
 * @typedef {import('./client.js').Client} Client
 * @typedef {import('./types.js').ClientCheckOptions} ClientCheckOptions
 * @typedef {import('./types.js').Decision} Decision
 * @typedef {import('./types.js').LimiterOptions} TierLimiterOptions
 * @typedef {import('./types.js').LimiterStats} TierLimiterStats
 * @typedef {import('./types.js').Policies} Policies
 * @typedef {import('./types.js').Policy} Policy
 * @typedef {import('./types.js').PolicyProblem} PolicyProblem
 * @typedef {import('./types.js').PolicyReport} PolicyReport
 */

/** @inheritdoc */
export class TierLimiter extends Limiter {
  /**
   * Synchronous in every runtime.
   * @param {LimiterOptions} options
   */
  constructor(options) {
    super(sharedCore(), options);
  }

  /**
   * This isolate's limiter of that name, made at first use and kept on globalThis: a module that is evaluated twice (by
   * a hot reload, or in two bundles) shares its state. A later call with other policies puts them in force; with
   * another maxClients, maxBytes, onFull, strict, sweep or seed it is a RangeError. The clock is that of the first
   * call. After `dispose()` the next call makes a new one.
   *
   * @example
   * const limiter = TierLimiter.forIsolate('api', { policies });
   *
   * @param {string} name
   * @param {LimiterOptions} options
   * @returns {TierLimiter}
   */
  static forIsolate(name, options) {
    return forIsolate(name, options, (first) => new this(first));
  }
}
