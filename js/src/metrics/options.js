/**
 * The options of metrics, checked.
 * @module
 */

import { checkNames, checkWhole } from '../arguments.js';
import { check, checkNumber } from '../errors.js';

/** @import { MetricsOptions } from './types.js' */

const names = ['limiter', 'source', 'maxTiers', 'maxLimits', 'retryAfterBoundsSeconds'];

/** What clients may be told to wait, by ear: one, two and a half, five; and the units of time. */
const defaultWaitBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];

/** Where a bucket is nearly empty it matters most. */
export const defaultShareBounds = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];

/**
 * @param {MetricsOptions} options
 * @param {string[]} own names of options that only these metrics have
 */
export function checkOptions(options, own) {
  checkNames(options, [...names, ...own]);
  const { limiter, source, maxTiers = 64, maxLimits = 32 } = options;
  const { retryAfterBoundsSeconds: waitBounds = defaultWaitBounds } = options;
  const hasStats = limiter === undefined || typeof limiter?.stats === 'function';
  check(hasStats, 'limiter', 'a TierLimiter, or what has stats()', limiter);
  const hasStatus = source === undefined || typeof source?.status === 'function';
  check(hasStatus, 'source', 'a policy source, or what has status()', source);
  checkWhole('maxTiers', maxTiers, 1, 1000);
  checkWhole('maxLimits', maxLimits, 1, 1000);
  return { maxTiers, maxLimits, waitBounds: checkBounds('retryAfterBoundsSeconds', waitBounds) };
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {readonly number[] | null} a copy; null of false
 */
export function checkBounds(name, value) {
  if (value === false) return null;
  const rule = '1 to 50 ascending numbers from 0, or false';
  check(Array.isArray(value), name, rule, value);
  const isSome = value.length > 0 && value.length <= 50;
  check(isSome, name, rule, `${value.length} numbers`, RangeError);
  value.forEach((bound, index) => {
    const isBound = Number.isFinite(bound) && bound >= 0 && !(bound <= value[index - 1]);
    checkNumber(isBound, `${name}[${index}]`, 'a number from 0, above the one before it', bound);
  });
  return Object.freeze([...value]);
}
