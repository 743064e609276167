// Tokens that are put back: never above a capacity, never below nothing counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';

import { clocked, notStrings, only, thrown } from './support/limiter.js';

test('a refund puts tokens back, one by default, and gives nothing else', () => {
  const { limiter, take } = clocked(only(10, 0));
  take('k', 0, 8);
  assert.equal(limiter.refund('k'), undefined);
  assert.equal(limiter.peek('k').remaining, 3);
  limiter.refund('k', 4);
  assert.equal(limiter.peek('k').remaining, 7);
  limiter.client('k').refund(2);
  limiter.client('k').refund();
  assert.equal(limiter.peek('k').remaining, 10);
  const { allowed, denied, buckets } = limiter.stats();
  assert.deepEqual([allowed, denied, buckets], [1, 0, 1]);
});

test('never above the capacity, however much is put back', () => {
  const { limiter, take } = clocked(only(10.5, 1));
  for (const cost of [1, 3, 10, 11, 1e9, Number.MAX_SAFE_INTEGER]) {
    take('k', 0, 2);
    limiter.refund('k', cost);
    assert.ok(limiter.peek('k').remaining <= 10);
    limiter.refund('k', Number.MAX_SAFE_INTEGER);
    const { remaining, resetMs } = limiter.peek('k');
    assert.deepEqual([remaining, resetMs], [10, 0], `${cost}`);
  }
});

test('what was put back beyond the capacity is not there when the capacity grows', () => {
  for (const cost of [3, 9, 10, 11, Number.MAX_SAFE_INTEGER]) {
    const { limiter, take } = clocked(only(10, 0));
    take('k', 0, 2);
    limiter.refund('k', cost);
    const reservation = limiter.reserve('k', { cost: 1 });
    limiter.refund('k', cost);
    reservation.cancel();
    limiter.setPolicies(only(100, 0));
    assert.equal(limiter.peek('k').remaining, 10, `${cost}`);
  }
});

test('a refund goes on from the balance as it is at that time', () => {
  const { limiter, clock, take } = clocked(only(10, 1));
  take('k', 0, 10);
  clock.ms = 2500;
  limiter.refund('k', 3);
  assert.deepEqual([take.peek('k', 2500).remaining, take.peek('k', 3000).remaining], [5, 6]);
});

test('a client without a bucket has all it may have, and gets none by a refund', () => {
  const { limiter } = clocked(only(10, 0));
  limiter.refund('nobody', 5);
  assert.equal(limiter.stats().buckets, 0);
  assert.equal(limiter.peek('nobody').remaining, 10);
});

test('of several limits each gets it, and none above its own capacity', () => {
  const { limiter, take } = clocked({
    default: {
      limits: [
        { name: 'burst', capacity: 4, refillPerSecond: 1 },
        { name: 'daily', capacity: 100, refillPerSecond: 0 },
        { name: 'hour', algorithm: 'sliding-window', limit: 50, windowSeconds: 3600 },
        { name: 'minute', algorithm: 'fixed-window', limit: 20, windowSeconds: 60 },
      ],
    },
  });
  const left = (atMs) => take.peek('k', atMs).limits.map(({ remaining }) => remaining);
  take('k', 0, 4);
  take('k', 3000, 3);
  assert.deepEqual(left(3000), [0, 93, 43, 13]);
  limiter.refund('k', 5);
  assert.deepEqual(left(3000), [4, 98, 48, 18]);
  limiter.refund('k', 500);
  assert.deepEqual(left(3000), [4, 100, 50, 20]);
});

test('of a sliding window the oldest charges go first', () => {
  const policies = { default: { algorithm: 'sliding-window', limit: 10, windowSeconds: 10 } };
  const { limiter, take } = clocked(policies);
  take('k', 0, 4);
  take('k', 4000, 4);
  limiter.refund('k', 5);
  assert.equal(take.peek('k', 4000).remaining, 7);
  // The first one is gone with what it counted, and one token of the second.
  assert.equal(take.peek('k', 10_000).remaining, 7);
  assert.equal(take.peek('k', 13_999.999).remaining, 7);
  assert.equal(take.peek('k', 14_000).remaining, 10);
});

test('a fixed window that counts nothing any more is none', () => {
  const policies = { default: { algorithm: 'fixed-window', limit: 10, windowSeconds: 10 } };
  const { limiter, clock, take } = clocked(policies);
  take('k', 0, 4);
  clock.ms = 3000;
  limiter.refund('k', 3);
  assert.deepEqual([limiter.peek('k').remaining, limiter.peek('k').resetMs], [9, 7000]);
  limiter.refund('k', 3);
  assert.deepEqual([limiter.peek('k').remaining, limiter.peek('k').resetMs], [10, 0]);
  take('k', 5000);
  assert.equal(take.peek('k', 14_999.999).remaining, 9);
  assert.equal(take.peek('k', 15_000).remaining, 10);
});

test('a refund is by the tier of the call, else by that of the client', () => {
  const { limiter, take } = clocked({
    ...only(2, 0),
    tiers: { pro: { capacity: 100, refillPerSecond: 0 } },
  });
  take('k', 0, 60, 'pro');
  limiter.refund('k', 10, 'pro');
  assert.equal(limiter.peek('k', { tier: 'pro' }).remaining, 50);
  limiter.client('k', 'pro').refund(5);
  assert.equal(limiter.peek('k', { tier: 'pro' }).remaining, 55);
  // By the default the balance is at most 2, as at a decision.
  limiter.refund('k', 10, null);
  assert.equal(limiter.peek('k', { tier: 'pro' }).remaining, 2);
});

test('a refund by a clock that steps back is a ClockError, and nothing is put back', () => {
  const { limiter, clock, take } = clocked(only(10, 0));
  take('k', 1000, 5);
  clock.ms = 999;
  for (const call of [() => limiter.refund('k'), () => limiter.client('k').refund()]) {
    const { name, nowMs, touchedMs } = thrown(call);
    assert.deepEqual([name, nowMs, touchedMs], ['ClockError', 999, 1000]);
  }
  clock.ms = 1000;
  assert.equal(limiter.peek('k').remaining, 5);
});

test('case 29: bad arguments are errors that name them', () => {
  const { limiter, take } = clocked(only(10, 0));
  take('k', 0, 5);
  for (const [value, shown] of notStrings) {
    const error = thrown(() => limiter.refund(value));
    assert.deepEqual(
      [error.name, error.message],
      ['TypeError', `client must be a string; got ${shown}`],
    );
  }
  for (const cost of [null, NaN, '5', {}, true, -1, 0, 1.5, 2 ** 53, Infinity, 5n]) {
    for (const call of [() => limiter.refund('k', cost), () => limiter.client('k').refund(cost)]) {
      assert.match(thrown(call).message, /^cost must be a whole number from 1 to /);
    }
  }
  assert.match(thrown(() => limiter.refund('k', 1, 5)).message, /^tier must be a string or null/);
  assert.equal(limiter.peek('k').remaining, 5);
  const { refund } = limiter;
  assert.match(thrown(() => refund('k')).message, /^this must be a TierLimiter/);
  limiter.dispose();
  assert.match(thrown(() => limiter.refund('k')).message, /disposed/);
});

test('requests that are put back leave nothing in the log of a sliding window', () => {
  const { limiter, clock } = clocked({
    default: { algorithm: 'sliding-window', limit: 10, windowSeconds: 60 },
  });
  limiter.allow('k', 2);
  const { bytes } = limiter.stats();
  for (let i = 0; i < 10_000; i += 1) {
    clock.ms += 1;
    limiter.reserve('k').cancel();
    clock.ms += 0.001;
    limiter.allow('k');
    limiter.refund('k');
  }
  assert.equal(limiter.peek('k').remaining, 8);
  assert.ok(limiter.stats().bytes <= bytes + 64, `${limiter.stats().bytes} bytes, ${bytes} before`);
  const restored = TierLimiter.restore(limiter.snapshot(), { now: () => clock.ms });
  assert.equal(restored.peek('k').remaining, 8);
});
