/**
 * The limiter without the module's bytes, for those who bring the module themselves.
 * @module
 */

import { coreFrom } from './core.js';
import { forIsolate } from './isolate.js';
import { Limiter } from './limiter.js';

export { ClockError, PolicyError } from './errors.js';

/** @import { LimiterOptions } from './types.js' */
/**
 * What `tierlimit` exports under the name TierLimiter, over another module.
 *
 * @typedef {{
 *   new (options: LimiterOptions): Limiter,
 *   prototype: Limiter,
 *   forIsolate(name: string, options: LimiterOptions): Limiter,
 * }} LimiterClass
 */

/**
 * The limiter over a module that is given.
 *
 * @param {WebAssembly.Module | ArrayBuffer | ArrayBufferView} module `tierlimit/core.wasm`, compiled; or its bytes where
 *   compiling is allowed
 * @returns {{ TierLimiter: LimiterClass }}
 * @throws {TypeError} for anything else; a Response or a promise is to be compiled first
 *   (`await WebAssembly.compileStreaming(fetch(url))`)
 * @example
 * import module from 'tierlimit/core.wasm';
 * const { TierLimiter } = withModule(module);
 */
export function withModule(module) {
  let core = coreFrom(module);

  /** @inheritdoc */
  class TierLimiter extends Limiter {
    /** @param {LimiterOptions} options */
    constructor(options) {
      if (core.module.broken) core = coreFrom(module);
      super(core, options);
    }

    /**
     * This isolate's limiter of that name, made at first use.
     * @param {string} name
     * @param {LimiterOptions} options
     * @returns {TierLimiter}
     */
    static forIsolate(name, options) {
      return forIsolate(name, options, (first) => new this(first));
    }
  }

  return { TierLimiter };
}
