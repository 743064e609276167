// Handles of clients: the same clients as by name, the same answers and errors, whatever happens to the table, to the
// policies and to the limiter.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClockError, TierLimiter } from 'tierlimit';
import { withModule } from 'tierlimit/slim';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { clocked, notStrings, only, thrown } from './support/limiter.js';
import { coreBytes, coreWithin, watchMemories } from './support/memory.js';

const memories = watchMemories();

const limit = (capacity, refillPerSecond = 0) => ({ capacity, refillPerSecond });
const verbs = ['allow', 'check', 'peek'];

/** What a call comes to, for comparing: of an error its class and what it says. */
function outcome(call) {
  try {
    return { value: call() };
  } catch (error) {
    assert.ok(error instanceof Error, `${error}`);
    const { name, message, ...more } = error;
    return { error: { Class: error.constructor, name, message, ...more } };
  }
}

/** Short, of the most that crosses in registers and one more, of several pieces, and of every script. */
const names = [
  '',
  'c',
  'acme',
  '__proto__',
  'x'.repeat(23),
  'x'.repeat(24),
  'x'.repeat(25),
  'x'.repeat(5000),
  'é',
  'client-ü',
  '客户',
  '😀'.repeat(6),
  '\ud800',
  '\udc00\ud800',
  `${'long-'.repeat(900)}é`,
  ...Array.from({ length: 25 }, (_, i) => `client-${i}`),
];
const tiers = [undefined, null, 'pro', 'später', 'broken', 'nowhere', '', '\ud800'];

/** Documents in which tiers have other numbers, other values, or are not there. */
const documents = [
  { default: limit(5, 2), tiers: { pro: limit(40, 9.5), später: limit(3), broken: {} } },
  { default: limit(5, 2), tiers: { a: limit(1), b: limit(2), später: limit(9, 3), pro: limit(8) } },
  { default: limit(7.5, 0.3), tiers: { pro: limit(40, 9.5), broken: limit(4, 1) } },
  { default: limit(2, 0.1) },
  {
    default: limit(5, 2),
    tiers: { nowhere: limit(6, 1), '': limit(2, 2), pro: limit(0) },
    clients: { acme: 'nowhere', é: 'pro', 'client-3': '', 'client-4': 'nobody' },
  },
  // Refused.
  { default: limit(0) },
  '{',
];
const costs = [undefined, 1, 1, 2, 3, 5, 100, 2 ** 53 - 1];
const badCosts = [0, -1, 1.5, NaN, 2 ** 53, '1', null, 1n, {}];

for (const options of [
  {},
  { maxClients: 12 },
  { maxClients: 12, onFull: 'deny' },
  { sweep: false },
  { onClockBackward: 'hold' },
]) {
  test(`as by name: random operations with ${JSON.stringify(options)}`, (t) => {
    const random = new Random(31);
    const counts = { admitted: 0, denied: 0, peeked: 0, error: 0, clock: 0, 'table-full': 0 };
    const forgotten = { swept: 0, evictions: 0 };
    for (let round = 0; round < 8; round += 1) {
      const byName = clocked(documents[0], options);
      const byHandle = clocked(documents[0], options);
      const handles = new Map();
      const handleOf = (name, tier) => {
        const key = `${names.indexOf(name)} ${tiers.indexOf(tier)} ${random.whole(0, 1)}`;
        if (!handles.has(key) || random.chance(0.02)) {
          handles.set(key, byHandle.limiter.client(name, tier));
        }
        return handles.get(key);
      };
      const both = (change) => {
        const outcomes = [byName, byHandle].map(({ limiter }) => outcome(() => change(limiter)));
        assert.deepEqual(outcomes[1], outcomes[0]);
      };
      let ms = 0;
      for (let i = 0; i < 1500; i += 1) {
        ms += random.weighted([
          [6, 0],
          [3, random.whole(0, 400_000) / 1000],
          [0.3, -random.whole(0, 300)],
          [0.1, random.whole(0, 60_000)],
        ]);
        byName.clock.ms = ms;
        byHandle.clock.ms = ms;
        const what = random.weighted([
          [60, 'decide'],
          [1, 'setPolicies'],
          [2, 'setTier'],
        ]);
        if (what === 'setPolicies') {
          const policies = random.pick(documents);
          both((limiter) => limiter.setPolicies(policies));
          continue;
        }
        const name = random.pick(names);
        const tier = random.pick(tiers);
        if (what === 'setTier') {
          both((limiter) => limiter.setTier(name, tier ?? null));
          continue;
        }
        const cost = random.chance(0.03) ? random.pick(badCosts) : random.pick(costs);
        const verb = random.pick(verbs);
        const { limiter } = byName;
        const client = handleOf(name, tier);
        const [expected, actual] =
          verb === 'allow'
            ? [() => limiter.allow(name, cost, tier), () => client.allow(cost)]
            : [() => limiter[verb](name, { cost, tier }), () => client[verb]({ cost })];
        const wanted = outcome(expected);
        assert.deepEqual(outcome(actual), wanted, `${verb} ${name} ${tier}`);
        assert.deepEqual(byHandle.limiter.stats(), limiter.stats());

        const { value, error } = wanted;
        if (error !== undefined) counts[error.Class === ClockError ? 'clock' : 'error'] += 1;
        else if (value.reason === 'table-full') counts['table-full'] += 1;
        else if (verb === 'peek') counts.peeked += 1;
        else counts[(value.allowed ?? value) ? 'admitted' : 'denied'] += 1;
      }
      const { swept, evictions } = byHandle.limiter.stats();
      forgotten.swept += swept;
      forgotten.evictions += evictions;
      for (const { limiter } of [byName, byHandle]) limiter.dispose();
    }
    t.diagnostic(JSON.stringify({ ...counts, ...forgotten }));
    // That there was something to compare.
    for (const kind of ['admitted', 'denied', 'peeked', 'error']) assert.ok(counts[kind] > 100);
    assert.equal(counts.clock > 0, options.onClockBackward !== 'hold');
    assert.equal(counts['table-full'] > 0, options.onFull === 'deny');
    assert.equal(forgotten.swept > 0, options.sweep !== false);
    assert.equal(forgotten.evictions > 0, options.maxClients === 12 && options.onFull !== 'deny');
  });
}

test('a handle has the name and the tier it was made with, and neither can be changed', () => {
  const { limiter } = clocked({ default: limit(3), tiers: { pro: limit(9) } });
  for (const id of names) {
    for (const tier of tiers) {
      const client = limiter.client(id, tier);
      assert.deepEqual([client.id, client.tier], [id, tier ?? null]);
      assert.throws(() => (client.id = 'other'), TypeError);
      assert.throws(() => (client.tier = 'other'), TypeError);
      assert.deepEqual([client.id, client.tier], [id, tier ?? null]);
      assert.deepEqual(Reflect.ownKeys(client), []);
    }
  }
  assert.equal(limiter.client('c').tier, null);
  assert.equal(limiter.client('c', 'pro').check().limit, 9);
  assert.equal(limiter.stats().buckets, 1);
});

test('what is no name or no tier makes no handle, and the message says which and what it was', () => {
  const { limiter } = clocked(only(3, 1));
  for (const [value, shown] of notStrings) {
    assert.throws(() => limiter.client(value), {
      name: 'TypeError',
      message: `id must be a string; got ${shown}`,
    });
    if (value === undefined || value === null) continue;
    assert.throws(() => limiter.client('c', value), {
      name: 'TypeError',
      message: `tier must be a string or null; got ${shown}`,
    });
  }
  assert.throws(() => limiter.client(), { message: 'id must be a string; got undefined' });
  assert.equal(limiter.stats().buckets, 0);
});

test('a bad cost or bad options are told as they are by name, and nothing is spent', () => {
  const { limiter } = clocked(only(3, 1));
  const client = limiter.client('c');
  for (const [cost, Class, shown] of [
    [null, TypeError, 'null'],
    ['5', TypeError, '"5"'],
    [5n, TypeError, '5n'],
    [true, TypeError, 'true'],
    [{}, TypeError, 'an Object'],
    [[1], TypeError, 'an Array'],
    [Symbol('s'), TypeError, 'Symbol(s)'],
    [() => 1, TypeError, 'a Function'],
    [NaN, RangeError, 'NaN'],
    [0, RangeError, '0'],
    [-0, RangeError, '-0'],
    [-1, RangeError, '-1'],
    [1.5, RangeError, '1.5'],
    [1 + Number.EPSILON, RangeError, '1.0000000000000002'],
    [2 ** 53, RangeError, '9007199254740992'],
    [Infinity, RangeError, 'Infinity'],
    [-Infinity, RangeError, '-Infinity'],
  ]) {
    for (const [call, named] of [
      [() => client.allow(cost), () => limiter.allow('c', cost)],
      [() => client.check({ cost }), () => limiter.check('c', { cost })],
      [() => client.peek({ cost }), () => limiter.peek('c', { cost })],
    ]) {
      const error = thrown(call);
      assert.ok(error instanceof Class, `${error}`);
      assert.match(error.message, /^cost must be a/);
      assert.ok(error.message.endsWith(`got ${shown}`), error.message);
      assert.equal(error.message, thrown(named).message);
    }
  }
  for (const options of [null, 5, NaN, 'cost', true, 5n, Symbol('s'), () => 5, [5]]) {
    for (const verb of ['check', 'peek']) {
      const error = thrown(() => client[verb](options));
      assert.ok(error instanceof TypeError, `${error}`);
      assert.equal(error.message, thrown(() => limiter[verb]('c', options)).message);
    }
  }
  for (const name of ['costs', 'nowMs', 'constructor', 'client', 'tier']) {
    for (const verb of ['check', 'peek']) {
      const message = new RegExp(`there is no option "${name}"`);
      assert.throws(() => client[verb]({ cost: 1, [name]: undefined }), {
        name: 'TypeError',
        message,
      });
    }
  }
  assert.equal(limiter.stats().buckets, 0);
  assert.equal(client.check().remaining, 2);
});

test('the cost defaults to 1, in every way of leaving it out', () => {
  const { limiter } = clocked(only(100, 0));
  const client = limiter.client('c');
  assert.equal(client.check().remaining, 99);
  assert.equal(client.check({}).remaining, 98);
  assert.equal(client.check(undefined).remaining, 97);
  assert.equal(client.check({ cost: undefined }).remaining, 96);
  assert.equal(client.allow(), true);
  assert.equal(client.allow(undefined), true);
  assert.equal(client.peek({ cost: 94 }).allowed, true);
  assert.equal(client.peek().remaining, 94);
});

test('handles of one client and its name share the bucket, whatever the tier they ask for', () => {
  const { limiter } = clocked({ default: limit(10), tiers: { pro: limit(10) } });
  const [first, second] = [limiter.client('acme'), limiter.client(['ac', 'me'].join(''))];
  const pro = limiter.client('acme', 'pro');
  assert.notEqual(first, second);
  assert.equal(first.check().remaining, 9);
  assert.equal(second.check().remaining, 8);
  assert.equal(limiter.check('acme').remaining, 7);
  assert.equal(pro.check({ cost: 3 }).remaining, 4);
  assert.equal(first.peek().remaining, 4);
  assert.equal(limiter.client('acmé').peek().remaining, 10);
  assert.equal(limiter.stats().buckets, 1);
});

test('handles of two limiters are apart, in one module and in two', () => {
  const { TierLimiter: Other } = withModule(coreBytes());
  const limiters = [clocked(only(3, 0)), clocked(only(3, 0)), clocked(only(3, 0), {}, Other)];
  const clients = limiters.map(({ limiter }) => limiter.client('acme'));
  for (const [index, client] of clients.entries()) {
    for (let i = 0; i <= index; i += 1) assert.equal(client.check().remaining, 2 - i);
  }
  assert.deepEqual(
    clients.map((client) => client.peek().remaining),
    [2, 1, 0],
  );
  limiters[0].limiter.dispose();
  assert.throws(() => clients[0].allow(), /disposed/);
  assert.deepEqual(
    clients.slice(1).map((client) => client.allow()),
    [true, false],
  );
});

test('forIsolate and slim have handles as well', () => {
  const { TierLimiter: Slim } = withModule(coreBytes());
  for (const [Class, name] of [
    [TierLimiter, 'handles'],
    [Slim, 'handles of slim'],
  ]) {
    const options = { policies: only(3, 0), now: () => 0 };
    const client = Class.forIsolate(name, options).client('acme');
    assert.equal(client.check().remaining, 2);
    // Another evaluation of the same module, with other policies.
    const again = Class.forIsolate(name, { ...options, policies: only(3, 1) });
    assert.equal(again.client('acme').check().remaining, 1);
    assert.deepEqual([client.allow(), client.allow(), again.allow('acme')], [true, false, false]);
    again.dispose();
    assert.throws(() => client.allow(), /is disposed/);
    assert.equal(Class.forIsolate(name, options).client('acme').check().remaining, 2);
  }
});

test('at module scope a handle is made; it decides inside a handler', async () => {
  const { stdout, stderr } = await runScript(`
    import { TierLimiter } from 'tierlimit';
    const { getRandomValues } = crypto;
    let readings = 0;
    crypto.getRandomValues = () => { throw new Error('refused at module scope'); };
    performance.now = Date.now = Math.random = crypto.getRandomValues;
    const policies = { default: { capacity: 9, refillPerSecond: 0 } };
    const limiter = new TierLimiter({ policies, now: () => (readings += 1) });
    const client = limiter.client('acme');
    const pro = limiter.client('acme', 'pro');
    for (const call of [() => client.allow(), () => client.check(), () => pro.peek()]) {
      try { call(); } catch (error) { console.log(error.message, '/', error.cause.message); }
    }
    limiter.setPolicies({ ...policies, tiers: { other: policies.default, pro: policies.default } });
    limiter.setTier('acme', 'other');
    console.log(readings, limiter.stats().buckets);

    crypto.getRandomValues = getRandomValues;
    const { tier, remaining, fallback } = client.check();
    console.log(tier, remaining, fallback);
    console.log(pro.check().tier, pro.peek().remaining, limiter.peek('acme').remaining, readings);
  `);
  assert.equal(stderr, '');
  const refused =
    'the first decision draws random bytes, which are refused here; in a worker decide in a handler, ' +
    'not at module scope / refused at module scope\n';
  assert.equal(stdout, `${refused.repeat(3)}0 0\nother 8 null\npro 7 7 4\n`);
});

test('growth to a hundred thousand clients', () => {
  const { TierLimiter: Limiter } = withModule(coreBytes());
  const memory = memories.at(-1);
  const { limiter, clock } = clocked(only(1000, 0), {}, Limiter);
  const before = names.map((name) => limiter.client(name));
  const unused = limiter.client('unused');
  for (const client of before) assert.equal(client.check({ cost: 500 }).remaining, 500);
  const { byteLength } = memory.buffer;
  const grown = Array.from({ length: 100_000 }, (_, i) => limiter.client(`grown ${i}`));
  for (const [index, client] of grown.entries()) {
    assert.equal(client.allow(1000), true);
    if (index % 1000 === 0) before[index % before.length].allow();
  }
  assert.ok(memory.buffer.byteLength > byteLength + 100_000 * 32);
  assert.equal(limiter.stats().buckets, 100_000 + before.length);
  const spent = before.map((client) => client.peek().remaining);
  assert.equal(
    spent.reduce((sum, remaining) => sum + remaining),
    500 * before.length - 100,
  );
  assert.deepEqual(
    spent,
    names.map((name) => limiter.peek(name).remaining),
  );
  for (const client of grown) assert.equal(client.allow(), false);
  assert.equal(unused.check().remaining, 999);
  clock.ms = -1;
  assert.throws(() => unused.allow(), { name: 'ClockError', nowMs: -1, touchedMs: 0 });
  limiter.dispose();
});

test('a bucket that was swept: the handle starts full, as the name does', () => {
  const { limiter, clock } = clocked(only(2, 1));
  const client = limiter.client('acme');
  assert.deepEqual([client.allow(2), client.allow()], [true, false]);
  limiter.allow('beside', 2);
  clock.ms = 10_000;
  for (let i = 0; limiter.stats().swept < 2; i += 1) {
    assert.ok(i < 10_000);
    // One that is never full, so that the clock may go on.
    limiter.allow('busy', 2);
    clock.ms += 1;
  }
  assert.equal(limiter.stats().buckets, 1);
  // Had it been kept, it would have two tokens.
  limiter.setPolicies(only(10, 1));
  assert.equal(client.peek().remaining, 10);
  assert.equal(client.check().remaining, 9);
  assert.equal(limiter.check('beside').remaining, 9);
  assert.equal(limiter.check('acme').remaining, 8);
  clock.ms = 0;
  assert.throws(() => client.allow(), ClockError);
});

test('a bucket that was evicted: the handle starts full, as the name does', () => {
  const { limiter } = clocked(only(5, 1), { maxClients: 8 });
  const client = limiter.client('acme');
  const drained = limiter.client('drained');
  for (let round = 0; round < 20; round += 1) {
    assert.equal(drained.allow(5), round === 0);
    assert.equal(client.check().remaining, 4);
    for (let i = 0; i < 50; i += 1) limiter.allow(`flood ${round} ${i}`, 2);
    assert.equal(client.peek().remaining, 5);
    assert.equal(limiter.peek('acme').remaining, 5);
  }
  assert.ok(limiter.stats().evictions >= 20 * 44);
});

test('a tier that appears, changes, takes another number and vanishes', () => {
  const a = limit(10);
  const { limiter } = clocked({ default: limit(1) });
  const pro = limiter.client('p', 'pro');
  const own = limiter.client('o');
  limiter.setTier('o', 'pro');
  const seen = (client) => {
    const { tier, limit: capacity, fallback } = client.peek();
    return [tier, capacity, fallback];
  };
  for (const [tiersOfDocument, capacity, fallback] of [
    [undefined, 1, 'unknown-tier'],
    [{ pro: limit(20) }, 20, null],
    [{ a, b: a, c: a, pro: limit(20) }, 20, null],
    [{ pro: limit(30), a }, 30, null],
    [{ a, b: a, pro: {} }, 1, 'invalid-tier-policy'],
    [{ a, b: limit(77) }, 1, 'unknown-tier'],
    [{ b: limit(77), pro: limit(20), a }, 20, null],
    [{}, 1, 'unknown-tier'],
    [{ x: limit(77) }, 1, 'unknown-tier'],
  ]) {
    limiter.setPolicies({ default: limit(1), tiers: tiersOfDocument ?? {} });
    for (const client of [pro, own]) assert.deepEqual(seen(client), ['pro', capacity, fallback]);
    assert.deepEqual(seen(limiter.client('new', 'pro')), ['pro', capacity, fallback]);
    const { allowed } = pro.check({ cost: 2 });
    assert.equal(pro.allow(2), allowed);
    assert.equal(thrown(() => limiter.setPolicies({ tiers: { pro: a } })).code, 'missing-member');
    assert.deepEqual(seen(pro), ['pro', capacity, fallback]);
  }
  limiter.setTier('o', null);
  assert.deepEqual(seen(own), [null, 1, 'no-tier']);
});

test('a clock that changes the policies while a handle asks: it is judged by the new ones', () => {
  for (const verb of verbs) {
    let ms = 0;
    let change = () => {};
    const { limiter } = clocked(
      { default: limit(1), tiers: { a: limit(10), b: limit(20) } },
      {
        now: () => {
          change();
          return ms;
        },
      },
    );
    const client = limiter.client('c', 'b');
    const ask = () => client[verb](verb === 'allow' ? 6 : { cost: 6 });
    const admitted = (answer) => answer.allowed ?? answer;
    assert.equal(admitted(ask()), true);
    change = () => {
      // The number that b had goes to another tier.
      limiter.setPolicies({ default: limit(1), tiers: { c: limit(20) } });
      limiter.setPolicies({ default: limit(1), tiers: { c: limit(20), d: limit(30) } });
      change = () => {};
    };
    assert.equal(admitted(ask()), false);
    change = () => {
      limiter.setPolicies({ default: limit(1), tiers: { b: limit(20, 1) } });
      ms = 6000;
      change = () => {};
    };
    assert.equal(admitted(ask()), true);
    assert.equal(client.peek().limit, 20);
  }
});

test('a disposed limiter says so to its handles, which keep their names', () => {
  const { limiter } = clocked(only(3, 1));
  const used = limiter.client('acme', 'pro');
  const unused = limiter.client('acme');
  used.allow();
  limiter.dispose();
  // What takes the place in memory is not theirs.
  const { limiter: next } = clocked(only(3, 1));
  next.allow('acme');
  for (const client of [used, unused]) {
    for (const verb of verbs) {
      for (const argument of [undefined, 'bad']) {
        assert.throws(() => client[verb](argument), {
          name: 'Error',
          message: 'the TierLimiter is disposed',
        });
      }
    }
    assert.equal(client.id, 'acme');
  }
  assert.deepEqual([used.tier, unused.tier], ['pro', null]);
  assert.throws(() => limiter.client('acme'), {
    name: 'Error',
    message: 'the TierLimiter is disposed',
  });
  assert.equal(next.peek('acme').remaining, 2);
});

test('a clock or an option that disposes of the limiter while a handle asks', () => {
  for (const verb of verbs) {
    for (const used of [false, true]) {
      let end = () => {};
      const { limiter } = clocked(only(3, 1), {
        now: () => {
          end();
          return 0;
        },
      });
      const client = limiter.client('acme', 'pro');
      if (used) client.allow();
      end = () => limiter.dispose();
      assert.throws(() => client[verb](), { name: 'Error', message: /disposed/ });
      assert.throws(() => client[verb](), /is disposed/);
    }
  }
  for (const verb of ['check', 'peek']) {
    const { limiter } = clocked(only(3, 1));
    const client = limiter.client('acme', 'pro');
    const options = {
      get cost() {
        limiter.dispose();
        return 1;
      },
    };
    assert.throws(() => client[verb](options), /is disposed/);
  }
});

test('errors of the clock leave the bucket as it was', () => {
  const { limiter, clock } = clocked(only(3, 1));
  const client = limiter.client('acme');
  clock.ms = 1000.5;
  client.allow();
  const before = limiter.stats();
  for (const [ms, expected] of [
    [1000.499, { name: 'ClockError', nowMs: 1000.499, touchedMs: 1000.5 }],
    [NaN, { name: 'RangeError', message: /now\(\) .* NaN/ }],
    [undefined, { name: 'TypeError', message: /now\(\) .* undefined/ }],
    [-Infinity, { name: 'RangeError', message: /now\(\) .* -Infinity/ }],
  ]) {
    clock.ms = ms;
    for (const verb of verbs) assert.throws(() => client[verb](), expected);
  }
  assert.deepEqual(limiter.stats(), before);
  clock.ms = 1000.5;
  assert.equal(client.check().remaining, 1);
});

test('a method that is pulled off its handle says so', () => {
  const { limiter } = clocked(only(3, 1));
  const client = limiter.client('acme');
  const prototype = Object.getPrototypeOf(client);
  const getter = (name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  for (const receiver of [
    undefined,
    null,
    5,
    'acme',
    {},
    limiter,
    prototype,
    client.constructor,
    Object.create(client),
    new Proxy(client, {}),
  ]) {
    for (const [, method] of [
      ...verbs.map((verb) => [verb, client[verb]]),
      ['id', getter('id')],
      ['tier', getter('tier')],
    ]) {
      assert.throws(() => method.call(receiver), {
        name: 'TypeError',
        message: /^this must be a client of a TierLimiter; got /,
      });
    }
    assert.throws(() => limiter.client.call(receiver === limiter ? client : receiver, 'c'), {
      name: 'TypeError',
      message: /^this must be a TierLimiter; got /,
    });
  }
  const { allow } = client;
  assert.throws(() => allow(), /: this must be a client of a TierLimiter; got undefined$/);
  assert.equal(limiter.stats().buckets, 0);
  assert.equal(Reflect.apply(allow, client, []), true);
});

test('a frozen handle, and limiters of a class made from TierLimiter', () => {
  class Mine extends TierLimiter {
    asked = 0;
    allow(...request) {
      this.asked += 1;
      return super.allow(...request);
    }
    client(id, tier) {
      return super.client(`tenant ${id}`, tier);
    }
  }
  const { limiter } = clocked({ default: limit(5), tiers: { pro: limit(5) } }, {}, Mine);
  const client = Object.freeze(limiter.client('acme', 'pro'));
  assert.equal(client.check().remaining, 4);
  limiter.setPolicies({ default: limit(4), tiers: { a: limit(1), pro: limit(5) } });
  assert.deepEqual([client.check().limit, client.id], [5, 'tenant acme']);
  assert.equal(client.allow(), true);
  // A handle asks the core, not the limiter's methods.
  assert.equal(limiter.asked, 0);
  assert.equal(limiter.allow('tenant acme'), true);
  assert.equal(client.peek({ cost: 1 }).remaining, 1);
  assert.equal(Object.prototype.toString.call(client), '[object Object]');
  assert.equal(JSON.stringify(client), '{}');
});

test('a hundred thousand handles, made, asked and dropped, leave linear memory as it was', () => {
  const { TierLimiter: Limiter } = withModule(coreBytes());
  const memory = memories.at(-1);
  const { limiter } = clocked({ default: limit(5), tiers: { pro: limit(5) } }, {}, Limiter);
  const long = 'x'.repeat(100);
  const one = (i) => {
    const client = limiter.client(`${long}${i}`, i % 2 === 0 ? 'pro' : `tier ${i}`);
    assert.equal(client.peek().allowed, true);
    limiter.client('acme').allow();
  };
  for (let i = 0; i < 100; i += 1) one(i);
  const { byteLength } = memory.buffer;
  const stats = limiter.stats();
  for (let i = 0; i < 100_000; i += 1) one(i);
  assert.equal(memory.buffer.byteLength, byteLength);
  assert.deepEqual(limiter.stats(), { ...stats, denied: stats.denied + 100_000 });
});

test('a tier whose name does not fit the memory is an error at each call, and the handle goes on', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 21));
  const { limiter } = clocked(only(5, 0), {}, Limiter);
  const client = limiter.client('acme', 'x'.repeat(1e7));
  for (const verb of verbs) {
    for (let i = 0; i < 2; i += 1) {
      assert.throws(() => client[verb](), { name: 'RangeError', message: /10000000 code units/ });
    }
  }
  const named = limiter.client('x'.repeat(1e7));
  assert.deepEqual([named.check().remaining, named.check().remaining], [4, 3]);
  assert.equal(limiter.stats().buckets, 1);
});
