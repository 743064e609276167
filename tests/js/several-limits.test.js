// Policies of several limits, judged together: all of them are charged, or none is.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createModule } from 'tierlimit/module';

import { clocked, seed } from './support/limiter.js';

const A = { name: 'A', capacity: 10, refill: { tokens: 10, seconds: 60 } };
const B = { name: 'B', capacity: 30, refill: { tokens: 30, seconds: 1800 } };

/** @param {...object} limits */
const together = (...limits) => ({ default: { limits } });

/** What is left of each limit, by its name. */
const left = ({ limits }) =>
  Object.fromEntries(limits.map(({ name, remaining }) => [name, remaining]));

for (const [order, limits] of Object.entries({ 'A, B': [A, B], 'B, A': [B, A] })) {
  test(`case 12: what one limit denies the other is not charged for: ${order}`, () => {
    const { take } = clocked(together(...limits));
    let allowed = 0;
    for (let i = 0; i < 31; i += 1) {
      const before = left(take.peek('k', i * 64));
      const decision = take('k', i * 64);
      if (decision.allowed) allowed += 1;
      else assert.deepEqual(left(decision), before);
    }
    assert.equal(allowed, 10);
    assert.deepEqual(left(take.peek('k', 1984)), { A: 0, B: 20 });
  });
}

test('a denied request names the limit with the longest wait, whatever their order', () => {
  const slow = { name: 'slow', capacity: 4, refillPerSecond: 0.5 };
  const fast = { name: 'fast', capacity: 4, refillPerSecond: 4 };
  for (const limits of [
    [slow, fast],
    [fast, slow],
  ]) {
    const { take } = clocked(together(...limits));
    assert.equal(take('k', 0, 4).allowed, true);
    const { limits: each, ...binding } = take('k', 0, 2);
    assert.deepEqual(binding, {
      allowed: false,
      limit: 4,
      remaining: 0,
      retryAfterMs: 4000,
      resetMs: 8000,
      windowMs: 8000,
      tier: null,
      limitName: 'slow',
      reason: 'exhausted',
      fallback: 'no-tier',
    });
    assert.deepEqual(
      each,
      limits.map(({ name }) => ({
        name,
        limit: 4,
        remaining: 0,
        retryAfterMs: name === 'slow' ? 4000 : 500,
        resetMs: name === 'slow' ? 8000 : 1000,
        windowMs: name === 'slow' ? 8000 : 1000,
        moreAfterMs: name === 'slow' ? 2000 : 250,
      })),
    );
    // Obeying is enough, and a microsecond less is not.
    assert.equal(take.peek('k', 3999.999, 2).allowed, false);
    assert.equal(take('k', 4000, 2).allowed, true);
  }
});

test('an admitted request names the limit with the least left for its capacity, the first of equals', () => {
  const small = { name: 'small', capacity: 10, refillPerSecond: 0 };
  const large = { name: 'large', capacity: 100, refillPerSecond: 0 };
  for (const limits of [
    [small, large],
    [large, small],
  ]) {
    const { take } = clocked(together(...limits));
    // 9 of 10 against 99 of 100.
    const decision = take('k', 0);
    assert.deepEqual([decision.limitName, decision.limit, decision.remaining], ['small', 10, 9]);
    // Untouched they are equal.
    assert.equal(take.peek('new', 0).limitName, limits[0].name);
  }
});

test('a limit that can never admit goes before all waits', () => {
  const never = { name: 'never', capacity: 3, refillPerSecond: 0 };
  const small = { name: 'small', capacity: 2, refillPerSecond: 1e-3 };
  const { take } = clocked(together(small, never));
  take('k', 0, 2);
  const exhausted = take('k', 0, 2);
  assert.deepEqual(
    [exhausted.limitName, exhausted.reason, exhausted.retryAfterMs],
    ['never', 'never-refills', null],
  );
  assert.deepEqual(
    exhausted.limits.map(({ retryAfterMs }) => retryAfterMs),
    [2e6, null],
  );
  const tooMuch = take('k', 0, 4);
  assert.deepEqual([tooMuch.limitName, tooMuch.reason], ['small', 'cost-exceeds-capacity']);
});

test('a policy of one limit has that one in `limits`, by its name or as main', () => {
  const { take } = clocked({
    default: { capacity: 5, refillPerSecond: 1 },
    tiers: { named: { limits: [{ name: 'burst', capacity: 5, refillPerSecond: 1 }] } },
  });
  for (const [tier, name] of [
    [undefined, 'main'],
    ['named', 'burst'],
  ]) {
    const decision = take('k', 0, 2, tier);
    const { limit, remaining, retryAfterMs, resetMs, windowMs } = decision;
    assert.equal(decision.limitName, name);
    assert.deepEqual(decision.limits, [
      { name, limit, remaining, retryAfterMs, resetMs, windowMs, moreAfterMs: 1000 },
    ]);
  }
});

test('a client that changes tier keeps the balance of every limit of the same name', () => {
  const limit = (name, capacity) => ({ name, capacity, refillPerSecond: 0 });
  const { limiter, take } = clocked({
    default: { capacity: 1, refillPerSecond: 0 },
    tiers: {
      basic: { limits: [limit('burst', 10), limit('daily', 100)] },
      plus: { limits: [limit('daily', 50), limit('monthly', 500), limit('burst', 20)] },
      plain: { capacity: 7, refillPerSecond: 0 },
      main: { limits: [limit('main', 9), limit('burst', 3)] },
    },
  });
  limiter.setTier('k', 'basic');
  assert.deepEqual(left(take('k', 0, 4)), { burst: 6, daily: 96 });
  limiter.setTier('k', 'plus');
  assert.deepEqual(left(take('k', 0, 1)), { daily: 49, monthly: 499, burst: 5 });
  limiter.setTier('k', 'plain');
  assert.deepEqual(left(take('k', 0, 2)), { main: 5 });
  // A plain policy's limit is the one named main.
  limiter.setTier('k', 'main');
  assert.deepEqual(left(take('k', 0, 1)), { main: 4, burst: 2 });
  limiter.setTier('k', 'basic');
  assert.deepEqual(left(take('k', 0, 1)), { burst: 1, daily: 48 });
});

test('every verb judges by all of the limits: allow, allowMany, check, peek, and a handle', () => {
  const { limiter } = clocked(together({ ...A, capacity: 3 }, { ...B, capacity: 9 }));
  const client = limiter.client('k');
  assert.deepEqual(left(client.peek()), { A: 3, B: 9 });
  assert.equal(limiter.allow('k'), true);
  assert.equal(client.allow(), true);
  assert.deepEqual(limiter.allowMany(['k', 'k', 'other']), [true, false, true]);
  assert.deepEqual(left(client.check()), { A: 0, B: 6 });
  assert.deepEqual(left(limiter.peek('other')), { A: 2, B: 8 });
  assert.deepEqual(limiter.stats().buckets, 4);
});

test('names of limits are those of the document in force', () => {
  const named = (...names) =>
    together(...names.map((name) => ({ name, capacity: 2, refillPerSecond: 0 })));
  const { limiter, take } = clocked(named('one', 'a name of many characters, 33 of them'));
  assert.deepEqual(left(take('k', 0)), { one: 1, 'a name of many characters, 33 of them': 1 });
  limiter.setPolicies(named('two', 'another name of as many characters.'));
  assert.deepEqual(left(take('k', 0)), { two: 1, 'another name of as many characters.': 1 });
  limiter.setPolicies(named('one', 'two', '3'));
  assert.deepEqual(left(take('k', 0)), { one: 0, two: 0, 3: 1 });
  // Where no bucket is of a limit any more another takes its place in memory.
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    limiter.setPolicies(named(name));
    assert.deepEqual(left(take.peek('nobody', 0)), { [name]: 2 });
  }
});

test('what was answered is a copy that later decisions do not change', () => {
  const { take } = clocked(together(A, B));
  const first = take('k', 0);
  const copy = structuredClone(first);
  take('k', 0);
  assert.deepEqual(first, copy);
  first.limits[0].remaining = 99;
  first.limits.length = 1;
  assert.deepEqual(left(take('k', 0)), { A: 7, B: 27 });
});

test('embind and the wrapper say the same of each limit', () => {
  const policies = together(B, A);
  const { take } = clocked(policies);
  const raw = new (createModule().TierLimiter)(JSON.stringify(policies));
  raw.seed(...new Uint32Array(seed.buffer));
  for (let i = 0; i < 12; i += 1) {
    const { error, ...decision } = raw.check('k', 1, i);
    assert.equal(error, null);
    assert.deepEqual(take('k', i), decision);
    const { error: none, ...peeked } = raw.peek('k', 3, i);
    assert.equal(none, null);
    assert.deepEqual(take.peek('k', i, 3), peeked);
  }
  raw.delete();
});
