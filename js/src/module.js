/**
 * The WebAssembly module with its embind surface, without the wrapper.
 * @module
 */

import { compiled } from '#core';

import { instantiate } from './core.js';

/** @typedef {import('./core.js').CoreModule} CoreModule */

/**
 * Makes an instance of the module, a new one each time, synchronously. Its memory is its own.
 *
 * @returns {CoreModule}
 * @example
 * const { TierLimiter } = createModule();
 * const limiter = new TierLimiter('{"default": {"capacity": 5, "refillPerSecond": 1}}');
 */
export const createModule = () => instantiate(compiled());
