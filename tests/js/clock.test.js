// Time: it comes from the clock that is given and from nowhere else, and a clock that steps back gives nobody tokens.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClockError, TierLimiter } from 'tierlimit';

import { runScript } from './support/child.js';
import { clocked, only, seed, thrown } from './support/limiter.js';

test('a reading earlier than the last decision of the client is a ClockError, and changes nothing', () => {
  const { limiter, clock, take } = clocked(only(5, 1));
  assert.equal(take('c', 10_000, 2).remaining, 3);
  const before = limiter.stats();
  clock.ms = 4000.5;
  for (const call of [
    () => limiter.allow('c'),
    () => limiter.check('c'),
    () => limiter.check('c', { cost: 100, tier: 'nowhere' }),
    () => limiter.peek('c'),
  ]) {
    const error = thrown(call);
    assert.ok(error instanceof ClockError && error instanceof Error);
    assert.deepEqual(
      [error.name, error.code, error.nowMs, error.touchedMs],
      ['ClockError', 'clock', 4000.5, 10_000],
    );
    assert.match(error.message, /4000\.5 ms.*10000 ms/);
  }
  assert.deepEqual(limiter.stats(), before);
  assert.equal(take('c', 10_000).remaining, 2);
});

test('the client that was decided last is the one that counts: others may be decided earlier', () => {
  const { limiter, take } = clocked(only(5, 1));
  take('late', 10_000);
  assert.equal(take('never seen', 4000).allowed, true);
  assert.equal(take('never seen', 4000).allowed, true);
  assert.throws(() => take('never seen', 3999.999), ClockError);
  assert.throws(() => take('late', 9999.999), ClockError);
  assert.equal(take('late', 10_000).allowed, true);
  // A difference that is no whole microsecond is none.
  assert.equal(take('late', 9999.9999).allowed, true);
  assert.equal(limiter.stats().clockRegressions, 0);
});

test('a decision that is denied moves the client in time as well', () => {
  const { take } = clocked(only(1, 1));
  take('c', 0);
  assert.equal(take('c', 500).allowed, false);
  assert.throws(() => take('c', 499), ClockError);
  assert.equal(take('c', 999).allowed, false);
  assert.equal(take('c', 1000).allowed, true);
});

test('case 13: a step back of a clock that is held takes no tokens and locks nobody out', () => {
  const { limiter, clock, take } = clocked(only(5, 1), { onClockBackward: 'hold' });
  assert.equal(take('c', 10_000, 2).remaining, 3);
  const back = take('c', 4000);
  assert.deepEqual([back.allowed, back.remaining], [true, 2]);
  clock.ms = 10_000;
  assert.equal(limiter.peek('c').remaining, 2);
  clock.ms = 11_000;
  assert.equal(limiter.peek('c').remaining, 3);
  assert.equal(limiter.stats().clockRegressions, 1);
  // A long way back is no longer a wait than an empty bucket.
  take('c', 11_000, 3);
  assert.equal(take('c', -1e9).retryAfterMs, 1000);
  assert.equal(take('c', 12_000).allowed, true);
});

test('case 13: by default the step back is an error, and afterwards all is as it was', () => {
  const { limiter, clock, take } = clocked(only(5, 1));
  assert.equal(take('c', 10_000, 2).remaining, 3);
  assert.throws(() => take('c', 4000), ClockError);
  assert.equal(take('c', 10_000).remaining, 2);
  clock.ms = 11_000;
  assert.equal(limiter.peek('c').remaining, 3);
});

test('case 14: a clock that goes back and forth mints no tokens', () => {
  for (const onClockBackward of ['throw', 'hold']) {
    const { take } = clocked(only(10, 10), { onClockBackward });
    assert.equal(take('c', 1000, 10).remaining, 0);
    let allowed = 0;
    let thrownErrors = 0;
    for (let i = 0; i < 200; i += 1) {
      try {
        if (take('c', i % 2 === 0 ? 900 : 1000).allowed) allowed += 1;
      } catch (error) {
        assert.ok(error instanceof ClockError);
        thrownErrors += 1;
      }
    }
    assert.equal(allowed, 0);
    assert.equal(thrownErrors, onClockBackward === 'throw' ? 100 : 0);
    assert.equal(take('c', 1100).allowed, true);
  }
});

test('holding counts every reading that was lower, of peek too', () => {
  const { limiter, clock, take } = clocked(only(100, 0), { onClockBackward: 'hold' });
  take('a', 5);
  clock.ms = 4;
  limiter.peek('a');
  limiter.allow('b');
  limiter.check('a');
  clock.ms = 5;
  limiter.allow('a');
  clock.ms = 4.999;
  limiter.allow('a');
  assert.equal(limiter.stats().clockRegressions, 4);
});

test('case 17: while the clock stands still there are as many tokens as there are', () => {
  const { take } = clocked(only(20, 3));
  const decisions = Array.from({ length: 50 }, () => take('c', 1234.5));
  assert.equal(decisions.filter(({ allowed }) => allowed).length, 20);
  const retries = new Set(decisions.filter(({ allowed }) => !allowed).map((d) => d.retryAfterMs));
  assert.deepEqual([...retries], [333.334]);
});

test('any reading within 2^53 microseconds of zero is a time, below zero too', () => {
  const most = 2 ** 53 / 1000;
  const { take } = clocked(only(2, 1));
  assert.equal(take('c', -most, 2).remaining, 0);
  assert.equal(take('c', -most + 1000).remaining, 0);
  assert.equal(take('c', -0, 2).remaining, 0);
  assert.equal(take('c', 0).retryAfterMs, 1000);
  assert.equal(take('c', 1.7e12, 2).remaining, 0);
  assert.equal(take('c', most, 2).remaining, 0);
  assert.equal(take('c', most).retryAfterMs, 1000);
});

test('readings are rounded to the nearest microsecond, a half to the even one', () => {
  const { take } = clocked(only(1, 1));
  const cases = [
    [0.0005, 1000],
    [0.0015, 999.998],
    [0.0025, 999.998],
    [0.00250001, 999.997],
  ];
  take('c', 0);
  for (const [at, retryAfterMs] of cases)
    assert.equal(take('c', at).retryAfterMs, retryAfterMs, `${at}`);
});

test('the clock is read once for each decision, with nothing else, and for nothing but decisions', () => {
  const calls = [];
  const limiter = new TierLimiter({
    policies: only(9, 1),
    now(...given) {
      calls.push([this, given]);
      return 0;
    },
    seed,
  });
  limiter.setPolicies(only(8, 1));
  limiter.setTier('c', 'pro');
  limiter.stats();
  assert.equal(calls.length, 0);
  limiter.allow('c');
  limiter.check('c', { tier: 'pro' });
  limiter.peek('c');
  assert.deepEqual(
    calls.map(([, given]) => given),
    [[], [], []],
  );
  limiter.dispose();
  assert.equal(calls.length, 3);
});

test('what now() throws comes through, and the decision was not made', () => {
  const { limiter, clock } = clocked(only(2, 0));
  Object.defineProperty(clock, 'ms', {
    configurable: true,
    get() {
      throw new Error('the clock is broken');
    },
  });
  assert.throws(() => limiter.allow('c'), { message: 'the clock is broken' });
  Object.defineProperty(clock, 'ms', { value: 0 });
  assert.deepEqual(
    [limiter.allow('c'), limiter.allow('c'), limiter.allow('c')],
    [true, true, false],
  );
});

test('a clock that asks the limiter itself gets an answer, and so does who asked for the time', () => {
  let inner = () => {};
  const limiter = new TierLimiter({
    policies: {
      default: { capacity: 3, refillPerSecond: 0 },
      tiers: { one: { capacity: 1, refillPerSecond: 0 }, two: { capacity: 2, refillPerSecond: 0 } },
    },
    now() {
      const ask = inner;
      inner = () => {};
      ask();
      return 0;
    },
    seed,
  });
  const asking = [];
  const ask = (call) => {
    inner = () => asking.push(call());
  };

  ask(() => limiter.check('somebody with a much longer name, ü', { tier: 'two' }));
  const outer = limiter.check('c', { tier: 'one' });
  assert.deepEqual([outer.limit, outer.remaining, outer.tier], [1, 0, 'one']);
  assert.deepEqual([asking[0].limit, asking[0].remaining, asking[0].tier], [2, 1, 'two']);

  // The client is still the one that was asked for, though another name was written since.
  ask(() => limiter.allow('x'));
  assert.equal(limiter.check('c', { tier: 'one' }).allowed, false);
  ask(() => limiter.peek('y'));
  assert.equal(limiter.peek('c', { tier: 'one' }).allowed, false);
  ask(() => limiter.check('z', { tier: 'two' }));
  assert.equal(limiter.allow('c', 1, 'one'), false);

  ask(() => limiter.setPolicies({ default: { capacity: 9, refillPerSecond: 0 } }));
  assert.equal(limiter.check('d', { tier: 'two' }).limit, 9);

  ask(() => limiter.setTier('d', 'three'));
  assert.equal(limiter.check('d').tier, 'three');

  for (const verb of ['allow', 'check', 'peek']) {
    const doomed = new TierLimiter({
      policies: only(1, 1),
      now: () => doomed.dispose() ?? 0,
      seed,
    });
    assert.throws(() => doomed[verb]('c'), { message: /is disposed/ });
  }
  assert.equal(limiter.peek('e').remaining, 9);
});

const fakes = `
  globalThis.readings = [];
  const next = () => readings.shift();
  performance.now = next;
  Date.now = next;
`;

test('the default clock is held: it never steps back', async () => {
  const { stdout, stderr } = await runScript(`
    import { TierLimiter } from 'tierlimit';
    ${fakes}
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(2, 1))} });
    readings.push(5000, 5000, 1000, 5999.999, 6000);
    const answers = Array.from({ length: 5 }, () => limiter.allow('c'));
    console.log(JSON.stringify([answers, limiter.stats().clockRegressions]));
  `);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), [[true, true, false, false, true], 1]);
});

test('where a runtime has no performance, the default clock is the time of day', async () => {
  const { stdout, stderr } = await runScript(`
    import { TierLimiter } from 'tierlimit';
    ${fakes}
    delete globalThis.performance;
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(1, 1))} });
    readings.push(1.7e12, 1.7e12 + 999, 1.6e12, 1.7e12 + 1000);
    console.log(JSON.stringify(Array.from({ length: 4 }, () => limiter.allow('c'))));
  `);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), [true, false, false, true]);
});

test('the default clock is a real one', () => {
  const limiter = new TierLimiter({ policies: only(1, 1e6) });
  assert.equal(limiter.allow('c'), true);
  // A token a microsecond: as soon as the clock moves there is one.
  while (!limiter.allow('c'));
  limiter.dispose();
});
