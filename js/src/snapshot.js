/**
 * Snapshots on their way into the core and out of it.
 * @module
 */

import { kindOf } from './errors.js';

/** @import { CoreLimiter, CoreModule } from './core-types.js' */

/** The bytes of a snapshot, where a limiter is made of it instead of policies. */
export class Snapshot {
  #bytes;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.#bytes = bytes;
  }

  /**
   * @param {CoreModule} module
   * @param {CoreLimiter} bound that has nothing yet
   * @param {number} nowMs
   */
  restore(module, bound, nowMs) {
    // The core asks for them a piece at a time.
    module.snapshot = this.#bytes;
    const fault = bound.restore(this.#bytes.length, nowMs);
    module.snapshot = undefined;
    if (fault !== null) {
      const { length } = this.#bytes;
      throw new RangeError(
        `bytes must be a snapshot; this ${kindOf(this.#bytes)} of ${length} bytes ${fault}`,
      );
    }
  }
}

/**
 * @param {readonly Uint8Array[]} pieces
 * @returns {Uint8Array}
 */
export function joined(pieces) {
  if (pieces.length === 0) throw new Error('the limiter has nothing to be written');
  const whole = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
