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
 * The summary of the quotients of what was measured side by side.
 * @param {ArrayLike<number>} values
 * @param {ArrayLike<number>} against as many
 */
export const ratio = (values, against) =>
  summary(Array.from(values, (value, i) => value / against[i]));
