/**
 * The limiter without the module's bytes, for those who bring the module themselves.
 * @module
 */

import { coreFrom } from './core.js';
import { TierLimiter as Limiter, coreOf } from './limiter.js';

export { ClockError, PolicyError } from './errors.js';

/**
 * What `tierlimit` exports under the name TierLimiter, over another module.
 *
 * @typedef {typeof import('./limiter.js').TierLimiter} LimiterClass
 */

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
 * The limiter over a module that is given. Each call makes an instance of it, which all limiters of the class share.
 *
 * @param {object & { then?: undefined, headers?: undefined }} module a WebAssembly.Module: `tierlimit/core.wasm`, compiled; or its bytes, as an ArrayBuffer or a view
 *   of one, where compiling is allowed
 * @returns {{ TierLimiter: LimiterClass }}
 * @throws {TypeError} for anything else, and for the module of another build than this copy of the package; a Response or
 *   a promise is to be compiled first (`await WebAssembly.compileStreaming(fetch(url))`)
 * @throws {Error} for bytes where compiling is forbidden
 * @example
 * import module from 'tierlimit/core.wasm'; // where the runtime or bundler makes a WebAssembly.Module of it
 * import { withModule } from 'tierlimit/slim';
 *
 * const { TierLimiter } = withModule(module);
 */
export function withModule(module) {
  let core = coreFrom(module);

  class TierLimiter extends Limiter {
    [coreOf]() {
      if (core.module.broken) core = coreFrom(module);
      return core;
    }
  }

  return { TierLimiter };
}
