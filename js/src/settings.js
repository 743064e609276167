/**
 * The options of a limiter, checked.
 * @module
 */

import { checkNames, checkWhole } from './arguments.js';
import { check, checkNumber, show } from './errors.js';

/** @import { TierLimiterOptions } from './types.js' */

/** What a limiter that is restored may be told too. */
export const restoreOptions = [
  ...['now', 'onClockBackward', 'maxClients', 'maxBytes'],
  ...['onFull', 'strict', 'sweep'],
];
const names = ['policies', 'seed', ...restoreOptions];

export const seedBytes = 16;

/**
 * All options but the policies, checked; returned is what holds for the limiter's lifetime.
 * @param {TierLimiterOptions} options
 */
export function settings(options) {
  checkNames(options, names);
  const given = /** @type {Record<string, any>} */ (options);
  /** @type {(name: string, fallback: number, least: number, most: number) => number} */
  const whole = (name, fallback, least, most) => {
    const { [name]: value = fallback } = given;
    checkWhole(name, value, least, most);
    return value;
  };
  /** @type {<T>(name: string, fallback: T, other: T) => T} */
  const choice = (name, fallback, other) => {
    const { [name]: value = fallback } = given;
    const isOne = value === fallback || value === other;
    check(isOne, name, `${show(fallback)} or ${show(other)}`, value);
    return value;
  };
  const { now, seed } = options;
  const isClock = now === undefined || typeof now === 'function';
  check(isClock, 'now', 'a function that returns milliseconds', now);
  if (seed !== undefined) {
    check(seed instanceof Uint8Array, 'seed', 'a Uint8Array', seed);
    checkNumber(seed.length === seedBytes, 'seed', `of ${seedBytes} bytes`, seed.length);
  }
  return Object.freeze({
    // The runtime's clock is the time of day in some workers, and that may be set back.
    hold: choice('onClockBackward', 'throw', 'hold') === 'hold' || now === undefined,
    maxClients: whole('maxClients', 262_144, 8, 2 ** 27),
    maxBytes: whole('maxBytes', 48 * 2 ** 20, 1024, 2 ** 32),
    onFull: choice('onFull', 'evict', 'deny'),
    strict: choice('strict', false, true),
    sweep: choice('sweep', true, false),
    seed: seed?.join(),
  });
}
