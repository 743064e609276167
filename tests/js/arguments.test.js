// Arguments and options: what is not as it should be is an error that names it, and never a decision.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';

import { clocked, only, seed, thrown } from './support/limiter.js';

/** Of every kind one, and how an error message shows it. */
const values = {
  null: [null, 'null'],
  NaN: [NaN, 'NaN'],
  numeral: ['5', '"5"'],
  text: ['abc', '"abc"'],
  object: [{}, 'an Object'],
  array: [[7], 'an Array'],
  boolean: [true, 'true'],
  bigint: [5n, '5n'],
  symbol: [Symbol('s'), 'Symbol(s)'],
  function: [() => 5, 'a Function'],
  date: [new Date(5), 'a Date'],
  number: [5, '5'],
  negative: [-1, '-1'],
  zero: [0, '0'],
  'minus zero': [-0, '-0'],
  fraction: [1.5, '1.5'],
  'a little more than 1': [1.0000000000000002, '1.0000000000000002'],
  '2^32+1': [4294967297, '4294967297'],
  '2^53': [2 ** 53, '9007199254740992'],
  '-2^53': [-(2 ** 53), '-9007199254740992'],
  '1e300': [1e300, '1e+300'],
  Infinity: [Infinity, 'Infinity'],
  '-Infinity': [-Infinity, '-Infinity'],
};

/**
 * The error that refuses an argument: of the given class, with the argument's name and its value.
 *
 * @param {unknown} error
 * @param {TypeErrorConstructor | RangeErrorConstructor} Class
 * @param {string} name
 * @param {string} shown
 */
function assertNames(error, Class, name, shown) {
  assert.ok(error instanceof Class, `${name} ${shown}: ${error}`);
  assert.ok(error.message.includes(name), error.message);
  assert.ok(error.message.includes(shown), `${error.message} does not show ${shown}`);
}

for (const [kind, [value, shown]] of Object.entries(values)) {
  test(`case 29: cost is ${kind}`, () => {
    const { limiter } = clocked(only(5e9, 1));
    const before = limiter.stats();
    const calls = [
      () => limiter.allow('c', value),
      () => limiter.check('c', { cost: value }),
      () => limiter.peek('c', { cost: value }),
    ];
    if (Number.isSafeInteger(value) && value >= 1) {
      assert.equal(calls[0](), true);
      assert.equal(calls[1]().remaining, 5e9 - 2 * value < 0 ? 5e9 - value : 5e9 - 2 * value);
      return;
    }
    for (const call of calls) {
      const Class = typeof value === 'number' ? RangeError : TypeError;
      assertNames(thrown(call), Class, 'cost', shown);
    }
    assert.deepEqual(limiter.stats(), before);
    assert.equal(limiter.check('c').remaining, 5e9 - 1);
  });

  test(`case 29: now() returns ${kind}`, () => {
    const isNumber = typeof value === 'number';
    const isTime = isNumber && Math.abs(value * 1000) <= 2 ** 53;
    const { limiter, clock } = clocked(only(3, 1));
    const calls = [() => limiter.allow('c'), () => limiter.check('c'), () => limiter.peek('c')];
    clock.ms = value;
    if (isTime) {
      assert.equal(calls[0](), true);
      assert.equal(calls[1]().remaining, 1);
      assert.equal(calls[2]().remaining, 1);
      return;
    }
    for (const onClockBackward of ['throw', 'hold']) {
      const held = clocked(only(3, 1), { onClockBackward });
      held.clock.ms = 5;
      held.limiter.check('c');
      const before = held.limiter.stats();
      held.clock.ms = value;
      for (const call of [
        ...calls,
        () => held.limiter.allow('c'),
        () => held.limiter.check('c'),
        () => held.limiter.peek('c'),
      ]) {
        assertNames(thrown(call), isNumber ? RangeError : TypeError, 'now()', shown);
      }
      // The bad reading has left nothing behind.
      assert.deepEqual(held.limiter.stats(), before);
      assert.equal(held.take('c', 5).remaining, 1);
    }
    assert.equal(limiter.stats().buckets, 0);
  });

  test(`case 29: client or tier is ${kind}`, () => {
    const { limiter } = clocked(only(3, 1));
    const before = limiter.stats();
    if (typeof value === 'string') {
      limiter.setTier(value, value);
      assert.equal(limiter.check(value, { tier: value }).tier, value);
      return;
    }
    const client = [
      () => limiter.allow(value),
      () => limiter.check(value),
      () => limiter.peek(value),
      () => limiter.setTier(value, 'pro'),
      () => limiter.setTier(value, null),
    ];
    for (const call of client) assertNames(thrown(call), TypeError, 'client', shown);
    const tier = [
      () => limiter.allow('c', 1, value),
      () => limiter.check('c', { tier: value }),
      () => limiter.peek('c', { tier: value }),
      () => limiter.setTier('c', value),
    ];
    if (value !== null) {
      for (const call of tier) assertNames(thrown(call), TypeError, 'tier', shown);
    }
    assert.deepEqual(limiter.stats(), before);
  });

  test(`case 29: the options of a check are ${kind}`, () => {
    const { limiter } = clocked(only(3, 1));
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) {
      assert.equal(limiter.check('c', value).remaining, 2);
      return;
    }
    if (Array.isArray(value)) {
      assertNames(
        thrown(() => limiter.check('c', value)),
        TypeError,
        'option',
        '"0"',
      );
      return;
    }
    assertNames(
      thrown(() => limiter.check('c', value)),
      TypeError,
      'options',
      shown,
    );
    assertNames(
      thrown(() => limiter.peek('c', value)),
      TypeError,
      'options',
      shown,
    );
    assert.equal(limiter.check('c').remaining, 2);
  });

  test(`case 29: an option of the limiter is ${kind}`, () => {
    const policies = only(3, 1);
    const made = (options) => thrown(() => new TierLimiter({ policies, ...options }));
    const isNumber = typeof value === 'number';

    for (const [name, least, most] of [
      ['maxClients', 8, 2 ** 27],
      ['maxBytes', 1024, 2 ** 32],
    ]) {
      const error = made({ [name]: value });
      assertNames(error, isNumber ? RangeError : TypeError, name, shown);
      if (isNumber) assert.match(error.message, new RegExp(`${least} to ${most}`));
    }
    for (const name of ['strict', 'sweep']) {
      if (typeof value !== 'boolean') assertNames(made({ [name]: value }), TypeError, name, shown);
    }
    for (const name of ['onFull', 'onClockBackward', 'seed']) {
      assertNames(made({ [name]: value }), TypeError, name, shown);
    }
    if (typeof value !== 'function') assertNames(made({ now: value }), TypeError, 'now', shown);
    const isObject = typeof value === 'object' && value !== null;
    const what = Array.isArray(value) ? 'option "0"' : isObject ? 'policies' : 'options';
    assertNames(
      thrown(() => new TierLimiter(value)),
      TypeError,
      what,
      '',
    );
  });
}

test('case 29: what is left out and what is undefined are the same', () => {
  const names = [
    'now',
    'onClockBackward',
    'maxClients',
    'maxBytes',
    'onFull',
    'strict',
    'sweep',
    'seed',
  ];
  const limiter = new TierLimiter({
    policies: only(3, 1),
    ...Object.fromEntries(names.map((name) => [name, undefined])),
  });
  assert.equal(limiter.allow('c', undefined, undefined), true);
  assert.equal(limiter.stats().maxClients, 262_144);
  for (const call of [
    () => limiter.allow(),
    () => limiter.allow(undefined),
    () => limiter.check(),
    () => limiter.peek(undefined, {}),
    () => limiter.setTier(),
  ]) {
    assertNames(thrown(call), TypeError, 'client', 'undefined');
  }
  assertNames(
    thrown(() => limiter.setTier('c')),
    TypeError,
    'tier',
    'undefined',
  );
  assertNames(
    thrown(() => limiter.setPolicies()),
    TypeError,
    'policies',
    'undefined',
  );
  assertNames(
    thrown(() => new TierLimiter()),
    TypeError,
    'options',
    'undefined',
  );
  assertNames(
    thrown(() => new TierLimiter({})),
    TypeError,
    'policies',
    'undefined',
  );
  const { limiter: timeless } = clocked(only(3, 1), { now: () => undefined });
  assertNames(
    thrown(() => timeless.allow('c')),
    TypeError,
    'now()',
    'undefined',
  );
});

test('an option that there is not is named', () => {
  for (const name of ['polices', 'onfull', 'max_clients', 'constructor', '__proto__', '']) {
    const options = Object.defineProperty({ policies: only(3, 1) }, name, {
      value: 5,
      enumerable: true,
    });
    assertNames(
      thrown(() => new TierLimiter(options)),
      TypeError,
      'option',
      JSON.stringify(name),
    );
  }
  const { limiter } = clocked(only(3, 1));
  for (const name of ['costs', 'Tier', 'nowMs', 'constructor']) {
    for (const verb of ['check', 'peek']) {
      const call = () => limiter[verb]('c', { cost: 2, [name]: 1 });
      assertNames(thrown(call), TypeError, 'option', JSON.stringify(name));
    }
  }
  assert.equal(limiter.stats().buckets, 0);
  assertNames(
    thrown(() => new TierLimiter({ policies: only(3, 1), onFull: 'Evict' })),
    TypeError,
    'onFull',
    '"Evict"',
  );
});

test('the bounds of options are theirs', () => {
  const policies = only(3, 1);
  for (const [name, inside, outside] of [
    ['maxClients', [8, 2 ** 27], [7, 2 ** 27 + 1, 8.5]],
    ['maxBytes', [1024, 2 ** 32], [1023, 2 ** 32 + 1, 1024.5]],
  ]) {
    for (const value of inside) {
      const limiter = new TierLimiter({ policies, [name]: value });
      assert.equal(limiter.allow('c'), true);
      limiter.dispose();
    }
    for (const value of outside) {
      assertNames(
        thrown(() => new TierLimiter({ policies, [name]: value })),
        RangeError,
        name,
        String(value),
      );
    }
  }
  for (const length of [0, 15, 17]) {
    assertNames(
      thrown(() => new TierLimiter({ policies, seed: new Uint8Array(length) })),
      RangeError,
      'seed',
      String(length),
    );
  }
});

test('a seed is copied, also out of the middle of a buffer', () => {
  const bytes = new Uint8Array(40).fill(9);
  bytes.set(seed, 11);
  const middle = bytes.subarray(11, 27);
  const evicted = (given) => {
    const { limiter } = clocked(only(2, 0), { seed: given, maxClients: 8 });
    middle.fill(0);
    for (let i = 0; i < 200; i += 1) limiter.allow(`c${i}`);
    middle.set(seed);
    return Array.from({ length: 200 }, (_, i) => limiter.peek(`c${i}`).remaining).join('');
  };
  // Which clients are forgotten depends on the seed alone.
  assert.equal(evicted(middle), evicted(seed));
  assert.notEqual(evicted(new Uint8Array(16)), evicted(seed));
});

test('long values are shortened in messages', () => {
  const { limiter } = clocked(only(3, 1));
  const { message } = thrown(() => limiter.allow('c', 'x'.repeat(1e6)));
  assert.ok(message.length < 200, message);
});

test('case 26: whatever is thrown is an Error with a message, and the limiter goes on', () => {
  const { limiter, take } = clocked(only(3, 1));
  take('c', 0);
  const bad = [
    ...Object.values(values).flatMap(([value]) => [
      () => limiter.allow(value, value, value),
      () => limiter.check(value, value),
      () => limiter.peek(value, { cost: value, tier: value }),
      () => limiter.setPolicies(value),
      () => new TierLimiter(value),
      () => new TierLimiter({ policies: value }),
      () => TierLimiter.forIsolate(value, value),
    ]),
    () => TierLimiter(),
    () => limiter.allow.call(null, 'c'),
  ];
  for (const call of bad) {
    try {
      call();
    } catch (error) {
      assert.ok(error instanceof Error, `${typeof error}`);
      assert.ok(error.message.length > 10, `${error}`);
    }
  }
  assert.deepEqual([limiter.revision, limiter.peek('c').remaining], [1, 2]);
});
