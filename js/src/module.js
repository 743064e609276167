/**
 * The WebAssembly module with its embind surface, without the wrapper.
 * @module
 */

import { compiled } from '#core';

import { instantiate } from './core.js';

/**
 * @typedef {import('./core-types.js').CoreAsk} CoreAsk
 * @typedef {import('./core-types.js').CoreClearTier} CoreClearTier
 * @typedef {import('./core-types.js').CoreClient} CoreClient
 * @typedef {import('./core-types.js').CoreDecision} CoreDecision
 * @typedef {import('./core-types.js').CoreDecisionProblem} CoreDecisionProblem
 * @typedef {import('./core-types.js').CoreLimiter} CoreLimiter
 * @typedef {import('./core-types.js').CoreLimiterClass} CoreLimiterClass
 * @typedef {import('./core-types.js').CoreLimitDecision} CoreLimitDecision
 * @typedef {import('./core-types.js').CoreModule} CoreModule
 * @typedef {import('./core-types.js').CoreProblem} CoreProblem
 * @typedef {import('./core-types.js').CoreReport} CoreReport
 * @typedef {import('./core-types.js').CoreSetTier} CoreSetTier
 * @typedef {import('./core-types.js').CoreStats} CoreStats
 */

/**
 * Makes an instance of the module, a new one each time, synchronously. Its memory is its own.
 *
 * @returns {CoreModule}
 * @throws {Error} when the runtime refuses to compile WebAssembly
 * @example
 * const { TierLimiter } = createModule();
 * const limiter = new TierLimiter('{"default": {"capacity": 5, "refillPerSecond": 1}}');
 * limiter.seed(...crypto.getRandomValues(new Uint32Array(4)));
 * limiter.allow('acme', 1, performance.now()); // true
 * limiter.delete();
 */
export const createModule = () => instantiate(compiled());
