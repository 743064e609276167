// An exact fraction over BigInt, always in lowest terms with a denominator above zero.

/** Greatest common divisor of two numbers that are not negative. */
export function gcd(a, b) {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

export class Rational {
  /**
   * @param {bigint | number} num
   * @param {bigint | number} [den] not zero
   */
  constructor(num, den = 1n) {
    num = BigInt(num);
    den = BigInt(den);
    if (den === 0n) throw new RangeError(`${num}/0 is not a fraction`);
    if (den < 0n) [num, den] = [-num, -den];
    const common = den === 1n ? 1n : gcd(num < 0n ? -num : num, den);
    this.num = num / common;
    this.den = den / common;
  }

  /** The number that a decimal text says, as JSON spells numbers: `-0`, `12`, `0.5`, `1.5E-7`. */
  static fromDecimal(text) {
    const match = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
    if (!match) throw new SyntaxError(`${JSON.stringify(text)} is not a JSON number`);
    const [, sign, whole, fraction = '', exponentText = '0'] = match;
    const digits = BigInt(sign + whole + fraction);
    const exponent = BigInt(exponentText) - BigInt(fraction.length);
    return exponent < 0n
      ? new Rational(digits, 10n ** -exponent)
      : new Rational(digits * 10n ** exponent);
  }

  plus(other) {
    return new Rational(this.num * other.den + other.num * this.den, this.den * other.den);
  }

  minus(other) {
    return new Rational(this.num * other.den - other.num * this.den, this.den * other.den);
  }

  times(other) {
    return new Rational(this.num * other.num, this.den * other.den);
  }

  over(other) {
    return new Rational(this.num * other.den, this.den * other.num);
  }

  /** Below zero, zero or above zero, as this is less than, equal to or greater than `other`. */
  compare(other) {
    const difference = this.num * other.den - other.num * this.den;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }

  isLess(other) {
    return this.compare(other) < 0;
  }

  isMore(other) {
    return this.compare(other) > 0;
  }

  isEqual(other) {
    return this.num === other.num && this.den === other.den;
  }

  isZero() {
    return this.num === 0n;
  }

  /** The greatest whole number that is not above. */
  floor() {
    const quotient = this.num / this.den;
    return this.num < 0n && quotient * this.den !== this.num ? quotient - 1n : quotient;
  }

  /** The least whole number that is not below. */
  ceil() {
    return -new Rational(-this.num, this.den).floor();
  }

  toString() {
    return this.den === 1n ? `${this.num}` : `${this.num}/${this.den}`;
  }
}

export const ZERO = new Rational(0n);
export const ONE = new Rational(1n);

/** The lesser of two. */
export function least(a, b) {
  return b.isLess(a) ? b : a;
}
