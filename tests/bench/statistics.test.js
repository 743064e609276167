import assert from 'node:assert/strict';
import { test } from 'node:test';

import { median, quantile, ratio, summary } from './statistics.js';

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
