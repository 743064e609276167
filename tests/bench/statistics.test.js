import assert from 'node:assert/strict';
import { test } from 'node:test';

import { median, medianInterval, quantile, ratio, summary } from './statistics.js';

test('a quantile lies between its neighbours by proportion', () => {
  assert.equal(quantile([7], 0.9), 7);
  assert.equal(quantile([1, 2, 3, 4], 0), 1);
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.equal(quantile([1, 2, 3, 4], 1), 4);
  assert.equal(quantile([0, 10], 0.25), 2.5);
});

test('a median does not depend on the order, and leaves it', () => {
  const values = [10, 9, 100, 1];
  assert.equal(median(values), 9.5);
  assert.deepEqual(values, [10, 9, 100, 1]);
  assert.deepEqual(summary([5, 1, 2, 4, 3]), { median: 3, low: 2, high: 4 });
});

test('a ratio is that of each round, not of the medians', () => {
  // The third round was disturbed, for both alike.
  assert.deepEqual(ratio([1, 2, 300], [2, 4, 600]), { median: 0.5, low: 0.5, high: 0.5 });
  assert.equal(ratio([1, 1, 9], [1, 2, 3]).median, 1);
});

test('the interval of a median is that of the binomial distribution', () => {
  // As tables of the sign test have it: the values at these places, from 1, of so many.
  for (const [count, low, high] of [
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [20, 6, 15],
    [41, 14, 28],
    [100, 40, 61],
  ]) {
    const values = Array.from({ length: count }, (_, i) => count - i);
    assert.deepEqual(medianInterval(values), { low, high }, `${count}`);
  }
  assert.throws(() => medianInterval([1, 2, 3, 4, 5]), RangeError);
});
