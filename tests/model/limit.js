// A limit's capacity and rate as they are in force: exact where that fits 63-bit counting, else rounded by rule.
import { nearestDouble, roundingInterval } from './double.js';
import { closestBelow, simplestIn } from './fractions.js';
import { gcd, ONE, Rational } from './rational.js';

const MAX = 2n ** 63n - 1n;
const MICROS_PER_SECOND = new Rational(1_000_000n);
const TOLERANCE = new Rational(1n, 2n ** 32n);

/**
 * @typedef {object} Limit
 * @property {Rational} capacity tokens, as in force
 * @property {Rational} rate tokens per microsecond, as in force
 * @property {bigint} unit balances are whole multiples of 1/unit tokens
 * @property {number} configured the capacity as configured
 * @property {'exact' | 'simplest' | 'below'} rateStep which rule gave the rate
 * @property {boolean} capacityRounded
 */

/** The least whole number that makes capacity and rate whole, if the three products can be counted; else null. */
function unitFor(capacity, rate) {
  const unit = (capacity.den / gcd(capacity.den, rate.den)) * rate.den;
  const scale = new Rational(unit);
  const numbers = [unit, rate.times(scale).num, capacity.times(scale).num];
  return numbers.every((number) => number <= MAX) ? unit : null;
}

/** The first of the three rates for a capacity that fits, or null. */
function rateFor(capacity, perSecond) {
  const exact = perSecond.over(MICROS_PER_SECOND);
  if (unitFor(capacity, exact) !== null) return { rate: exact, rateStep: 'exact' };

  const double = nearestDouble(perSecond);
  if (double !== Infinity) {
    const { low, high } = roundingInterval(double);
    const simplest = simplestIn(low.over(MICROS_PER_SECOND), high.over(MICROS_PER_SECOND));
    const isStopped = simplest.isZero() && !exact.isZero(); // a rate above zero stays above zero
    if (!isStopped && unitFor(capacity, simplest) !== null)
      return { rate: simplest, rateStep: 'simplest' };
  }

  const maxDen = MAX / capacity.num;
  if (maxDen === 0n) return null;
  const den = new Rational(capacity.den);
  const below = closestBelow(exact.times(den), MAX, maxDen).over(den);
  if (exact.minus(below).isMore(exact.times(TOLERANCE))) return null;
  return { rate: below, rateStep: 'below' };
}

/**
 * @param {Rational} capacity tokens, at least 1
 * @param {Rational} perSecond tokens per second, at least 0
 * @returns {Limit | null} null when nothing close enough can be counted
 */
export function makeLimit(capacity, perSecond) {
  const configured = nearestDouble(capacity);
  const { low, high } = roundingInterval(configured);
  const simplest = simplestIn(low, high);
  for (const candidate of simplest.isLess(ONE) ? [capacity] : [capacity, simplest]) {
    const found = rateFor(candidate, perSecond);
    if (!found) continue;
    return {
      capacity: candidate,
      ...found,
      unit: unitFor(candidate, found.rate),
      configured,
      capacityRounded: !candidate.isEqual(capacity),
    };
  }
  return null;
}
