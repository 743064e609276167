/**
 * The time that decisions are made by.
 * @module
 */

import { checkNumber } from './errors.js';

/**
 * The runtime's monotonic clock in milliseconds; in workers that have none, the time of day.
 * @returns {number}
 */
export function systemNow() {
  return globalThis.performance === undefined ? Date.now() : performance.now();
}

/** Readings of a clock, checked. */
export class Clock {
  #read;
  #hold;
  #highest = -Infinity;

  /** How many readings were lower than one before and were held. */
  regressions = 0;

  /**
   * @param {() => unknown} read milliseconds
   * @param {boolean} hold whether a reading below the highest one gives that one instead
   */
  constructor(read, hold) {
    this.#read = read;
    this.#hold = hold;
  }

  /** @returns {number} milliseconds; finite, and within 2^53 microseconds of zero */
  now() {
    const read = this.#read;
    const reading = /** @type {number} */ (read());
    if (typeof reading !== 'number' || !(Math.abs(reading * 1000) <= 2 ** 53)) {
      const rule = 'milliseconds within 2^53 microseconds of 0';
      checkNumber(false, 'what now() returns', rule, reading);
    }
    if (!this.#hold) return reading;
    if (reading < this.#highest) {
      this.regressions += 1;
      return this.#highest;
    }
    this.#highest = reading;
    return reading;
  }
}
