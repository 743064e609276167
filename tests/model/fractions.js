// Fractions close to a number under a bound.
import { ONE, Rational, ZERO } from './rational.js';

/**
 * The fraction of least denominator, and among those of least numerator, in the closed interval from `low` to `high`.
 * An interval that holds zero gives zero.
 */
export function simplestIn(low, high) {
  if (low.num <= 0n) return ZERO;
  const whole = new Rational(low.ceil());
  if (!whole.isMore(high)) return whole;
  // No whole number inside: both ends share their whole part, and what follows it is one over something simplest.
  const below = new Rational(low.floor());
  const rest = simplestIn(ONE.over(high.minus(below)), ONE.over(low.minus(below)));
  return below.plus(ONE.over(rest));
}

/**
 * The largest fraction that is not above `target` with a numerator up to `maxNum` and a denominator up to `maxDen`.
 *
 * Walks the Stern-Brocot tree: every fraction strictly between two neighbours of the tree has at least the sum of their
 * numerators and the sum of their denominators, so the walk may stop as soon as that sum is out of bounds.
 * @param {Rational} target not negative
 * @param {bigint} maxNum at least 0
 * @param {bigint} maxDen at least 1
 */
export function closestBelow(target, maxNum, maxDen) {
  let [lowNum, lowDen] = [0n, 1n]; // not above the target
  let [highNum, highDen] = [1n, 0n]; // above it
  for (;;) {
    // How far each end is from the target, times the same positive number.
    const lowGap = target.num * lowDen - lowNum * target.den;
    const highGap = highNum * target.den - target.num * highDen;

    // Take the low end towards the high one: as often as it stays at or below the target and within bounds.
    let steps = lowGap / highGap;
    if (highNum > 0n) steps = min(steps, (maxNum - lowNum) / highNum);
    if (highDen > 0n) steps = min(steps, (maxDen - lowDen) / highDen);
    lowNum += steps * highNum;
    lowDen += steps * highDen;
    const gap = lowGap - steps * highGap;
    if (gap === 0n) break;
    if (lowNum + highNum > maxNum || lowDen + highDen > maxDen) break;

    // Take the high end towards the low one: as often as it stays above the target.
    const back = (highGap - 1n) / gap;
    highNum += back * lowNum;
    highDen += back * lowDen;
  }
  return new Rational(lowNum, lowDen);
}

function min(a, b) {
  return a < b ? a : b;
}
