// The independent model's own arithmetic, checked against definitions by brute force and against worked values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exactly,
  fromBits,
  nearestDouble,
  roundingInterval,
  roundToEven,
} from '../model/double.js';
import { closestBelow, simplestIn } from '../model/fractions.js';
import { Digits, jsonText } from '../model/json.js';
import { makeLimit } from '../model/limit.js';
import { ModelLimiter } from '../model/limiter.js';
import { judgeDocument } from '../model/policy.js';
import { Random } from '../model/random.js';
import { Rational } from '../model/rational.js';
import { toMicros, waitMs } from '../model/time.js';

const fraction = (num, den = 1n) => new Rational(num, den);
const decimal = (text) => Rational.fromDecimal(text);

test('a decimal text is exactly the fraction that it says', () => {
  for (const [text, expected] of [
    ['0.1', '1/10'],
    ['-0', '0'],
    ['-12.50', '-25/2'],
    ['1e3', '1000'],
    ['1.5E-3', '3/2000'],
    ['9007199254740993', '9007199254740993'],
    ['0.3333333333333333', '3333333333333333/10000000000000000'],
  ]) {
    assert.equal(String(decimal(text)), expected);
  }
  for (const text of ['', '+1', '01', '.5', '1.', '1e', 'NaN', '0x10', ' 1']) {
    assert.throws(() => decimal(text), SyntaxError);
  }
});

test('floor and ceil go down and up on both sides of zero', () => {
  assert.deepEqual([fraction(7n, 2n).floor(), fraction(7n, 2n).ceil()], [3n, 4n]);
  assert.deepEqual([fraction(-7n, 2n).floor(), fraction(-7n, 2n).ceil()], [-4n, -3n]);
  assert.deepEqual([fraction(6n, 3n).floor(), fraction(6n, 3n).ceil()], [2n, 2n]);
});

test('the double nearest to a decimal is the one that JavaScript reads', () => {
  const random = new Random(7);
  const texts = [
    '0',
    '5e-324',
    '2e-324',
    '3e-324',
    '2.2250738585072011e-308',
    '1.7976931348623157e308',
  ];
  texts.push(
    '1e309',
    '1.7976931348623159e308',
    '9007199254740993',
    '9007199254740995',
    '1e23',
    '0.1',
  );
  for (let i = 0; i < 3000; i += 1) {
    texts.push(`${random.whole(0, 99)}.${random.digits(17)}e${random.whole(-340, 320)}`);
  }
  for (const text of texts) assert.equal(nearestDouble(decimal(text)), Number(text), text);
});

test('a rounding interval ends half way to the neighbours', () => {
  const random = new Random(8);
  const numbers = [1, 2, 0.1, 5e-324, 2 ** -1022, 2 ** 53, 1e300];
  for (let i = 0; i < 500; i += 1) numbers.push(random.fraction() * 10 ** random.whole(-30, 30));
  const tiny = fraction(1n, 10n ** 1000n);
  for (const number of numbers) {
    const { low, high } = roundingInterval(number);
    assert.equal(nearestDouble(low.plus(tiny)), number);
    assert.equal(nearestDouble(high.minus(tiny)), number);
    assert.ok(nearestDouble(low.minus(tiny)) < number);
    assert.ok(nearestDouble(high.plus(tiny)) > number);
  }
  assert.equal(String(exactly(0.5)), '1/2');
  assert.equal(String(exactly(-3)), '-3');
  assert.equal(String(roundingInterval(1).high), String(fraction(2n ** 53n + 1n, 2n ** 53n)));
});

test('the simplest fraction near a double is what was meant', () => {
  const simplest = (text) => {
    const { low, high } = roundingInterval(Number(text));
    return String(simplestIn(low, high));
  };
  assert.equal(simplest('0.3333333333333333'), '1/3');
  assert.equal(simplest('0.1'), '1/10');
  assert.equal(simplest('0.7692307692307693'), '10/13');
  assert.equal(simplest('3'), '3');
  assert.equal(simplest('5e-324') === '0', false);
  assert.equal(simplest('0'), '0');
});

test('the simplest fraction in an interval has the least denominator, then the least numerator', () => {
  const random = new Random(9);
  for (let i = 0; i < 2000; i += 1) {
    const low = fraction(random.whole(1, 400), random.whole(1, 60));
    const high = low.plus(fraction(random.whole(0, 40), random.whole(1, 400)));
    let den = 1n;
    let num;
    for (; ; den += 1n) {
      num = low.times(fraction(den)).ceil();
      if (!fraction(num, den).isMore(high)) break;
    }
    assert.equal(String(simplestIn(low, high)), String(fraction(num, den)), `${low} to ${high}`);
  }
});

test('the closest fraction from below is the largest within the bounds', () => {
  const random = new Random(10);
  for (let i = 0; i < 2000; i += 1) {
    const target = fraction(random.whole(0, 3000), random.whole(1, 700));
    const maxNum = random.whole(0, 60);
    const maxDen = random.whole(1, 60);
    let best = fraction(0n);
    for (let den = 1; den <= maxDen; den += 1) {
      const most = target.times(fraction(den)).floor();
      const found = fraction(most < BigInt(maxNum) ? most : maxNum, den);
      if (found.isMore(best)) best = found;
    }
    const found = closestBelow(target, BigInt(maxNum), BigInt(maxDen));
    assert.equal(String(found), String(best), `${target} with ${maxNum}/${maxDen}`);
  }
});

test('each rounding rule of a limit comes into force where the one before does not fit', () => {
  const limit = (capacity, perSecond) => makeLimit(decimal(capacity), perSecond);
  const exact = limit('5', fraction(10n, 13n));
  assert.deepEqual(
    [exact.rateStep, exact.unit, String(exact.rate)],
    ['exact', 13_00000n, '1/1300000'],
  );

  // 1e6 tokens of 10^22 credits each do not fit; a third of a token per second does.
  const third = limit('1e6', decimal('0.3333333333333333'));
  assert.deepEqual([third.rateStep, String(third.rate)], ['simplest', '1/3000000']);

  const below = limit('1e11', decimal('3.14159265358979323846'));
  assert.equal(below.rateStep, 'below');
  assert.ok(below.rate.isLess(decimal('3.14159265358979323846e-6')));
  assert.ok(below.capacity.times(fraction(below.unit)).num < 2n ** 63n);
  assert.equal(limit('1e12', decimal('3.14159265358979323846')), null);

  const rounded = limit('1.33333333333333333333', decimal('1'));
  assert.deepEqual([rounded.capacityRounded, String(rounded.capacity)], [true, '4/3']);
  assert.equal(rounded.configured, 4 / 3);

  assert.equal(limit('9223372036854775807', decimal('0')).unit, 1n);
  // The numbers that round to the double 2^63 begin 512 below it.
  const big = limit('9223372036854775808', decimal('0'));
  assert.deepEqual([big.capacityRounded, String(big.capacity)], [true, String(2n ** 63n - 512n)]);
  assert.equal(limit('9223372036854777856', decimal('0')), null);
  assert.equal(limit('9223372036854775807', decimal('0.1')), null);
});

test('ordinary quotas load', () => {
  for (const [capacity, tokens, seconds] of [
    ['1e6', '11.57407407', '1'],
    ['1e9', '11574.074074', '1'],
    ['1e6', '0.3333333333333333', '1'],
    ['7', '7', '604800'],
    ['1e12', '1e12', '2592000'],
  ]) {
    assert.ok(makeLimit(decimal(capacity), decimal(tokens).over(decimal(seconds))));
  }
});

test('a reading is rounded to the nearest whole microsecond, ties to even', () => {
  assert.deepEqual([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 2 ** 53].map(roundToEven), [
    0,
    2,
    2,
    -0,
    -2,
    0,
    2 ** 53,
  ]);
  assert.equal(toMicros(0.0025), 2n);
  assert.equal(toMicros(9007199254740.992), 2n ** 53n);
  for (const nowMs of [NaN, Infinity, 9007199254741, -9007199254741]) {
    assert.equal(toMicros(nowMs), null);
  }
});

test('a wait is raised where doubles are coarse, and only as far as needed', () => {
  assert.equal(waitMs(0, 1_000_000n), 1000);
  const random = new Random(11);
  let raised = 0;
  for (let i = 0; i < 3000; i += 1) {
    const nowMs = random.fraction() * 9 * 10 ** random.whole(8, 12);
    const wait = BigInt(random.whole(1, 2 ** random.whole(1, 31)));
    const ms = waitMs(nowMs, wait);
    const instant = toMicros(nowMs) + wait;
    assert.ok(toMicros(nowMs + ms) >= instant);
    if (ms !== Number(wait) / 1000) {
      raised += 1;
      const less = (Math.round(ms * 1000) - 1) / 1000;
      assert.ok(toMicros(nowMs + less) < instant);
    }
  }
  assert.ok(raised > 50, `${raised} were raised`);
});

test('doubles travel as their bits', () => {
  assert.equal(fromBits('3ff0000000000000'), 1);
});

test('documents are judged by their members', () => {
  const policy = (capacity) =>
    new Map([
      ['capacity', new Digits(capacity)],
      ['refillPerSecond', new Digits('1')],
    ]);
  const document = new Map([
    ['default', policy('5')],
    ['tiers', new Map([['a/b', policy('0')]])],
    ['clients', new Map([['acme', 'gone']])],
  ]);
  assert.equal(
    jsonText(document),
    '{"default":{"capacity":5,"refillPerSecond":1},' +
      '"tiers":{"a/b":{"capacity":0,"refillPerSecond":1}},"clients":{"acme":"gone"}}',
  );
  assert.deepEqual(judgeDocument(document, false).policies.rejected, [
    { path: '/tiers/a~1b/capacity', code: 'invalid-value' },
    { path: '/clients/acme', code: 'unknown-tier' },
  ]);
  assert.equal(judgeDocument(document, true).refused.length, 2);
  document.delete('default');
  assert.equal(judgeDocument(document, false).refused[0].code, 'missing-member');
});

/** A document as the model reads it, from what JSON.parse would give. */
function read(value) {
  if (typeof value === 'number') return new Digits(String(value));
  if (Array.isArray(value)) return value.map(read);
  if (value === null || typeof value !== 'object') return value;
  return new Map(Object.entries(value).map(([name, child]) => [name, read(child)]));
}

test('limits, windows and settings are judged by the rules of their place', () => {
  const faults = (policy) => {
    const fine = { capacity: 1, refillPerSecond: 1 };
    const { rejected } = judgeDocument(
      read({ default: fine, tiers: { t: policy } }),
      false,
    ).policies;
    return rejected.map(({ path, code }) => `${path.slice('/tiers/t'.length)} ${code}`);
  };
  const bucket = { capacity: 5, refillPerSecond: 1 };
  const window = { algorithm: 'sliding-window', limit: 10, windowSeconds: 60 };
  const a = { name: 'a', ...bucket };
  assert.deepEqual(faults({ ...bucket, onRaise: 'fill', accrual: 'prorated' }), []);
  assert.deepEqual(faults({ limits: [a, { name: 'b', ...window }] }), []);
  assert.deepEqual(
    faults({ algorithm: 'fixed-window', limits: [{ name: 'a', limit: 1, windowSeconds: 1 }] }),
    [],
  );
  assert.deepEqual(faults({ limits: [] }), ['/limits invalid-value']);
  assert.deepEqual(faults({ limits: Array(9).fill(null) }), ['/limits invalid-value']);
  assert.deepEqual(faults({ limits: [a, a] }), ['/limits/1/name invalid-value']);
  assert.deepEqual(faults({ limits: [bucket] }), ['/limits/0 missing-member']);
  assert.deepEqual(faults({ limits: [a], capacity: 0 }), ['/capacity conflicting-members']);
  assert.deepEqual(faults({ name: 'main', ...bucket }), ['/name unknown-member']);
  assert.deepEqual(faults({ ...window, onRaise: 'never' }), ['/onRaise unknown-member']);
  assert.deepEqual(faults({ limits: [a, { name: 'b', ...window }], accrual: null }), [
    '/accrual unknown-member',
  ]);
  assert.deepEqual(faults({ ...window, limit: 10_001 }), ['/limit invalid-value']);
  assert.deepEqual(faults({ algorithm: 'fixed-window' }), [' missing-member', ' missing-member']);
  assert.deepEqual(faults({ algorithm: 'leaky', limit: 0 }), [
    '/algorithm invalid-value',
    '/limit invalid-value',
  ]);
});

/** What a limiter by the book answers: `remaining` of checks of one token, or null where one is denied. */
function remaining(limiter, nowMs, options = {}) {
  const { allowed, remaining: left } = limiter.check({ nowMs, client: 'acme', ...options });
  return allowed ? Number(left) : null;
}

test('a raise does what the policy says, once', () => {
  const policies = (capacity, onRaise) =>
    read({ default: { capacity, refillPerSecond: 0, onRaise } });
  for (const [onRaise, expected] of [
    ['keep', 3],
    ['fill', 19],
    ['proportional', 7],
    ['add', 13],
  ]) {
    const limiter = new ModelLimiter();
    limiter.setPolicies(policies(10, onRaise));
    assert.equal(remaining(limiter, 0, { cost: 6 }), 4);
    limiter.setPolicies(policies(20, onRaise), 0);
    assert.equal(remaining(limiter, 1), expected, onRaise);
    limiter.setPolicies(policies(20, onRaise), 1);
    assert.equal(remaining(limiter, 2), expected - 1, onRaise);
  }
});

test('the worked case of prorated accrual', () => {
  for (const [accrual, expected] of [
    ['at-next', [99, 99]],
    ['prorated', [9, 18]],
  ]) {
    const policies = (refillPerSecond) =>
      read({ default: { capacity: 100, refillPerSecond, accrual } });
    const limiter = new ModelLimiter();
    limiter.setPolicies(policies(1));
    assert.equal(remaining(limiter, 0, { cost: 100 }), 0);
    limiter.setPolicies(policies(10), 10_000);
    assert.deepEqual([remaining(limiter, 10_000), remaining(limiter, 11_000)], expected, accrual);
  }
});

test('windows count what they say', () => {
  const limiterOf = (algorithm) => {
    const limiter = new ModelLimiter();
    limiter.setPolicies(read({ default: { algorithm, limit: 3, windowSeconds: 60 } }));
    return limiter;
  };
  const at = (limiter, ...times) => times.map((seconds) => remaining(limiter, seconds * 1000));
  const times = [30, 59, 59, 59, 60, 89.999999, 90, 118.999999, 119];
  assert.deepEqual(at(limiterOf('fixed-window'), ...times), [2, 1, 0, null, null, null, 2, 1, 0]);
  assert.deepEqual(at(limiterOf('sliding-window'), ...times), [
    2,
    1,
    0,
    null,
    null,
    null,
    0,
    null,
    1,
  ]);
});

test('of several limits all are charged or none, and the order means nothing', () => {
  const limits = [
    { name: 'A', capacity: 10, refill: { tokens: 10, seconds: 60 } },
    { name: 'B', capacity: 30, refill: { tokens: 30, seconds: 1800 } },
  ];
  for (const ordered of [limits, [...limits].reverse()]) {
    const limiter = new ModelLimiter();
    limiter.setPolicies(read({ default: { limits: ordered } }));
    const decisions = Array.from({ length: 31 }, () => limiter.check({ nowMs: 0, client: 'acme' }));
    assert.equal(decisions.filter(({ allowed }) => allowed).length, 10);
    const { limitName, limits: each } = decisions.at(-1);
    assert.equal(limitName, 'A');
    assert.equal(each.find(({ name }) => name === 'B').remaining, 20n);
  }
});

test('a reservation is settled once, and a refund fills nothing above its capacity', () => {
  const limiter = new ModelLimiter();
  limiter.setPolicies(read({ default: { capacity: 10, refillPerSecond: 0 } }));
  const request = { nowMs: 0, client: 'acme' };
  for (let i = 0; i < 2; i += 1) limiter.reserve({ ...request, cost: 4, ttlMs: 1000 });
  const settle = (nowMs, reservation, actual) => limiter.settle({ nowMs, reservation, actual });
  assert.deepEqual(settle(1, 0, 1), {
    kind: 'settlement',
    outcome: 'settled',
    returned: 3n,
    debt: 0n,
  });
  assert.equal(settle(1, 0, 1).outcome, 'already-settled');
  assert.equal(settle(1, 1, 10).debt, 1n);
  limiter.refund({ ...request, nowMs: 2, cost: 100 });
  assert.equal(limiter.peek({ ...request, nowMs: 2 }).remaining, 10n);
});
