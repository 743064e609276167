// Medians and quartiles.

/**
 * The value below which a part of the values lies, between neighbours by proportion.
 * @param {ArrayLike<number>} sorted ascending, not empty
 * @param {number} part from 0 to 1
 */
export function quantile(sorted, part) {
  const at = (sorted.length - 1) * part;
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/** @param {ArrayLike<number>} values */
export const median = (values) => summary(values).median;

/**
 * @typedef {{ median: number, low: number, high: number }} Summary the median and the quartiles around it
 * @param {ArrayLike<number>} values not empty
 * @returns {Summary}
 */
export function summary(values) {
  const sorted = Float64Array.from(values).sort();
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
  };
}

/**
 * Where the median lies of what the values are a sample of, with a certainty of at least 95%: between two of them, as
 * many places from either end as half of all would be above or below it by chance. Nothing is taken for granted of how
 * they are spread.
 * @param {ArrayLike<number>} values at least 6
 * @returns {{ low: number, high: number }}
 */
export function medianInterval(values) {
  const sorted = Float64Array.from(values).sort();
  const count = sorted.length;
  if (count < 6) throw new RangeError(`${count} values: below 6 there is no such interval`);
  // Of so many tosses of a coin at most `place` heads, which happens with this probability.
  let place = -1;
  let term = 2 ** -count;
  for (let sum = term; sum <= 0.025; sum += term) {
    place += 1;
    term *= (count - place) / (place + 1);
  }
  return { low: sorted[place], high: sorted[count - 1 - place] };
}

/**
 * The summary of the quotients of what was measured side by side.
 * @param {ArrayLike<number>} values
 * @param {ArrayLike<number>} against as many
 */
export const ratio = (values, against) =>
  summary(Array.from(values, (value, i) => value / against[i]));
