/** The parts of the demo's page that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { History } from '../../../js/src/demo/page/history.js';
import { balance, duration, ratePerSecond } from '../../../js/src/demo/page/words.js';

const decided = (remaining, resetMs, rest = {}) => ({
  allowed: true,
  limit: 5,
  remaining,
  resetMs,
  ...rest,
});

test('a time to wait is rounded up', () => {
  assert.equal(duration(0.001), '0.1 s');
  assert.equal(duration(2301), '2.4 s');
  assert.equal(duration(59_901), '1 min 0 s');
  assert.equal(duration(3_599_001), '1 h 0 min');
  assert.equal(duration(86_399_001), '1 d 0 h');
  assert.equal(duration(1e12), '11,574 d 2 h');
});

test('a balance is not rounded up', () => {
  assert.equal(balance(4.99, 5), '4.9');
  assert.equal(balance(999_999.9, 1e6), '999,999');
});

test('the rate is that of either spelling, or unknown', () => {
  assert.equal(ratePerSecond({ capacity: 1, refillPerSecond: 2 }), 2);
  assert.equal(ratePerSecond({ capacity: 1, refill: { tokens: 1, seconds: 4 } }), 0.25);
  assert.equal(ratePerSecond({ limits: [] }), null);
  assert.equal(ratePerSecond(undefined), null);
});

test('the balance between decisions follows from the last one', () => {
  const history = new History();
  history.add(1000, decided(3, 1500), { rate: 1, cost: 1 });
  assert.equal(history.at(1000), 3.5);
  assert.equal(history.at(2000), 4.5);
  assert.equal(history.at(9000), 5);
  assert.equal(history.untilFull(2000), 500);
  assert.equal(history.untilFull(9000), 0);
});

test('a request shows what it spent, a peek and a denial only what there is', () => {
  const history = new History();
  const balances = () => history.points.splice(0).map((point) => point.balance);
  history.add(0, decided(5, 0), { rate: 1, cost: 0 });
  assert.deepEqual([history.at(0), history.untilFull(0)], [5, 0]);
  assert.deepEqual([balances(), history.marks], [[5], []]);
  history.add(1, decided(3, 2000), { rate: 1, cost: 2 });
  assert.deepEqual([balances(), history.marks.length], [[5, 3], 1]);
  history.add(2, decided(3, 2000, { allowed: false }), { rate: 1, cost: 4 });
  assert.deepEqual([balances(), history.marks.length], [[3], 2]);
});

test('a bucket that does not refill stays as it is', () => {
  const history = new History();
  history.add(0, decided(2, null), { rate: 0, cost: 1 });
  assert.equal(history.at(1e9), 2);
  assert.equal(history.untilFull(1e9), null);
});

test('answers that overtook each other are put in order', () => {
  const history = new History();
  const about = { rate: 0, cost: 1 };
  for (const remaining of [2, 4, 3]) history.add(7, decided(remaining, null), about);
  history.add(3, decided(4, null), about);
  assert.deepEqual(
    history.marks.map(({ t, balance: tokens }) => [t, tokens]),
    [
      [3, 4],
      [7, 4],
      [7, 3],
      [7, 2],
    ],
  );
  assert.equal(history.at(8), 2);
});
