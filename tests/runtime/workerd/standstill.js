// Case 17: what a bucket of 20 admits of fifty requests while the clock stands still.
import assert from 'node:assert/strict';

/**
 * @typedef {object} Fifty what workers/clock.js tells
 * @property {number} before the clock's reading
 * @property {number} after
 * @property {import('tierlimit').Decision[]} decisions
 */

/** @param {Fifty} fifty */
export function assertStandstill({ before, after, decisions }) {
  assert.equal(after, before, 'the clock stood still');
  const admitted = decisions.map(({ allowed }) => allowed);
  assert.deepEqual(
    admitted,
    Array.from({ length: 50 }, (_, i) => i < 20),
  );
  for (const { reason, retryAfterMs } of decisions.slice(20)) {
    assert.deepEqual([reason, retryAfterMs], ['exhausted', 0.001]);
  }
}
