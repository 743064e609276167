// Sliding and fixed windows: so many tokens in so much time.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PolicyError } from 'tierlimit';

import { Random } from '../model/random.js';
import { clocked, thrown } from './support/limiter.js';

const window = (algorithm, limit, windowSeconds) => ({
  default: { algorithm, limit, windowSeconds },
});
const sliding = (limit, windowSeconds) => window('sliding-window', limit, windowSeconds);
const fixed = (limit, windowSeconds) => window('fixed-window', limit, windowSeconds);

// ---- Sliding ---------------------------------------------------------------------------------------------------------

test('sliding: a charge counts for [t, t + W): to the microsecond', () => {
  const { take } = clocked(sliding(2, 10));
  assert.equal(take('k', 0).allowed, true);
  assert.equal(take('k', 4000).allowed, true);
  assert.equal(take('k', 9999.999).allowed, false);
  assert.equal(take('k', 10_000).allowed, true);
  assert.equal(take('k', 13_999.999).allowed, false);
  assert.equal(take('k', 14_000).allowed, true);
  assert.equal(take('k', 14_000).allowed, false);
});

test('sliding: never more than the limit in any window, by the charges themselves', () => {
  const random = new Random(5);
  const [limit, windowMs] = [10, 1000];
  const { take } = clocked(sliding(limit, windowMs / 1000));
  const charges = [];
  let denials = 0;
  for (let i = 0, atMs = 0; i < 3000; i += 1) {
    atMs += random.whole(0, 120) / 1000 + (random.whole(0, 4) === 0 ? random.whole(0, 900) : 0);
    const cost = random.whole(1, 4);
    const inForce = charges.filter(([ms]) => Math.round((atMs - ms) * 1000) < windowMs * 1000);
    const spent = inForce.reduce((sum, [, tokens]) => sum + tokens, 0);
    const { allowed, remaining } = take('k', atMs, cost);
    assert.equal(allowed, spent + cost <= limit);
    assert.equal(remaining, limit - spent - (allowed ? cost : 0));
    if (allowed) charges.push([atMs, cost]);
    else denials += 1;
  }
  assert.ok(denials > 300 && charges.length > 300, `${denials} denied, ${charges.length} admitted`);
});

test('sliding: remaining, retryAfterMs and resetMs, by cost', () => {
  const { take } = clocked(sliding(10, 60));
  take('k', 0, 4);
  take('k', 1000, 3);
  const last = take('k', 2000, 2);
  assert.deepEqual([last.remaining, last.retryAfterMs, last.resetMs], [1, 0, 60_000]);
  for (const [cost, retryAfterMs] of [
    [1, 0],
    [2, 57_000],
    [5, 57_000],
    [6, 58_000],
    [8, 58_000],
    [9, 59_000],
    [10, 59_000],
  ]) {
    assert.equal(take.peek('k', 3000, cost).retryAfterMs, retryAfterMs, `${cost}`);
  }
  const tooMuch = take('k', 3000, 11);
  assert.deepEqual(
    [tooMuch.reason, tooMuch.retryAfterMs, tooMuch.resetMs],
    ['cost-exceeds-capacity', null, 59_000],
  );
});

test('sliding: decisions of other limiters and a table that grows leave the logs as they are', () => {
  const { limiter, take } = clocked(sliding(50, 100));
  for (let i = 0; i < 3000; i += 1) {
    for (let j = 0; j < i % 7; j += 1) take(`c${i}`, j, 1);
  }
  for (let i = 0; i < 3000; i += 1) assert.equal(take.peek(`c${i}`, 10).remaining, 50 - (i % 7));
  assert.ok(limiter.stats().bytes > 3000 * 32);
});

// ---- Fixed -----------------------------------------------------------------------------------------------------------

test('fixed: a window is [start, start + W), and starts with the first charge after the last one ended', () => {
  const { take } = clocked(fixed(3, 10));
  assert.deepEqual([take('k', 2500, 2).remaining, take('k', 2500, 2).allowed], [1, false]);
  const third = take('k', 9000);
  assert.deepEqual([third.remaining, third.resetMs], [0, 3500]);
  assert.equal(take('k', 12_499.999).allowed, false);
  // Nobody came when it ended: the next one starts when somebody does.
  const next = take('k', 15_000, 3);
  assert.deepEqual([next.allowed, next.remaining, next.resetMs], [true, 0, 10_000]);
  assert.equal(take('k', 24_999.999).allowed, false);
  assert.equal(take('k', 25_000).allowed, true);
});

test('fixed: a denied request starts no window', () => {
  const { take } = clocked(fixed(3, 10));
  assert.equal(take('k', 0, 4).allowed, false);
  assert.deepEqual([take.peek('k', 0).resetMs, take.peek('k', 0).remaining], [0, 3]);
  take('k', 5000, 3);
  assert.equal(take('k', 10_000).retryAfterMs, 5000);
});

test('fixed: up to twice the limit within W, where a sliding window keeps to it', () => {
  const admitted = (policies) => {
    const { take } = clocked(policies);
    let count = 0;
    take('k', 0);
    for (let i = 0; i < 40; i += 1) count += take('k', 9900 + i * 10).allowed ? 1 : 0;
    return count;
  };
  assert.deepEqual([admitted(fixed(10, 10)), admitted(sliding(10, 10))], [19, 10]);
});

// ---- Both ------------------------------------------------------------------------------------------------------------

for (const [name, make] of Object.entries({ sliding, fixed })) {
  test(`${name}: peek changes nothing, and a window that nobody has begun is full`, () => {
    const { limiter, take } = clocked(make(5, 10));
    const fresh = take.peek('k', 0);
    assert.deepEqual([fresh.remaining, fresh.resetMs, fresh.limit], [5, 0, 5]);
    assert.equal(limiter.stats().buckets, 0);
    take('k', 1000, 2);
    const before = take.peek('k', 2000);
    for (let i = 0; i < 20; i += 1) assert.deepEqual(take.peek('k', 2000), before);
    assert.deepEqual([before.remaining, before.allowed], [3, true]);
    assert.equal(take('k', 2000, 3).remaining, 0);
  });

  test(`${name}: obeying retryAfterMs is enough, and a microsecond less is not`, () => {
    const random = new Random(11);
    let denials = 0;
    for (let run = 0; run < 200; run += 1) {
      const limit = random.whole(1, 12);
      const { take } = clocked(make(limit, random.whole(1, 5000) / 1000));
      let atMs = random.whole(0, 1e9) / 1000;
      for (let i = 0; i < 30; i += 1) {
        atMs += random.whole(0, 400) / 1000;
        const cost = random.whole(1, limit);
        const { allowed, retryAfterMs } = take('k', atMs, cost);
        if (allowed) continue;
        denials += 1;
        assert.ok(retryAfterMs > 0);
        assert.equal(take.peek('k', atMs + retryAfterMs - 0.001, cost).allowed, false);
        assert.equal(take.peek('k', atMs + retryAfterMs, cost).allowed, true);
      }
    }
    assert.ok(denials > 1000, `${denials}`);
  });

  test(`${name}: another limit applies to the kept count at once, and so does another length`, () => {
    const { limiter, take } = clocked(make(10, 10));
    take('k', 0, 6);
    limiter.setPolicies(make(20, 10));
    assert.equal(take.peek('k', 1000).remaining, 14);
    limiter.setPolicies(make(4, 10));
    const over = take('k', 1000);
    assert.deepEqual(
      [over.allowed, over.limit, over.remaining, over.retryAfterMs],
      [false, 4, 0, 9000],
    );
    limiter.setPolicies(make(4, 2));
    assert.equal(take.peek('k', 1999.999).allowed, false);
    assert.equal(take('k', 2000).remaining, 3);
  });

  test(`${name}: a window and a token bucket of one name are two buckets`, () => {
    const bucket = { default: { capacity: 3, refillPerSecond: 0 } };
    const { limiter, take } = clocked(make(5, 100));
    take('k', 0, 4);
    limiter.setPolicies(bucket);
    assert.equal(take('k', 0, 2).remaining, 1);
    limiter.setPolicies(make(5, 100));
    assert.equal(take.peek('k', 0).remaining, 1);
  });

  test(`${name}: a clock that steps back is a ClockError, and nothing is counted`, () => {
    const { limiter, clock, take } = clocked(make(5, 10));
    take('k', 1000);
    clock.ms = 999.999;
    const error = thrown(() => limiter.check('k'));
    assert.deepEqual([error.name, error.touchedMs], ['ClockError', 1000]);
    assert.equal(take('k', 1000).remaining, 3);
  });

  test(`${name}: onRaise and accrual mean nothing and are refused, on it and beside it`, () => {
    const own = make(5, 10).default;
    for (const [policy, path] of [
      [{ ...own, onRaise: 'keep' }, '/default/onRaise'],
      [{ ...own, accrual: 'at-next' }, '/default/accrual'],
      [{ ...own, capacity: 5 }, '/default/capacity'],
      [{ limits: [{ name: 'w', ...own, onRaise: 'fill' }] }, '/default/limits/0/onRaise'],
      [{ onRaise: 'fill', limits: [{ name: 'w', ...own }] }, '/default/onRaise'],
    ]) {
      const error = thrown(() => clocked({ default: policy }));
      assert.ok(error instanceof PolicyError);
      assert.deepEqual([error.code, error.path], ['unknown-member', path]);
    }
  });

  test(`${name}: setTier with onRaise leaves its count as it is`, () => {
    const { limiter, take } = clocked({
      ...make(5, 10),
      tiers: { large: make(50, 10).default },
    });
    take('k', 0, 5);
    limiter.setTier('k', 'large', { onRaise: 'fill' });
    assert.equal(take('k', 0).remaining, 44);
  });

  test(`${name}: beside a token bucket, all are charged or none is`, () => {
    const { take } = clocked({
      default: {
        limits: [
          { name: 'burst', capacity: 3, refillPerSecond: 1 },
          { name: 'hour', ...make(5, 3600).default },
        ],
      },
    });
    assert.equal(take('k', 0, 3).allowed, true);
    const denied = take('k', 0);
    assert.deepEqual(
      [denied.limitName, ...denied.limits.map(({ remaining }) => remaining)],
      ['burst', 0, 2],
    );
    assert.equal(take('k', 3000, 2).allowed, true);
    const spent = take('k', 4000, 1);
    assert.deepEqual([spent.limitName, spent.retryAfterMs], ['hour', 3_596_000]);
    assert.deepEqual(
      spent.limits.map(({ remaining }) => remaining),
      [2, 0],
    );
  });
}
