// IEEE 754 doubles seen as exact fractions.
import { Rational, ZERO } from './rational.js';

const SIGNIFICAND_BITS = 53;
const LEAST_EXPONENT = -1074; // of the last bit of the smallest doubles
const view = new DataView(new ArrayBuffer(8));

/** The 64 bits of a double as 16 hexadecimal digits. */
export function bitsOf(number) {
  view.setFloat64(0, number);
  return view.getBigUint64(0).toString(16).padStart(16, '0');
}

/** The double of 16 hexadecimal digits. */
export function fromBits(hex) {
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
}

function powerOfTwo(exponent) {
  return exponent < 0
    ? new Rational(1n, 2n ** BigInt(-exponent))
    : new Rational(2n ** BigInt(exponent));
}

/** What a finite double is, exactly. */
export function exactly(number) {
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const exponentField = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const significand = exponentField === 0 ? fraction : fraction | (1n << 52n);
  const exponent = Math.max(exponentField, 1) - 1 + LEAST_EXPONENT;
  const magnitude = new Rational(significand).times(powerOfTwo(exponent));
  return bits >> 63n ? ZERO.minus(magnitude) : magnitude;
}

/** The double nearest to a fraction that is not negative, ties to the even one; Infinity beyond the range. */
export function nearestDouble(fraction) {
  if (fraction.isZero()) return 0;
  // Scale so that the whole part has 53 bits, or fewer where doubles are subnormal.
  const bitLength = (n) => n.toString(2).length;
  let exponent = bitLength(fraction.num) - bitLength(fraction.den) - SIGNIFICAND_BITS;
  exponent = Math.max(exponent, LEAST_EXPONENT);
  if (fraction.over(powerOfTwo(exponent)).floor() >= 2n ** BigInt(SIGNIFICAND_BITS)) exponent += 1;
  const scaled = fraction.over(powerOfTwo(exponent));
  let significand = scaled.floor();
  const twiceRest = scaled.minus(new Rational(significand)).times(new Rational(2n));
  const side = twiceRest.compare(new Rational(1n));
  if (side > 0 || (side === 0 && significand % 2n === 1n)) significand += 1n;
  return Number(significand) * 2 ** exponent;
}

/**
 * The closed interval of the numbers that lie no further from a double than half way to its neighbours.
 * @param {number} number finite, not negative
 * @returns {{ low: Rational, high: Rational }}
 */
export function roundingInterval(number) {
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const neighbour = (neighbourBits) => {
    view.setBigUint64(0, neighbourBits);
    const value = view.getFloat64(0);
    return value === Infinity ? powerOfTwo(1024) : exactly(value);
  };
  const above = neighbour(bits + 1n);
  const below = bits === 0n ? ZERO.minus(above) : neighbour(bits - 1n);
  const half = new Rational(1n, 2n);
  const here = exactly(number);
  return { low: here.plus(below).times(half), high: here.plus(above).times(half) };
}

/** The nearest whole number, ties to even, as C's rint has it. */
export function roundToEven(number) {
  const magnitude = Math.abs(number);
  let whole = Math.floor(magnitude);
  const rest = magnitude - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) whole += 1;
  return number < 0 ? -whole : whole;
}
