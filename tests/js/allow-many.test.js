// Batches: one allow after the other at one reading of the clock, or none of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

import { ClockError, TierLimiter } from 'tierlimit';
import { withModule } from 'tierlimit/slim';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { clocked, notStrings, only, thrown } from './support/limiter.js';
import { coreBytes, coreWithin, watchMemories } from './support/memory.js';

const memories = watchMemories();

const limit = (capacity, refillPerSecond = 0) => ({ capacity, refillPerSecond });
const documents = [
  { default: limit(5, 2), tiers: { pro: limit(40, 9.5), broken: {} } },
  { default: limit(7.5, 0.3), tiers: { a: limit(1), pro: limit(8) }, clients: { é: 'a' } },
];
const names = [
  '',
  'c',
  '__proto__',
  'x'.repeat(24),
  'x'.repeat(25),
  'x'.repeat(5000),
  'é',
  '客户',
  '\ud800',
  `${'long-'.repeat(900)}é`,
  ...Array.from({ length: 30 }, (_, i) => `client-${i}`),
];

/** A limiter whose clock counts its readings, and may do something at each. */
function counting(policies, options = {}) {
  const clock = { ms: 0, readings: 0, hook: () => {} };
  const { limiter } = clocked(policies, {
    now: () => {
      clock.readings += 1;
      clock.hook();
      return clock.ms;
    },
    ...options,
  });
  return { limiter, clock };
}

/** That a call throws what is expected, and changes nothing for any of the clients. */
function assertNothingCharged(limiter, call, expected, clients = names) {
  const state = () => [limiter.stats(), clients.map((client) => limiter.peek(client))];
  const before = state();
  const error = thrown(call);
  assert.throws(() => {
    throw error;
  }, expected);
  assert.deepEqual(state(), before);
}

for (const options of [
  {},
  { maxClients: 16 },
  { maxClients: 16, onFull: 'deny' },
  { sweep: false },
  { onClockBackward: 'hold' },
]) {
  test(`as one by one: random batches with ${JSON.stringify(options)}`, (t) => {
    const random = new Random(32);
    const counts = { admitted: 0, denied: 0, repeated: 0, refused: 0 };
    const forgotten = { swept: 0, evictions: 0, tableFull: 0 };
    for (let round = 0; round < 8; round += 1) {
      const single = clocked(documents[0], options);
      const many = clocked(documents[0], options);
      const both = (change) => [single, many].map(({ limiter }) => change(limiter));
      let ms = 0;
      for (let i = 0; i < 400; i += 1) {
        if (random.chance(0.02)) both((limiter) => limiter.setPolicies(documents[i % 2]));
        if (random.chance(0.1)) {
          const name = random.pick(names);
          const tier = random.pick(['pro', 'nowhere', null]);
          both((limiter) => limiter.setTier(name, tier));
        }
        ms += random.weighted([
          [4, 0],
          [6, random.whole(0, 2_000_000) / 1000],
          [0.5, -random.whole(0, 1000)],
        ]);
        single.clock.ms = ms;
        many.clock.ms = ms;
        const few = random.whole(1, names.length);
        // An empty batch reads the clock, and none of no requests does.
        const least = options.onClockBackward === 'hold' ? 1 : 0;
        const clients = Array.from({ length: random.whole(least, 40) }, () =>
          random.chance(0.1) ? `passing ${i}` : names[random.whole(0, few - 1)],
        );
        const cost = random.pick([undefined, 1, 2, 5, 30]);
        const tier = random.pick([undefined, null, 'pro', 'broken', 'nowhere', '\ud800']);
        counts.repeated += clients.length - new Set(clients).size;

        // The first of them whose time has not come, if there is one, speaks for all.
        let expected;
        let refusal;
        try {
          for (const client of clients) single.limiter.peek(client);
          expected = clients.map((client) => single.limiter.allow(client, cost, tier));
        } catch (error) {
          assert.ok(error instanceof ClockError);
          refusal = error;
        }
        if (refusal === undefined) {
          const actual = many.limiter.allowMany(clients, cost, tier);
          assert.deepEqual(actual, expected);
          for (const admitted of actual) counts[admitted ? 'admitted' : 'denied'] += 1;
        } else {
          counts.refused += 1;
          const error = thrown(() => many.limiter.allowMany(clients, cost, tier));
          assert.ok(error instanceof ClockError, `${error}`);
          assert.deepEqual([error.message, error.touchedMs], [refusal.message, refusal.touchedMs]);
        }
        const [wanted, got] = both((limiter) => limiter.stats());
        // A clock that holds counts its readings, of which a batch takes one.
        assert.deepEqual({ ...got, clockRegressions: 0 }, { ...wanted, clockRegressions: 0 });
      }
      const [wanted, got] = both((limiter) => {
        return [...names, 'new'].map((name) => outcome(() => limiter.peek(name)));
      });
      assert.deepEqual(got, wanted);
      const stats = many.limiter.stats();
      for (const kind of Object.keys(forgotten)) forgotten[kind] += stats[kind];
      both((limiter) => limiter.dispose());
    }
    t.diagnostic(JSON.stringify({ ...counts, ...forgotten }));
    // That there was something to compare.
    for (const kind of ['admitted', 'denied', 'repeated']) assert.ok(counts[kind] > 1000);
    assert.equal(counts.refused > 0, options.onClockBackward !== 'hold');
    assert.equal(forgotten.swept > 0, options.sweep !== false);
    assert.equal(forgotten.tableFull > 0, options.onFull === 'deny');
    assert.equal(forgotten.evictions > 0, options.maxClients === 16 && options.onFull !== 'deny');
  });
}

/** What a call comes to, for comparing. */
function outcome(call) {
  try {
    return call();
  } catch (error) {
    return error.message;
  }
}

test('several requests of one client are as many decisions, in the order of the array', () => {
  const { limiter } = clocked(only(2, 0));
  assert.deepEqual(limiter.allowMany(['a', 'b', 'a', 'a', 'b', 'c', 'b', 'a']), [
    true,
    true,
    true,
    false,
    true,
    true,
    false,
    false,
  ]);
  assert.deepEqual(limiter.allowMany(['a', 'c', 'c', 'd']), [false, true, false, true]);
  const { allowed, denied, buckets } = limiter.stats();
  assert.deepEqual([allowed, denied, buckets], [7, 5, 4]);
  // The cost and the tier are those of each.
  const tiered = clocked({ default: limit(1), tiers: { pro: limit(5) } }).limiter;
  assert.deepEqual(tiered.allowMany(['a', 'a', 'a', 'b'], 2, 'pro'), [true, true, false, true]);
  assert.deepEqual(tiered.allowMany(['a', 'b'], 2), [false, false]);
});

test('the cost and the tier may be left out, in every way', () => {
  const { limiter } = clocked({ default: limit(9), tiers: { pro: limit(9) } });
  limiter.setTier('b', 'pro');
  for (const rest of [[], [undefined], [1], [1, undefined], [1, null], [undefined, null]]) {
    assert.deepEqual(limiter.allowMany(['a', 'b'], ...rest), [true, true]);
  }
  assert.deepEqual([limiter.peek('a').remaining, limiter.peek('b').remaining], [3, 3]);
});

test('an empty batch is an empty answer', () => {
  const { limiter, clock } = counting(only(2, 0));
  assert.deepEqual(limiter.allowMany([]), []);
  assert.deepEqual(limiter.allowMany([], 5, 'pro'), []);
  const { allowed, denied, buckets } = limiter.stats();
  assert.deepEqual([allowed, denied, buckets, clock.readings], [0, 0, 0, 2]);
  // It is checked all the same.
  assert.throws(() => limiter.allowMany([], 0), RangeError);
  assert.throws(() => limiter.allowMany([], 1, 5), TypeError);
  clock.ms = NaN;
  assert.throws(() => limiter.allowMany([]), /now\(\) .* NaN/);
});

test('the clock is read once a batch', () => {
  const { limiter, clock } = counting(only(1, 1000));
  clock.hook = () => (clock.ms += 1);
  for (const size of [0, 1, 2, 300, 5000]) {
    const before = clock.readings;
    const clients = Array.from({ length: size }, (_, i) => `c${i % 100}`);
    const admitted = limiter.allowMany(clients).filter(Boolean).length;
    assert.equal(clock.readings, before + 1);
    // At a second reading the client would have its token again.
    assert.equal(admitted, Math.min(size, 100));
  }
  const before = clock.readings;
  assert.throws(() => limiter.allowMany(['a', 5]));
  assert.throws(() => limiter.allowMany(['a'], 0));
  assert.equal(clock.readings, before);
});

test('what is no array of strings is refused, and the message says where and what', () => {
  const { limiter } = clocked(only(9, 0));
  for (const [clients, shown] of [
    [undefined, 'undefined'],
    [null, 'null'],
    ['acme', '"acme"'],
    [5, '5'],
    [5n, '5n'],
    [true, 'true'],
    [Symbol('s'), 'Symbol(s)'],
    [() => ['a'], 'a Function'],
    [{}, 'an Object'],
    [{ 0: 'a', length: 1 }, 'an Object'],
    [new Set(['a']), 'a Set'],
    [new Uint8Array(2), 'a Uint8Array'],
    [['a'].values(), 'an Array Iterator'],
    [new String('acme'), 'a String'],
    [Object.create(['a']), 'an Object'],
  ]) {
    assertNothingCharged(limiter, () => limiter.allowMany(clients), {
      name: 'TypeError',
      message: `clients must be an array of strings; got ${shown}`,
    });
  }
  assert.throws(() => limiter.allowMany(), { message: /clients must be .* got undefined/ });
});

test('one bad element, wherever it is, and nobody is charged', () => {
  const { limiter } = clocked(only(9, 0));
  limiter.allowMany(names);
  for (const [element, shown] of notStrings) {
    for (const at of [0, 1, names.length - 1]) {
      const clients = names.with(at, element);
      assertNothingCharged(limiter, () => limiter.allowMany(clients), {
        name: 'TypeError',
        message: `clients[${at}] must be a string; got ${shown}`,
      });
    }
  }
  const sparse = [...names];
  delete sparse[7];
  for (const [clients, at] of [
    [sparse, 7],
    [Array(3), 0],
    [Object.assign([], { 2: 'a' }), 0],
    [Object.assign(['a'], { length: 2 ** 32 - 1 }), 1],
  ]) {
    assertNothingCharged(limiter, () => limiter.allowMany(clients), {
      name: 'TypeError',
      message: `clients[${at}] must be a string; got undefined`,
    });
  }
});

test('a bad cost or a bad tier, and nobody is charged', () => {
  const { limiter } = clocked(only(9, 0));
  limiter.allowMany(names);
  const { limiter: single } = clocked(only(9, 0));
  for (const cost of [0, -0, -1, 1.5, NaN, Infinity, 2 ** 53, null, '1', 1n, true, {}, [1]]) {
    const { name, message } = thrown(() => single.allow('c', cost));
    assert.match(message, /^cost must be a/);
    assertNothingCharged(limiter, () => limiter.allowMany(names, cost), { name, message });
  }
  for (const tier of [5, NaN, 5n, true, Symbol('s'), {}, ['pro'], () => 'pro']) {
    const { name, message } = thrown(() => single.allow('c', 1, tier));
    assert.match(message, /^tier must be a string or null/);
    assertNothingCharged(limiter, () => limiter.allowMany(names, 1, tier), { name, message });
  }
});

test('the clock is too early for one of them, wherever it is, and nobody is charged', () => {
  const { limiter, clock } = clocked(only(9, 1));
  clock.ms = 1000;
  limiter.allowMany(names);
  for (const late of [names[0], names[20], names.at(-1)]) {
    const others = names.filter((name) => name !== late);
    clock.ms += 10;
    limiter.allow(late);
    const touchedMs = clock.ms;
    clock.ms -= 5;
    for (const at of [0, 1, others.length]) {
      const clients = others.toSpliced(at, 0, late);
      const call = () => limiter.allowMany(clients);
      const expected = { name: 'ClockError', nowMs: clock.ms, touchedMs };
      assertNothingCharged(limiter, call, expected, others);
    }
    // In time for the others.
    assert.deepEqual(new Set(limiter.allowMany(others)), new Set([true]));
    clock.ms = touchedMs;
    assert.equal(limiter.peek(late).allowed, true);
  }
});

test('all or none also where buckets would be forgotten in the midst of it', () => {
  // Once something was swept at a later reading, a client whose bucket is forgotten is too early.
  for (const count of [100, 500, 2000]) {
    const { limiter, clock } = clocked(only(5, 1000));
    const clients = Array.from({ length: count }, (_, i) => `c${i}`);
    limiter.allowMany(clients);
    clock.ms = 1000;
    for (let i = 0; limiter.stats().swept === 0; i += 1) {
      assert.ok(i < 100_000);
      limiter.allow('busy');
    }
    clock.ms = 500;
    const before = limiter.stats();
    assert.throws(() => limiter.allowMany([...clients, 'never seen']), { touchedMs: 1000 });
    assert.throws(() => limiter.allowMany(clients), { touchedMs: 1000 });
    assert.deepEqual(limiter.stats(), before);
    const known = clients.filter((client) => outcome(() => limiter.peek(client)).allowed);
    assert.equal(known.length, before.buckets - 1);
    assert.deepEqual(new Set(limiter.allowMany(known)), new Set([true]));
    assert.equal(limiter.stats().allowed, before.allowed + known.length);
  }
});

test('a clock that throws or returns no time, and nobody is charged', () => {
  const { limiter, clock } = counting(only(9, 0));
  limiter.allowMany(names);
  const failing = (hook, ms) => {
    return () => {
      clock.hook = hook;
      clock.ms = ms;
      try {
        limiter.allowMany(names);
      } finally {
        clock.hook = () => {};
        clock.ms = 0;
      }
    };
  };
  const failure = new Error('no clock today');
  const broken = () => {
    throw failure;
  };
  assertNothingCharged(limiter, failing(broken, 0), failure);
  for (const [ms, name] of [
    [NaN, 'RangeError'],
    [Infinity, 'RangeError'],
    ['5', 'TypeError'],
    [undefined, 'TypeError'],
  ]) {
    assertNothingCharged(
      limiter,
      failing(() => {}, ms),
      { name, message: /^what now\(\) returns must be milliseconds/ },
    );
  }
  assert.deepEqual(new Set(limiter.allowMany(names)), new Set([true]));
});

test('a clock that disposes of the limiter, and one that decides by itself', () => {
  const { limiter, clock } = counting(only(9, 0));
  const { limiter: other } = clocked(only(3, 0));
  limiter.allowMany(names);
  clock.hook = () => limiter.dispose();
  assert.throws(() => limiter.allowMany(names), {
    name: 'Error',
    message: 'the TierLimiter is disposed',
  });
  assert.throws(() => limiter.allowMany(names), /is disposed/);
  // The next batch has nothing of that one.
  assert.deepEqual(other.allowMany(['a', 'a', 'a', 'a']), [true, true, true, false]);
  assert.equal(other.stats().buckets, 1);

  const busy = counting(only(9, 0));
  let asked = 0;
  busy.clock.hook = () => {
    asked += 1;
    if (asked % 2 === 1) assert.deepEqual(busy.limiter.allowMany(['x', 'y']), [true, true]);
    else assert.deepEqual(other.allowMany(['x', 'y', 'z']), [true, true, true]);
  };
  assert.deepEqual(busy.limiter.allowMany(['a', 'x', 'a'], 5), [true, true, false]);
  assert.equal(asked, 2);
  busy.clock.hook = () => {};
  assert.deepEqual(
    ['a', 'x', 'y'].map((name) => busy.limiter.peek(name).remaining),
    [4, 3, 8],
  );
});

test('a clock that changes the array or the policies: the names are those given, the limits the new ones', () => {
  const { limiter, clock } = counting({ default: limit(1), tiers: { a: limit(5), b: limit(9) } });
  const clients = ['a', 'b', 'c'];
  limiter.peek('a', { tier: 'b' });
  clock.hook = () => {
    clock.hook = () => {};
    clients[0] = 5;
    clients[1] = 'other';
    clients.push('one more');
    limiter.setPolicies({ default: limit(1), tiers: { b: limit(2), c: limit(9) } });
  };
  assert.deepEqual(limiter.allowMany(clients, 2, 'b'), [true, true, true]);
  assert.deepEqual(clients, [5, 'other', 'c', 'one more']);
  assert.deepEqual(
    ['a', 'b', 'c', 'other', 'one more', ''].map((name) => limiter.peek(name).remaining),
    [0, 0, 0, 1, 1, 1],
  );
});

test('any array will do, and stays as it was', () => {
  class Names extends Array {
    static get [Symbol.species]() {
      throw new Error('asked for another array');
    }
    *[Symbol.iterator]() {
      yield 'something else';
    }
  }
  const elements = ['a', 'b', 'a'];
  const getters = [];
  let readings = 0;
  for (const [index, name] of elements.entries()) {
    Object.defineProperty(getters, index, {
      get: () => {
        readings += 1;
        return readings > elements.length ? 5 : name;
      },
    });
  }
  for (const clients of [
    [...elements],
    Object.freeze([...elements]),
    Names.of(...elements),
    Object.freeze(Names.of(...elements)),
    Object.setPrototypeOf([...elements], null),
    new Proxy([...elements], {}),
    runInNewContext('["a", "b", "a"]'),
    Object.assign([...elements], { more: 5, '-1': 6 }),
    getters,
  ]) {
    const { limiter } = clocked(only(1, 0));
    const answer = limiter.allowMany(clients);
    assert.deepEqual(answer, [true, true, false]);
    assert.equal(Object.getPrototypeOf(answer), Array.prototype);
    assert.equal(limiter.stats().buckets, 2);
    assert.equal(clients.length, 3);
    // A getter has said what it says once; the others still have what they had.
    if (clients !== getters)
      assert.deepEqual(Array.prototype.slice.call([...'012'].map((i) => clients[i])), elements);
  }
  assert.equal(readings, 3);
});

test('the answer is another array each time, and the caller may change it', () => {
  const { limiter } = clocked(only(2, 0));
  const first = limiter.allowMany(['a']);
  first[0] = 'mine';
  first.push('more');
  const second = limiter.allowMany(['a']);
  assert.deepEqual([first, second], [['mine', 'more'], [true]]);
});

test('a hundred thousand names: an answer for each, and the memory is given back', () => {
  const { TierLimiter: Limiter } = withModule(coreBytes());
  const memory = memories.at(-1);
  const { limiter } = clocked(only(2, 0), {}, Limiter);
  const clients = Array.from({ length: 100_000 }, (_, i) => `client ${i % 5000}`);
  const answer = limiter.allowMany(clients);
  assert.equal(answer.length, 100_000);
  assert.ok(answer.every((admitted, i) => admitted === i < 10_000));
  // Once more, since new clients' buckets lie where the first batch was.
  limiter.allowMany(clients);
  const { byteLength } = memory.buffer;
  for (let i = 0; i < 20; i += 1) {
    assert.ok(limiter.allowMany(clients).every((admitted) => !admitted));
  }
  assert.equal(memory.buffer.byteLength, byteLength);
  assert.throws(() => limiter.allowMany(clients.with(99_999, 5)), TypeError);
  // New clients have what the batches had: more than lay idle beside it.
  for (let i = 0; i < 50_000; i += 1) limiter.allow(`new ${i}`);
  assert.equal(limiter.stats().buckets, 55_000);
  assert.equal(memory.buffer.byteLength, byteLength);
  limiter.dispose();
});

test('a batch whose clients are all new grows the table beneath it', () => {
  const { TierLimiter: Limiter } = withModule(coreBytes());
  const memory = memories.at(-1);
  const { limiter } = clocked(only(1, 0), {}, Limiter);
  limiter.allow('c');
  const { byteLength } = memory.buffer;
  const clients = Array.from({ length: 100_000 }, (_, i) => `client ${i}`);
  assert.deepEqual(new Set(limiter.allowMany(clients)), new Set([true]));
  assert.deepEqual(new Set(limiter.allowMany(clients)), new Set([false]));
  assert.ok(memory.buffer.byteLength > byteLength);
  assert.equal(limiter.stats().buckets, 100_001);
  limiter.dispose();
});

test('a batch for which there is no memory is an error, and nobody is charged', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 20));
  const { limiter } = clocked(only(2, 0), {}, Limiter);
  limiter.allow('a');
  const clients = Array.from({ length: 100_000 }, (_, i) => (i % 2 === 0 ? 'a' : 'b'));
  assertNothingCharged(
    limiter,
    () => limiter.allowMany(clients),
    { name: 'RangeError', message: /no memory for so many clients/ },
    ['a', 'b', 'c'],
  );
  assert.deepEqual(limiter.allowMany(['a', 'a', 'b']), [true, false, true]);
});

test('a limiter that is disposed, and a method that is pulled off its limiter', () => {
  const { limiter } = clocked(only(2, 0));
  const { allowMany } = limiter;
  for (const receiver of [undefined, null, {}, TierLimiter.prototype, limiter.client('c')]) {
    assert.throws(() => allowMany.call(receiver, ['a']), {
      name: 'TypeError',
      message: /^this must be a TierLimiter; got /,
    });
  }
  limiter.dispose();
  for (const clients of [['a'], [], 5]) {
    assert.throws(() => limiter.allowMany(clients), {
      name: 'Error',
      message: 'the TierLimiter is disposed',
    });
  }
});

test('forIsolate and slim have batches as well, and a first decision may be one', async () => {
  const { TierLimiter: Slim } = withModule(coreBytes());
  for (const [Class, name] of [
    [TierLimiter, 'batches'],
    [Slim, 'batches of slim'],
  ]) {
    const limiter = Class.forIsolate(name, { policies: only(1, 0), now: () => 0 });
    assert.deepEqual(limiter.allowMany(['a', 'b', 'a']), [true, true, false]);
    limiter.dispose();
  }
  const { stdout, stderr } = await runScript(`
    import { TierLimiter } from 'tierlimit';
    const { getRandomValues } = crypto;
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(1, 0))}, now: () => 0 });
    crypto.getRandomValues = () => { throw new Error('refused at module scope'); };
    try { limiter.allowMany(['a']); } catch (error) { console.log(error.message.slice(0, 36), error.cause.message); }
    crypto.getRandomValues = getRandomValues;
    console.log(limiter.allowMany(['a', 'a']));
  `);
  assert.equal(stderr, '');
  assert.equal(
    stdout,
    'the first decision draws random byte refused at module scope\n[ true, false ]\n',
  );
});

test('a stack that runs over in a batch: the next answers are right, or there are none', () => {
  const batch = Array.from({ length: 40 }, (_, i) => `${'long-'.repeat(i % 3 === 0 ? 9 : 1)}${i}`);
  for (let round = 0; round < 16; round += 1) {
    const { limiter } = clocked(only(2, 0));
    const deeper = () => {
      limiter.allowMany(batch);
      deeper();
    };
    assert.ok(thrown(deeper) instanceof Error);
    const before = outcome(() => limiter.stats());
    const answer = outcome(() => limiter.allowMany(['new', 'new', 'new', batch[0]]));
    if (typeof answer === 'string') {
      assert.match(answer, /broke off in an earlier call/);
    } else {
      assert.deepEqual(answer, [true, true, false, false]);
      const { allowed, denied } = limiter.stats();
      assert.equal(allowed + denied, before.allowed + before.denied + 4);
    }
    limiter.dispose();
  }
});
