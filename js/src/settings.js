/**
 * The options of a limiter, checked.
 * @module
 */

import { show } from './errors.js';

/** @import { LimiterOptions } from './types.js' */

const defaults = Object.freeze({
  maxClients: 262_144,
  maxBytes: 48 * 2 ** 20,
  onFull: 'evict',
  strict: false,
  sweep: true,
});

const optionNames = new Set([
  'policies',
  'now',
  'onClockBackward',
  'seed',
  ...Object.keys(defaults),
]);

const largestMaxClients = 2 ** 27;
const largestMaxBytes = 2 ** 32;
export const seedBytes = 16;

/**
 * All options checked; returned are those that hold for the limiter's lifetime, with their defaults.
 * @param {LimiterOptions} options
 */
export function settings(options) {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object such as { policies }; got ${show(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`there is no option ${show(name)}`);
  }
  const {
    now,
    onClockBackward,
    onFull = defaults.onFull,
    strict = defaults.strict,
    sweep = defaults.sweep,
    seed,
  } = options;
  if (now !== undefined && typeof now !== 'function') {
    throw new TypeError(`now must be a function that returns milliseconds; got ${show(now)}`);
  }
  if (onClockBackward !== undefined && onClockBackward !== 'throw' && onClockBackward !== 'hold') {
    throw new TypeError(`onClockBackward must be 'throw' or 'hold'; got ${show(onClockBackward)}`);
  }
  if (onFull !== 'evict' && onFull !== 'deny') {
    throw new TypeError(`onFull must be 'evict' or 'deny'; got ${show(onFull)}`);
  }
  for (const [name, value] of Object.entries({ strict, sweep })) {
    if (typeof value !== 'boolean')
      throw new TypeError(`${name} must be a boolean; got ${show(value)}`);
  }
  if (seed !== undefined) {
    if (!(seed instanceof Uint8Array))
      throw new TypeError(`seed must be a Uint8Array; got ${show(seed)}`);
    if (seed.length !== seedBytes) {
      throw new RangeError(`seed must be ${seedBytes} bytes; got ${seed.length}`);
    }
  }
  return Object.freeze({
    maxClients: whole('maxClients', options.maxClients, defaults.maxClients, 8, largestMaxClients),
    maxBytes: whole('maxBytes', options.maxBytes, defaults.maxBytes, 1024, largestMaxBytes),
    onFull,
    strict,
    sweep,
    seed: seed?.join(),
  });
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} fallback
 * @param {number} least
 * @param {number} most
 * @returns {number}
 */
function whole(name, value, fallback, least, most) {
  if (value === undefined) return fallback;
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number; got ${show(value)}`);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(
      `${name} must be a whole number from ${least} to ${most}; got ${show(value)}`,
    );
  }
  return value;
}
