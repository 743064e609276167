/**
 * How values are distributed.
 * @module
 */

/** Counts of values by their upper bounds. */
export class Distribution {
  sum = 0;
  count = 0;

  /** @param {readonly number[]} bounds ascending; a value that is a bound counts below it */
  constructor(bounds) {
    this.bounds = bounds;
    /** Of each bound, and at the end of what is above all of them. @type {number[]} */
    this.counts = Array(bounds.length + 1).fill(0);
  }

  /** @param {number} value */
  add(value) {
    let index = 0;
    while (value > this.bounds[index]) index += 1;
    this.counts[index] += 1;
    this.sum += value;
    this.count += 1;
  }
}
