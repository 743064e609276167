// At which rate time accrues in which policies changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createModule } from 'tierlimit/module';

import { clocked, seed, thrown } from './support/limiter.js';

const bucket = (capacity, refillPerSecond, accrual = 'prorated') => ({
  capacity,
  refillPerSecond,
  accrual,
});
const only = (...numbers) => ({ default: bucket(...numbers) });

for (const [accrual, at10, at11] of [
  ['at-next', 100, 100],
  ['prorated', 10, 20],
]) {
  test(`the worked case, ${accrual}: drained at 0, rate 1, from 10 s on rate 10`, () => {
    const { limiter, clock, take } = clocked(only(100, 1, accrual));
    assert.equal(take('seen', 0, 100).allowed, true);
    assert.equal(take('idle', 0, 100).allowed, true);
    clock.ms = 10_000;
    limiter.setPolicies(only(100, 10, accrual));
    assert.equal(take.peek('seen', 10_000).remaining, at10);
    assert.equal(take.peek('seen', 11_000).remaining, at11);
    // Looked at when the rate changes, and only afterwards.
    assert.equal(take('seen', 10_000).remaining, at10 - 1);
    assert.equal(take('idle', 11_000).remaining, at11 - 1);
  });
}

test('a client that was idle through several changes accrues by each for its time', () => {
  const { limiter, clock, take } = clocked(only(1000, 1));
  take('k', 0, 1000);
  for (const [atMs, rate] of [
    [10_000, 5],
    [20_000, 0],
    [50_000, 2],
  ]) {
    clock.ms = atMs;
    limiter.setPolicies(only(1000, rate));
  }
  // 10 + 50 + 0 + 2.
  assert.equal(take('k', 51_000).remaining, 61);
});

test('a smaller capacity meanwhile clamps what had accrued by then', () => {
  const { limiter, clock, take } = clocked(only(100, 1));
  take('k', 0, 100);
  clock.ms = 50_000;
  limiter.setPolicies(only(20, 1));
  clock.ms = 55_000;
  limiter.setPolicies(only(100, 1));
  assert.equal(take.peek('k', 60_000).remaining, 25);
});

test('a raise meanwhile counts once, and each of several', () => {
  const policies = (capacity) => ({
    default: { ...bucket(capacity, 1), onRaise: 'add' },
  });
  const { limiter, clock, take } = clocked(policies(10));
  take('k', 0, 10);
  clock.ms = 2000;
  limiter.setPolicies(policies(20));
  clock.ms = 3000;
  limiter.setPolicies(policies(50));
  // 2 s, 10 more, 1 s, 30 more, 1 s.
  assert.equal(take('k', 4000).remaining, 43);
  assert.equal(take('k', 4000).remaining, 42);
});

test('of more than 64 documents the lower rate counts before the oldest that is kept', () => {
  const { limiter, clock, take } = clocked(only(1e6, 100));
  take('k', 0, 1e6);
  for (let i = 1; i <= 100; i += 1) {
    clock.ms = i * 1000;
    limiter.setPolicies(only(1e6, i % 2 === 1 ? 1 : 2));
  }
  // The 64th from the end came into force at 37 s, with a rate of 1 where the client was last judged by 100. From
  // then on 32 seconds of 1 and 31 of 2.
  assert.equal(take('k', 100_000).remaining, 37 + 32 + 62 - 1);
});

test('setTier settles the buckets of the client at its own time', () => {
  const { limiter, clock, take } = clocked({
    default: bucket(100, 1),
    tiers: { slow: bucket(100, 1), fast: bucket(100, 10) },
  });
  limiter.setTier('k', 'slow');
  take('k', 0, 100);
  clock.ms = 10_000;
  limiter.setTier('k', 'fast');
  assert.equal(take.peek('k', 11_000).remaining, 20);
  clock.ms = 12_000;
  limiter.setTier('k', null);
  assert.equal(take('k', 13_000).remaining, 30);
});

// ---- The clock -------------------------------------------------------------------------------------------------------

test('the clock is read only where a limit is prorated', () => {
  let readings = 0;
  const policies = (accrual) => ({
    default: bucket(10, 1, accrual),
    tiers: { pro: bucket(20, 1, accrual), plain: bucket(20, 1, 'at-next') },
  });
  const { limiter } = clocked(policies('at-next'), { now: () => (readings += 1) });
  const readBy = (call) => {
    const before = readings;
    call();
    return readings - before;
  };
  assert.equal(
    readBy(() => limiter.setPolicies(policies('at-next'))),
    0,
  );
  assert.equal(
    readBy(() => limiter.setTier('k', 'pro')),
    0,
  );
  limiter.allow('k');
  assert.equal(
    readBy(() => limiter.setTier('k', 'plain')),
    0,
  );
  assert.equal(
    readBy(() => limiter.setPolicies(policies('prorated'))),
    1,
  );
  assert.equal(
    readBy(() => limiter.setTier('k', 'pro')),
    1,
  );
  assert.equal(
    readBy(() => limiter.setTier('k', 'plain')),
    0,
  );
  assert.equal(
    readBy(() => limiter.setTier('nobody', 'pro')),
    0,
  );
  assert.equal(
    readBy(() => limiter.setPolicies(policies('at-next'))),
    1,
  );
  assert.equal(
    readBy(() => limiter.setPolicies(policies('at-next'))),
    0,
  );
});

test('where no clock runs yet, plain policies and tiers can be set, and prorated ones be made', () => {
  const now = () => {
    throw new Error('no clock here');
  };
  const { limiter } = clocked(only(10, 1, 'at-next'), { now });
  limiter.setPolicies(only(20, 1, 'at-next'));
  limiter.setTier('k', 'pro', { onRaise: 'fill' });
  const prorated = clocked(only(10, 1), { now });
  prorated.limiter.setTier('k', 'pro');
  assert.throws(() => prorated.limiter.setPolicies(only(10, 2)), { message: 'no clock here' });
  assert.equal(prorated.limiter.revision, 1);
});

test('a change that is earlier than the last one is a ClockError, and nothing changes', () => {
  const { limiter, clock } = clocked(only(10, 1));
  clock.ms = 5000.5;
  limiter.setPolicies(only(20, 1));
  clock.ms = 5000;
  const error = thrown(() => limiter.setPolicies(only(30, 1)));
  assert.deepEqual([error.name, error.nowMs, error.touchedMs], ['ClockError', 5000, 5000.5]);
  assert.equal(limiter.revision, 2);
  clock.ms = 5000.5;
  assert.equal(limiter.peek('k').limit, 20);
  limiter.setPolicies(only(30, 1));
  assert.equal(limiter.peek('k').limit, 30);
});

test('setTier earlier than the last decision is a ClockError, and nothing changes', () => {
  const { limiter, clock, take } = clocked({
    ...only(10, 1),
    tiers: { pro: bucket(100, 1) },
  });
  take('k', 7000, 5);
  clock.ms = 6999;
  const error = thrown(() => limiter.setTier('k', 'pro'));
  assert.deepEqual([error.name, error.nowMs, error.touchedMs], ['ClockError', 6999, 7000]);
  clock.ms = 7000;
  assert.equal(limiter.peek('k').tier, null);
  limiter.setTier('k', 'pro');
  assert.deepEqual([limiter.peek('k').limit, limiter.peek('k').remaining], [100, 5]);
});

test('a change counts as a touch: an earlier decision is a ClockError', () => {
  const { limiter, clock, take } = clocked(only(10, 1));
  take('k', 0);
  clock.ms = 1000;
  limiter.setPolicies(only(20, 1));
  clock.ms = 999;
  for (const call of [
    () => limiter.allow('k'),
    () => limiter.peek('k'),
    () => limiter.refund('k'),
  ]) {
    const { name, touchedMs } = thrown(call);
    assert.deepEqual([name, touchedMs], ['ClockError', 1000]);
  }
  clock.ms = 1000;
  assert.equal(limiter.allow('k'), true);
});

test('with onClockBackward: hold a change has the highest reading so far', () => {
  const { limiter, clock } = clocked(only(10, 1), { onClockBackward: 'hold' });
  clock.ms = 5000;
  limiter.setPolicies(only(20, 1));
  clock.ms = 10;
  assert.equal(limiter.setPolicies(only(30, 1)).revision, 3);
  assert.equal(limiter.stats().clockRegressions, 1);
});

test('a clock that changes the policies while their time is read', () => {
  const made = clocked({ ...only(10, 1), tiers: { a: bucket(11, 1), b: bucket(12, 1) } });
  let nested = false;
  const { limiter } = clocked(
    { ...only(10, 1), tiers: { a: bucket(11, 1), b: bucket(12, 1) } },
    {
      now() {
        if (!nested) {
          nested = true;
          // Decisions in the midst of it look tiers up, whose numbers are others then.
          limiter.allow('k', 1, 'a');
          limiter.allow('k', 1, 'b');
        }
        return 0;
      },
    },
  );
  limiter.setPolicies({ ...only(10, 1), tiers: { b: bucket(22, 1) } });
  assert.deepEqual(
    ['a', 'b'].map((tier) => limiter.peek('k', { tier }).limit),
    [10, 22],
  );
  made.limiter.dispose();
});

test('embind: a change without its time is refused, and with it accepted', () => {
  const raw = new (createModule().TierLimiter)(JSON.stringify(only(100, 1)));
  raw.seed(...new Uint32Array(seed.buffer));
  raw.check('k', 100, 0);
  const faster = JSON.stringify({ ...only(100, 10), tiers: { pro: bucket(200, 1) } });
  for (const refused of [raw.setPolicies(faster), raw.setPolicies(faster, NaN)]) {
    assert.deepEqual(
      [refused.revision, refused.errors.map(({ code, path }) => [code, path]), refused.changedMs],
      [1, [['invalid-time', '']], null],
    );
  }
  const accepted = raw.setPolicies(faster, 10_000);
  assert.deepEqual([accepted.revision, accepted.errors, accepted.changedMs], [2, [], 10_000]);
  assert.equal(raw.peek('k', 1, 11_000).remaining, 20);
  const early = raw.setPolicies(faster, 9999);
  assert.deepEqual([early.errors[0].code, early.changedMs], ['clock', 10_000]);

  assert.equal(raw.setTier('k', 'pro').code, 'invalid-time');
  assert.equal(raw.setTier('k', 'pro', 0, 9999).code, 'clock');
  assert.equal(raw.peek('k', 1, 11_000).tier, null);
  assert.equal(raw.setTier('k', 'pro', 1, 11_000), null);
  assert.equal(raw.peek('k', 1, 11_000).remaining, 200);
  assert.equal(raw.clearTier('k', 0, 11_000), null);
  assert.equal(raw.peek('k', 1, 11_000).tier, null);
  raw.delete();
});

test('a document that comes at the very time of a decision counts, and counts once', () => {
  const prorated = (capacity, onRaise = 'keep') => ({
    default: { capacity, refillPerSecond: 0, accrual: 'prorated', onRaise },
  });
  const { limiter } = clocked(prorated(38));
  limiter.allow('acme', 5);
  limiter.setPolicies(prorated(1));
  limiter.setPolicies(prorated(38));
  assert.equal(limiter.peek('acme').remaining, 1);
  limiter.setPolicies(prorated(40, 'fill'));
  assert.equal(limiter.check('acme', { cost: 30 }).remaining, 10);
  assert.equal(limiter.peek('acme').remaining, 10);
});

test('of documents at the very time of a decision, one that says the same of the limit is the one it was made by', () => {
  const still = (capacity, settings) => ({ capacity, refillPerSecond: 0, ...settings });
  const { limiter } = clocked({ default: still(40) });
  limiter.allow('acme', 38);
  limiter.setPolicies({ default: still(40), tiers: { pro: still(1) } });
  // From here on there is a history. The balance is kept as this document says, whatever the next one says of raises.
  const pro = still(1, { accrual: 'prorated' });
  limiter.setPolicies({ default: still(400), tiers: { pro } });
  limiter.setPolicies({ default: still(400, { accrual: 'prorated', onRaise: 'add' }) });
  assert.equal(limiter.peek('acme').remaining, 2);
});

test('documents that come after a decision at its very time are met one after the other', () => {
  const still = (capacity, accrual = 'prorated') => ({
    default: { capacity, refillPerSecond: 0, accrual },
  });
  const { limiter } = clocked(still(19, 'at-next'));
  limiter.allow('acme', 5);
  // The history begins with the document before the first that looks back: one that the bucket has not met either.
  limiter.setPolicies(still(58, 'at-next'));
  limiter.setPolicies(still(57));
  limiter.setPolicies(still(12));
  limiter.setPolicies(still(42));
  assert.equal(limiter.peek('acme').remaining, 12);
});

test('documents at the time of a decision by another tier count as met, so that none is met twice', () => {
  const document = (large) => ({
    default: bucket(10, 0),
    tiers: { pro: { ...bucket(large, 0), onRaise: 'fill' } },
  });
  for (const [later, remaining] of [
    [0, 0],
    [1, 100],
  ]) {
    const { limiter, clock } = clocked(document(20));
    limiter.allow('acme', 10);
    limiter.setTier('acme', 'pro');
    clock.ms += later;
    limiter.setPolicies(document(100));
    assert.equal(limiter.peek('acme').remaining, remaining);
    // What such a document would do a second time is not done either.
    limiter.allow('acme', remaining || 1);
    assert.equal(limiter.peek('acme').remaining, 0);
  }
});

test('before a document with a prorated limit that follows on others, the one that it replaces counts for all of the time', () => {
  const { limiter, clock } = clocked(only(1000, 1, 'at-next'));
  limiter.allow('acme', 1000);
  clock.ms = 10_000;
  limiter.setPolicies(only(1000, 10, 'at-next'));
  clock.ms = 20_000;
  limiter.setPolicies(only(1000, 3));
  clock.ms = 21_000;
  assert.equal(limiter.peek('acme').remaining, 20 * 10 + 3);
});

test('a document that moves a client to another tier, or takes its tier away: time before it accrues as it was', () => {
  const document = (tier, tiers = { a: bucket(100, 1), b: bucket(100, 10) }) => ({
    default: bucket(100, 20),
    tiers,
    clients: { acme: tier },
  });
  for (const [before, after, at10, at11] of [
    [document('a'), document('b'), 10, 20],
    [document('b'), document('a'), 100, 100],
    [document('a'), document('gone'), 10, 30],
    [document('a'), document('a', {}), 10, 30],
    [document('a'), { default: bucket(100, 20) }, 10, 30],
    [{ default: bucket(100, 20) }, document('a'), 100, 100],
    [document('a', {}), document('a'), 100, 100],
    [document('a'), { ...document('b'), default: bucket(100, 20, 'at-next') }, 10, 20],
  ]) {
    const { limiter, clock } = clocked(before);
    limiter.allow('acme', 100);
    clock.ms = 10_000;
    limiter.setPolicies(after);
    assert.equal(limiter.peek('acme').remaining, at10);
    clock.ms = 11_000;
    assert.equal(limiter.peek('acme').remaining, at11);
  }
  // So it is with an assignment whose tier goes.
  const { limiter, clock } = clocked(document('b'));
  limiter.setTier('other', 'a');
  limiter.allow('other', 100);
  clock.ms = 10_000;
  limiter.setPolicies({ default: bucket(100, 20) });
  assert.equal(limiter.peek('other').remaining, 10);
});
