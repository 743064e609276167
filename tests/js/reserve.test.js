// Estimates that are spent ahead and settled when the cost is known.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clocked, notStrings, only, thrown } from './support/limiter.js';

const settled = (returned, debt = 0) => ({ outcome: 'settled', returned, debt });
const cancelled = (returned) => ({ outcome: 'cancelled', returned, debt: 0 });
const nothing = (outcome) => ({ outcome, returned: 0, debt: 0 });

test('the estimate is spent at once; settling below it puts the rest back', () => {
  const { limiter } = clocked(only(100, 0));
  const reservation = limiter.reserve('k', { cost: 40 });
  assert.equal(reservation.allowed, true);
  assert.equal(reservation.decision.remaining, 60);
  assert.equal(limiter.peek('k').remaining, 60);
  assert.deepEqual(reservation.settle(25), settled(15));
  assert.equal(limiter.peek('k').remaining, 75);
  assert.equal(limiter.stats().allowed, 1);
});

test('the decision is what check would answer, denied or not', () => {
  const policies = { ...only(10, 1), tiers: { pro: { capacity: 5, refillPerSecond: 2 } } };
  const reserved = clocked(policies);
  const checked = clocked(policies);
  for (const options of [
    {},
    undefined,
    { cost: 4 },
    { cost: 9 },
    { cost: 11 },
    { tier: 'pro' },
    { tier: 'pro', cost: 9 },
    { tier: 'nowhere' },
  ]) {
    const { decision, allowed } = reserved.limiter.reserve('k', options);
    assert.deepEqual(decision, checked.limiter.check('k', options));
    assert.equal(allowed, decision.allowed);
  }
});

test('settling at the estimate changes nothing, and at 0 is cancelling', () => {
  const { limiter } = clocked(only(100, 0));
  assert.deepEqual(limiter.reserve('k', { cost: 40 }).settle(40), settled(0));
  assert.equal(limiter.peek('k').remaining, 60);
  assert.deepEqual(limiter.reserve('k', { cost: 40 }).settle(0), settled(40));
  assert.deepEqual(limiter.reserve('k', { cost: 40 }).cancel(), cancelled(40));
  assert.equal(limiter.peek('k').remaining, 60);
});

test('settling above the estimate takes what there is, in whole tokens, and tells the debt', () => {
  const { limiter } = clocked(only(100.5, 0));
  assert.deepEqual(limiter.reserve('k', { cost: 10 }).settle(30), settled(0));
  assert.equal(limiter.peek('k').remaining, 70);
  assert.deepEqual(limiter.reserve('k', { cost: 10 }).settle(90), settled(0, 20));
  assert.equal(limiter.peek('k').remaining, 0);
  const most = Number.MAX_SAFE_INTEGER;
  assert.deepEqual(limiter.reserve('other').settle(most), settled(0, most - 100));
});

test('of several limits the debt is the largest, and each gives what it has', () => {
  const { limiter } = clocked({
    default: {
      limits: [
        { name: 'burst', capacity: 20, refillPerSecond: 0 },
        { name: 'daily', capacity: 100, refillPerSecond: 0 },
        { name: 'hour', algorithm: 'sliding-window', limit: 30, windowSeconds: 3600 },
        { name: 'minute', algorithm: 'fixed-window', limit: 25, windowSeconds: 60 },
      ],
    },
  });
  const left = () => limiter.peek('k').limits.map(({ remaining }) => remaining);
  const first = limiter.reserve('k', { cost: 10 });
  assert.deepEqual(left(), [10, 90, 20, 15]);
  assert.deepEqual(first.settle(22), settled(0, 2));
  assert.deepEqual(left(), [0, 78, 8, 3]);
  limiter.refund('k', 20);
  const second = limiter.reserve('k', { cost: 20 });
  assert.deepEqual(second.settle(5), settled(15));
  assert.deepEqual(left(), [15, 93, 23, 18]);
});

test('each ends once; what comes later is told how it ended', () => {
  const { limiter } = clocked(only(100, 0));
  const first = limiter.reserve('k', { cost: 10 });
  first.settle(4);
  assert.deepEqual(first.settle(1), nothing('already-settled'));
  assert.deepEqual(first.cancel(), nothing('already-settled'));
  const second = limiter.reserve('k', { cost: 10 });
  second.cancel();
  assert.deepEqual(second.settle(50), nothing('already-cancelled'));
  assert.deepEqual(second.cancel(), nothing('already-cancelled'));
  assert.equal(limiter.peek('k').remaining, 96);
});

test('a denied reservation holds nothing', () => {
  const { limiter } = clocked(only(5, 0));
  const reservation = limiter.reserve('k', { cost: 6 });
  assert.equal(reservation.allowed, false);
  assert.deepEqual(reservation.settle(3), nothing('denied'));
  assert.deepEqual(reservation.cancel(), nothing('denied'));
  assert.equal(limiter.peek('k').remaining, 5);
});

test('it ends at its time to live, [t, t + ttlMs), as spent', () => {
  const { limiter, clock } = clocked(only(100, 0));
  clock.ms = 1000;
  const reserve = (options) => limiter.reserve('k', { cost: 10, ...options });
  const [early, late, byDefault, byDefaultLate] = [
    reserve({ ttlMs: 500.5 }),
    reserve({ ttlMs: 500.5 }),
    reserve(),
    reserve(),
  ];
  assert.deepEqual([late.expiresAtMs, byDefault.expiresAtMs], [1500.5, 61_000]);
  clock.ms = 1500.499;
  assert.deepEqual(early.settle(0), settled(10));
  clock.ms = 1500.5;
  assert.deepEqual(late.settle(0), nothing('expired'));
  assert.deepEqual(late.cancel(), nothing('expired'));
  clock.ms = 60_999.999;
  assert.deepEqual(byDefault.cancel(), cancelled(10));
  clock.ms = 61_000;
  assert.deepEqual(byDefaultLate.cancel(), nothing('expired'));
  assert.equal(limiter.peek('k').remaining, 80);
});

test('an expired one stays so, whatever the clock reads afterwards', () => {
  const { limiter, clock } = clocked(only(100, 0));
  const reservation = limiter.reserve('k', { cost: 10, ttlMs: 5 });
  clock.ms = 5;
  assert.equal(reservation.settle(1).outcome, 'expired');
  clock.ms = 4;
  assert.equal(reservation.settle(1).outcome, 'expired');
});

test('never above a capacity: what has accrued meanwhile counts', () => {
  const { limiter, clock } = clocked(only(100, 1));
  const reservation = limiter.reserve('k', { cost: 50 });
  clock.ms = 30_000;
  assert.deepEqual(reservation.settle(0), settled(50));
  const { remaining, resetMs } = limiter.peek('k');
  assert.deepEqual([remaining, resetMs], [100, 0]);
});

test('of a sliding window the entry of its own time goes first, then the oldest', () => {
  const policies = { default: { algorithm: 'sliding-window', limit: 20, windowSeconds: 10 } };
  const { limiter, clock, take } = clocked(policies);
  take('k', 0, 5);
  clock.ms = 2000;
  const reservation = limiter.reserve('k', { cost: 6 });
  take('k', 4000, 5);
  clock.ms = 5000;
  reservation.settle(1);
  assert.equal(take.peek('k', 5000).remaining, 9);
  assert.equal(take.peek('k', 10_000).remaining, 14);
  assert.equal(take.peek('k', 12_000).remaining, 15);
  assert.equal(take.peek('k', 14_000).remaining, 20);
});

test('a change of policies or of tier: only limits that were charged and still judge are put back', () => {
  const limit = (name) => ({ name, capacity: 100, refillPerSecond: 0 });
  const of = (...names) => ({ limits: names.map(limit) });
  const { limiter } = clocked({
    default: of('a', 'b'),
    tiers: { other: of('b', 'c'), named: of('a', 'b') },
  });
  const left = (options) =>
    Object.fromEntries(limiter.peek('k', options).limits.map((it) => [it.name, it.remaining]));
  limiter.check('k', { cost: 50, tier: 'other' });
  const reservation = limiter.reserve('k', { cost: 20 });
  assert.deepEqual([left(), left({ tier: 'other' }).c], [{ a: 80, b: 30 }, 50]);
  limiter.setTier('k', 'other');
  assert.deepEqual(reservation.settle(5), settled(15));
  assert.deepEqual([left(), left({ tier: 'named' }).a], [{ b: 45, c: 50 }, 80]);
  // The tier that a reservation names is that of its settling too, by its name.
  const named = limiter.reserve('k', { cost: 20, tier: 'named' });
  limiter.setPolicies({ default: of('x'), tiers: { z: of('z'), named: of('b', 'a', 'y') } });
  assert.deepEqual(named.cancel(), cancelled(20));
  assert.deepEqual(left({ tier: 'named' }), { b: 45, a: 80, y: 100 });
});

test('where none of the limits that were charged judges any more, nothing is returned and nobody owes', () => {
  const a = { name: 'a', capacity: 10, refillPerSecond: 0 };
  const window = { name: 'a', algorithm: 'fixed-window', limit: 10, windowSeconds: 60 };
  const other = { ...a, name: 'b' };
  const of = (...limits) => ({ default: { limits }, tiers: { moved: { limits: [other] } } });
  for (const [what, change] of [
    ['another name', (limiter) => limiter.setPolicies(of(other))],
    ['another algorithm', (limiter) => limiter.setPolicies(of(window, other))],
    ['another tier', (limiter) => limiter.setTier('k', 'moved')],
  ]) {
    const { limiter } = clocked(of(a));
    const reserve = () => limiter.reserve('k', { cost: 2 });
    const [less, more, cancels, late] = [reserve(), reserve(), reserve(), reserve()];
    change(limiter);
    limiter.check('k', { cost: 4 });
    assert.deepEqual(less.settle(1), settled(0), what);
    assert.deepEqual(more.settle(20), settled(0), what);
    assert.deepEqual(cancels.cancel(), cancelled(0), what);
    assert.deepEqual(less.settle(1), nothing('already-settled'), what);
    for (const { remaining } of limiter.peek('k').limits) assert.equal(remaining, 6, what);
    // One that is there again takes back what it was charged.
    limiter.setTier('k', null);
    limiter.setPolicies(of(other, a));
    assert.deepEqual(late.settle(0), settled(2), what);
    assert.equal(limiter.peek('k').limits[1].remaining, 4, what);
  }
});

test('what a candidate was charged goes back into it, whether or not a limit in force is left', () => {
  const limit = (name) => ({ default: { limits: [{ name, capacity: 10, refillPerSecond: 0 }] } });
  const { limiter } = clocked(limit('a'));
  limiter.setShadowPolicies(limit('s'));
  const reservation = limiter.reserve('k', { cost: 10 });
  limiter.setPolicies(limit('b'));
  assert.deepEqual(reservation.settle(3), settled(0));
  // Of ten admissions in force the candidate has tokens for the seven that were given back.
  for (let i = 0; i < 10; i += 1) limiter.allow('k');
  const [{ bothAllow, onlyLiveAllows }] = limiter.shadowStats();
  assert.deepEqual([bothAllow, onlyLiveAllows], [8, 3]);
});

test('a handle reserves by its name and its tier', () => {
  const { limiter } = clocked({
    ...only(5, 0),
    tiers: { pro: { capacity: 50, refillPerSecond: 0 } },
  });
  const client = limiter.client('k', 'pro');
  const reservation = client.reserve({ cost: 20, ttlMs: 1000 });
  assert.deepEqual(
    [reservation.decision.tier, reservation.decision.remaining, reservation.expiresAtMs],
    ['pro', 30, 1000],
  );
  assert.deepEqual(reservation.settle(5), settled(15));
  assert.equal(client.peek().remaining, 45);
  assert.equal(limiter.client('k').reserve().decision.limit, 5);
});

test('any number may be open at a time, and memory that grows beneath them takes nothing', () => {
  const { limiter } = clocked(only(100, 0), { maxClients: 2 ** 22, maxBytes: 2 ** 28 });
  const open = Array.from({ length: 100 }, (_, i) =>
    limiter.reserve(`open ${i % 10}`, { cost: 1 + (i % 3) }),
  );
  const before = limiter.stats().bytes;
  for (let i = 0; i < 60_000; i += 1) limiter.reserve(`client ${i}`, { cost: 3 });
  assert.ok(limiter.stats().bytes > before + 2 ** 21);
  const returned = open.map((reservation) => reservation.settle(1).returned);
  assert.deepEqual(
    returned,
    open.map((_, i) => i % 3),
  );
  for (let i = 0; i < 10; i += 1) assert.equal(limiter.peek(`open ${i}`).remaining, 90);
});

test('open reservations take no memory of the module', () => {
  const { limiter } = clocked(only(1e9, 0));
  limiter.reserve('k');
  const { bytes } = limiter.stats();
  for (let i = 0; i < 100_000; i += 1) limiter.reserve('k');
  assert.equal(limiter.stats().bytes, bytes);
});

// ---- What goes wrong -------------------------------------------------------------------------------------------------

test('a ClockError leaves it open', () => {
  const { limiter, clock, take } = clocked(only(100, 0));
  const reservation = limiter.reserve('k', { cost: 10 });
  take('k', 50);
  clock.ms = 49;
  const { name, touchedMs } = thrown(() => reservation.settle(3));
  assert.deepEqual([name, touchedMs], ['ClockError', 50]);
  clock.ms = 50;
  assert.deepEqual(reservation.settle(3), settled(7));
});

test('a clock that settles it while it is read: it ends once', () => {
  let reservation;
  let inner;
  const { limiter } = clocked(only(100, 0), {
    now() {
      const it = reservation;
      reservation = undefined;
      if (it !== undefined) inner = it.settle(1);
      return 0;
    },
  });
  const outer = limiter.reserve('k', { cost: 10 });
  reservation = outer;
  assert.deepEqual(outer.settle(2), nothing('already-settled'));
  assert.deepEqual(inner, settled(9));
  assert.equal(limiter.peek('k').remaining, 99);
});

test('after dispose it throws, as everything does', () => {
  const { limiter } = clocked(only(100, 0));
  const open = limiter.reserve('k');
  const ended = limiter.reserve('k');
  ended.cancel();
  limiter.dispose();
  for (const reservation of [open, ended]) {
    assert.match(thrown(() => reservation.settle(1)).message, /disposed/);
    assert.match(thrown(() => reservation.cancel()).message, /disposed/);
  }
  assert.match(thrown(() => limiter.reserve('k')).message, /disposed/);
});

test('case 29: bad arguments are errors that name them, and nothing is spent', () => {
  const { limiter } = clocked(only(100, 0));
  const client = limiter.client('k');
  for (const [value, shown] of notStrings) {
    assert.equal(
      thrown(() => limiter.reserve(value)).message,
      `client must be a string; got ${shown}`,
    );
  }
  for (const reserve of [
    (options) => limiter.reserve('k', options),
    (options) => client.reserve(options),
  ]) {
    for (const cost of [null, NaN, '5', 0, -1, 1.5, Infinity]) {
      assert.match(thrown(() => reserve({ cost })).message, /^cost must be a whole number from 1/);
    }
    for (const ttlMs of [0, -1, NaN, Infinity, '5', null, 5n]) {
      const error = thrown(() => reserve({ ttlMs }));
      assert.match(error.message, /^ttlMs must be a finite number above 0; got /);
      assert.equal(error.name, typeof ttlMs === 'number' ? 'RangeError' : 'TypeError');
    }
    assert.match(thrown(() => reserve({ ttl: 5 })).message, /there is no option "ttl"/);
    assert.match(thrown(() => reserve(5)).message, /^options must be an object/);
    assert.match(thrown(() => reserve(null)).message, /^options must be an object/);
  }
  assert.match(thrown(() => client.reserve({ tier: 'pro' })).message, /there is no option "tier"/);
  assert.match(thrown(() => limiter.reserve('k', { tier: 5 })).message, /^tier must be a string/);
  const reservation = limiter.reserve('k', { cost: 10 });
  for (const actual of [undefined, null, NaN, '5', -1, 1.5, Infinity, 2 ** 53]) {
    assert.match(
      thrown(() => reservation.settle(actual)).message,
      /^actualCost must be a whole number from 0 to 9007199254740991; got /,
    );
  }
  const { settle, cancel } = reservation;
  assert.match(thrown(() => settle(1)).message, /^this must be a reservation of a TierLimiter/);
  assert.match(thrown(() => cancel()).message, /^this must be a reservation of a TierLimiter/);
  assert.equal(limiter.peek('k').remaining, 90);
  assert.deepEqual(reservation.settle(10), settled(0));
});

test('what was charged in a window that it has left is not put back into another', () => {
  for (const algorithm of ['sliding-window', 'fixed-window']) {
    const { limiter, clock } = clocked({ default: { algorithm, limit: 10, windowSeconds: 10 } });
    const reservation = limiter.reserve('k', { cost: 10, ttlMs: 60_000 });
    clock.ms = 10_000;
    assert.equal(limiter.allow('k', 10), true, algorithm);
    assert.deepEqual(reservation.settle(0), settled(10), algorithm);
    assert.equal(limiter.allow('k'), false, algorithm);
  }
});

test('what was charged in the same window is put back into it, from its own time first', () => {
  const { limiter, clock } = clocked({
    default: { algorithm: 'sliding-window', limit: 10, windowSeconds: 10 },
  });
  limiter.allow('k', 3);
  clock.ms = 4000;
  const reservation = limiter.reserve('k', { cost: 7 });
  clock.ms = 8000;
  assert.deepEqual(reservation.settle(2), settled(5));
  assert.equal(limiter.peek('k').remaining, 5);
  clock.ms = 10_000;
  assert.equal(limiter.peek('k').remaining, 8);
});
