// Random numbers that a seed repeats: sfc32 by Chris Doty-Humphrey, which needs only 32-bit integers.

export class Random {
  #a = 0;
  #b;
  #c = 0;
  #counter = 1;

  /** @param {number} seed */
  constructor(seed) {
    this.#b = seed | 0;
    for (let i = 0; i < 15; i += 1) this.bits();
  }

  /** 32 random bits, as a whole number from 0. */
  bits() {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 to below 1. */
  fraction() {
    return this.bits() / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low, high) {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** True this often. */
  chance(probability) {
    return this.fraction() < probability;
  }

  /** One of several. */
  pick(items) {
    return items[this.whole(0, items.length - 1)];
  }

  /** One of several by weight: `[[weight, item], …]`. */
  weighted(choices) {
    let at = this.fraction() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of choices) {
      at -= weight;
      if (at < 0) return item;
    }
    return choices.at(-1)[1];
  }

  /** Decimal digits. */
  digits(count) {
    let text = '';
    while (text.length < count) text += this.whole(0, 9);
    return text;
  }
}
