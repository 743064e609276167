// The module's embind surface, as bindings/README.md documents it, without the wrapper.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { createModule } from 'tierlimit/module';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { clocked, only, thrown } from './support/limiter.js';

const module = createModule();

const defaults = {
  maxClients: 262_144,
  maxBytes: 48 * 2 ** 20,
  denyWhenFull: false,
  strict: false,
  sweep: true,
};

/** A seeded limiter. */
function made(policies, options = undefined) {
  const text = typeof policies === 'string' ? policies : JSON.stringify(policies);
  const limiter =
    options === undefined
      ? new module.TierLimiter(text)
      : new module.TierLimiter(text, ...Object.values({ ...defaults, ...options }));
  limiter.seed(1, 2, 3, 4);
  return limiter;
}

const problemMembers = ['code', 'message', 'path', 'line', 'column'];

test('a limiter from policy JSON decides at the times it is given', () => {
  const limiter = made(only(2, 1));
  assert.deepEqual(limiter.check('acme', 1, 0), {
    allowed: true,
    error: null,
    limit: 2,
    remaining: 1,
    retryAfterMs: 0,
    resetMs: 1000,
    windowMs: 2000,
    tier: null,
    limitName: 'main',
    reason: 'ok',
    fallback: 'no-tier',
    limits: [
      {
        ...{ name: 'main', limit: 2, remaining: 1, retryAfterMs: 0, resetMs: 1000 },
        ...{ windowMs: 2000, moreAfterMs: 1000 },
      },
    ],
  });
  assert.equal(limiter.allow('acme', 1, 0), true);
  assert.equal(limiter.allow('acme', 1, 500), false);
  const denied = limiter.check('acme', 2, 500);
  assert.deepEqual(
    [denied.allowed, denied.reason, denied.retryAfterMs],
    [false, 'exhausted', 1500],
  );
  assert.equal(limiter.peek('acme', 2, 2000).allowed, true);
  assert.equal(limiter.peek('acme', 2, 2000).allowed, true);
  assert.equal(limiter.allow('acme', 2, 2000), true);
  limiter.delete();
});

test('a tier of the call, of setTier and of the document', () => {
  const limiter = made({
    ...only(1, 0),
    tiers: { pro: { capacity: 2, refillPerSecond: 0 }, gold: { capacity: 3, refillPerSecond: 0 } },
    clients: { acme: 'pro' },
  });
  const seen = (...call) => {
    const { limit, tier, fallback } = limiter.peek(...call);
    return [limit, tier, fallback];
  };
  assert.deepEqual(seen('acme', 1, 0), [2, 'pro', null]);
  assert.equal(limiter.setTier('acme', 'gold'), null);
  assert.deepEqual(seen('acme', 1, 0), [3, 'gold', null]);
  assert.deepEqual(seen('acme', 1, 0, 'pro'), [2, 'pro', null]);
  assert.deepEqual(seen('acme', 1, 0, ''), [1, '', 'unknown-tier']);
  assert.equal(limiter.clearTier('acme'), null);
  assert.deepEqual(seen('acme', 1, 0), [2, 'pro', null]);
  assert.deepEqual(
    [limiter.allow('y', 3, 0, 'gold'), limiter.check('y', 1, 0).remaining],
    [true, 0],
  );
  limiter.delete();
});

test('the number of a tier by its name, and the name by its number', () => {
  const limiter = made({
    ...only(1, 0),
    tiers: { pro: { capacity: 2, refillPerSecond: 0 }, tür: {} },
    clients: { acme: 'pro', globex: 'elsewhere' },
  });
  const numbers = ['pro', 'tür'].map((name) => limiter.tier(name));
  assert.ok(numbers.every((number) => Number.isInteger(number) && number >= 0));
  assert.deepEqual(
    numbers.map((number) => limiter.tierName(number)),
    ['pro', 'tür'],
  );
  limiter.setTier('c', 'of c');
  for (const name of ['', 'Pro', 'elsewhere', 'of c', '\ud800'])
    assert.equal(limiter.tier(name), -2);
  limiter.setPolicies('{');
  assert.deepEqual([limiter.tier('pro'), limiter.tier('tür')], numbers);
  limiter.setPolicies(JSON.stringify(only(1, 0)));
  assert.deepEqual([limiter.tier('pro'), limiter.tier('tür')], [-2, -2]);
  assert.equal(new module.TierLimiter('{').tier('pro'), -2);
  limiter.delete();
});

test('a document that is judged by too, beside the one in force', () => {
  const limiter = made(only(2, 0));
  assert.deepEqual(limiter.shadowStats(), []);
  const text = JSON.stringify({ ...only(1, 0), tiers: { broken: {} } });
  const { revision, errors, rejected, changedMs } = limiter.setShadowPolicies(text);
  assert.deepEqual([revision, errors, changedMs], [1, [], null]);
  assert.deepEqual([...new Set(rejected.map(({ path }) => path))], ['/tiers/broken']);
  assert.deepEqual(limiter.report().rejected, []);
  for (let i = 0; i < 3; i += 1) limiter.allow('c', 1, 0);
  const counts = {
    tier: null,
    clientClass: 'none',
    bothAllow: 1,
    bothDeny: 1,
    onlyLiveAllows: 1,
    onlyShadowAllows: 0,
  };
  assert.deepEqual(limiter.shadowStats(), [counts]);
  const refused = limiter.setShadowPolicies('{');
  assert.deepEqual([refused.revision, refused.errors.map(({ code }) => code)], [1, ['syntax']]);
  assert.deepEqual(refused.rejected, rejected);
  assert.deepEqual(limiter.shadowStats(), [counts]);
  assert.equal(limiter.clearShadow(), null);
  assert.deepEqual(limiter.shadowStats(), []);
  assert.equal(limiter.clearShadow(), null);
  limiter.delete();
});

test('setTier and clearTier: what a larger capacity does, by number', () => {
  const tiers = {
    s: { capacity: 10, refillPerSecond: 0 },
    l: { capacity: 30, refillPerSecond: 0 },
  };
  for (const [onRaise, remaining] of [
    [0, 4],
    [1, 30],
    [2, 12],
    [3, 24],
    [-1, 4],
    [NaN, 4],
    [99, 24],
  ]) {
    const limiter = made({ ...only(1, 0), tiers, clients: { c: 's', d: 'l' } });
    limiter.allow('c', 6, 0);
    assert.equal(limiter.setTier('c', 'l', onRaise, NaN), null);
    assert.equal(limiter.peek('c', 1, 0).remaining, remaining, `${onRaise}`);
    limiter.setTier('d', 's');
    limiter.allow('d', 6, 0);
    assert.equal(limiter.clearTier('d', onRaise, NaN), null);
    assert.equal(limiter.peek('d', 1, 0).remaining, remaining, `${onRaise}`);
    limiter.delete();
  }
});

test('reports: what was refused, tolerated and rounded, with places', () => {
  const limiter = made(
    '{"default": {"capacity": 1e9, "refillPerSecond": 11574.074074},\n "tiers": {"a": {}}}',
  );
  const { revision, errors, rejected, warnings } = limiter.report();
  assert.deepEqual([revision, errors], [1, []]);
  assert.deepEqual(
    rejected.map(({ code, path, line, column }) => [code, path, line, column]),
    [
      ['missing-member', '/tiers/a', 2, 17],
      ['missing-member', '/tiers/a', 2, 17],
    ],
  );
  assert.deepEqual(
    warnings.map(({ code, path, line, column }) => [code, path, line, column]),
    [['rate-rounded', '/default/refillPerSecond', 1, 50]],
  );
  for (const problem of [...rejected, ...warnings]) {
    assert.deepEqual(Object.keys(problem), problemMembers);
  }

  const refused = limiter.setPolicies('{"default": {"capacity": 0, "refillPerSecond": 1}, "x": 1}');
  assert.deepEqual(
    refused.errors.map(({ code, path }) => [code, path]),
    [
      ['invalid-value', '/default/capacity'],
      ['unknown-member', '/x'],
    ],
  );
  // What is in force is what was.
  const changedMs = null;
  assert.deepEqual({ ...refused, errors: [] }, { revision, errors, rejected, warnings, changedMs });
  assert.deepEqual(limiter.report(), refused);
  assert.equal(limiter.peek('c', 1, 0).limit, 1e9);

  const accepted = limiter.setPolicies(JSON.stringify(only(5, 1)));
  assert.deepEqual(accepted, { revision: 2, errors: [], rejected: [], warnings: [], changedMs });
  assert.equal(limiter.peek('c', 1, 0).limit, 5);
  limiter.delete();
});

test('a constructor whose policies are refused leaves a limiter that says so', () => {
  const limiter = made('{');
  const { revision, errors } = limiter.report();
  assert.deepEqual([revision, errors.map(({ code }) => code)], [0, ['syntax']]);
  assert.equal(limiter.check('c', 1, 0).error.code, 'no-policies');
  assert.equal(limiter.allow('c', 1, 0), null);
  assert.equal(limiter.setPolicies(JSON.stringify(only(5, 1))).revision, 1);
  assert.equal(limiter.allow('c', 1, 0), true);
  limiter.delete();
});

test('case 26: errors are values: a decision that cannot be made is none, and changes nothing', () => {
  const limiter = made(only(2, 1));
  limiter.allow('c', 1, 1000);
  const before = limiter.stats();
  const cases = [
    ['c', 0, 1000, 'invalid-cost', 0],
    ['c', -1, 1000, 'invalid-cost', -1],
    ['c', 1.5, 1000, 'invalid-cost', 1.5],
    ['c', NaN, 1000, 'invalid-cost', NaN],
    ['c', 2 ** 53, 1000, 'invalid-cost', 2 ** 53],
    ['c', Infinity, 1000, 'invalid-cost', Infinity],
    ['c', 1, NaN, 'invalid-time', NaN],
    ['c', 1, -Infinity, 'invalid-time', -Infinity],
    ['c', 1, 9007199254740.994, 'invalid-time', 9007199254740.994],
    ['c', NaN, NaN, 'invalid-time', NaN],
    ['c', 1, 999.5, 'clock', 999.5],
  ];
  for (const [client, cost, nowMs, code, value] of cases) {
    for (const verb of ['check', 'peek']) {
      for (const tier of [[], ['pro']]) {
        const { allowed, error, ...rest } = limiter[verb](client, cost, nowMs, ...tier);
        assert.deepEqual([allowed, rest], [false, {}]);
        assert.deepEqual(Object.keys(error), [...problemMembers, 'value']);
        assert.deepEqual([error.code, error.path, error.line, error.column], [code, '', 0, 0]);
        assert.match(error.message, code === 'invalid-cost' ? /^cost must be/ : /^nowMs must /);
        assert.equal(error.value, value);
        assert.equal(limiter.allow(client, cost, nowMs, ...tier), null);
      }
    }
  }
  assert.deepEqual(limiter.stats(), before);
  assert.equal(limiter.check('c', 1, 1000).remaining, 0);
  limiter.delete();
});

test('before its first decision a limiter is seeded, once', () => {
  const limiter = new module.TierLimiter(JSON.stringify(only(2, 0)));
  assert.equal(limiter.setTier('c', 'pro'), null);
  for (const verb of ['check', 'peek']) {
    assert.equal(limiter[verb]('c', 1, 0).error.code, 'not-seeded');
  }
  assert.equal(limiter.allow('c', 1, 0), null);
  limiter.seed(1, 2, 3, 4);
  assert.deepEqual([limiter.allow('c', 1, 0), limiter.peek('c', 1, 0).tier], [true, 'pro']);
  limiter.seed(5, 6, 7, 8);
  assert.deepEqual([limiter.allow('c', 1, 0), limiter.allow('c', 1, 0)], [true, false]);
  limiter.delete();
});

test('the words of a seed are taken modulo 2^32, and all four count', () => {
  const evicted = (...words) => {
    const limiter = new module.TierLimiter(
      JSON.stringify(only(2, 0)),
      ...Object.values({ ...defaults, maxClients: 8 }),
    );
    limiter.seed(...words);
    for (let i = 0; i < 100; i += 1) limiter.allow(`c${i}`, 1, 0);
    const left = Array.from({ length: 100 }, (_, i) => limiter.peek(`c${i}`, 1, 0).remaining);
    limiter.delete();
    return left.join('');
  };
  const one = evicted(1, 2, 3, 0xffffffff);
  assert.equal(evicted(2 ** 32 + 1, 2.9, 3 - 2 ** 32, -1), one);
  for (const words of [
    [0, 2, 3, 0xffffffff],
    [1, 0, 3, 0xffffffff],
    [1, 2, 0, 0xffffffff],
    [1, 2, 3, 0],
  ]) {
    assert.notEqual(evicted(...words), one);
  }
});

test('options: the table, what happens when it is full, strictness, sweeping', () => {
  const bounded = made(only(2, 1), { maxClients: 8, denyWhenFull: true });
  for (let i = 0; i < 8; i += 1) assert.equal(bounded.allow(`c${i}`, 2, 0), true);
  const full = bounded.check('new', 1, 0);
  assert.deepEqual([full.allowed, full.reason, full.retryAfterMs], [false, 'table-full', 2000]);
  assert.equal(bounded.stats().tableFull, 1);
  bounded.delete();

  const bytes = made(only(2, 0), { maxBytes: 2000 });
  for (let i = 0; i < 1000; i += 1) bytes.allow(`c${i}`, 1, 0);
  assert.ok(bytes.stats().bytes <= 2000 && bytes.stats().evictions > 900);
  bytes.delete();

  const strict = made({ ...only(2, 1), tiers: { a: {} } }, { strict: true });
  assert.deepEqual([strict.report().revision, strict.report().errors.length], [0, 2]);
  strict.delete();

  for (const sweep of [true, false]) {
    const limiter = made(only(2, 1000), { sweep });
    for (let i = 0; i < 1000; i += 1) limiter.allow(`c${i}`, 1, i);
    // A decision sweeps half a slot, and a bucket is forgotten in the third round at the latest.
    for (let i = 0; i < 10_000; i += 1) limiter.allow('somebody', 1, 1000 + i);
    const { buckets, swept } = limiter.stats();
    assert.deepEqual([buckets, swept], sweep ? [1, 1000] : [1001, 0]);
    limiter.delete();
  }

  // Out of bounds they are taken for the nearest one within.
  for (const [maxClients, buckets] of [
    [NaN, 8],
    [-Infinity, 8],
    [7.9, 8],
    [8.9, 8],
    [Infinity, 100],
  ]) {
    const limiter = made(only(2, 0), { maxClients });
    for (let i = 0; i < 100; i += 1) limiter.allow(`c${i}`, 1, 0);
    assert.equal(limiter.stats().buckets, buckets);
    limiter.delete();
  }
});

test('stats', () => {
  const limiter = made(only(2, 1));
  limiter.allow('c', 1, 0);
  limiter.allow('c', 5, 0);
  limiter.setTier('d', 'x');
  const { bytes, ...rest } = limiter.stats();
  assert.ok(bytes >= 32);
  assert.deepEqual(rest, {
    buckets: 1,
    assignments: 1,
    allowed: 1,
    denied: 1,
    evictions: 0,
    evictedTokens: 0,
    swept: 0,
    tableFull: 0,
  });
  limiter.delete();
});

test('case 29: what is of another type is a TypeError that says so, and changes nothing', () => {
  const limiter = made(only(2, 1));
  const policies = JSON.stringify(only(2, 1));
  limiter.allow('c', 1, 0);
  const before = limiter.stats();
  for (const other of [undefined, null, 5n, true, {}, [7], Symbol('s'), () => 5]) {
    for (const call of [
      () => new module.TierLimiter(other),
      () => new module.TierLimiter(policies, other),
      () => made(only(2, 1), { maxClients: other }),
      () => made(only(2, 1), { sweep: other === true ? 1 : other }),
      () => limiter.allow(other, 1, 0),
      () => limiter.check('c', other, 0),
      () => limiter.peek('c', 1, other),
      () => limiter.check('c', 1, 0, other),
      () => limiter.setPolicies(other),
      () => limiter.setTier(other, 'a'),
      () => limiter.setTier('a', other),
      () => limiter.clearTier(other),
      () => limiter.seed(1, 2, 3, other),
      () => limiter.tier(other),
    ]) {
      assert.equal(thrown(call).name, 'TypeError', `${call} with ${String(other)}`);
    }
  }
  for (const numeral of ['5', '']) {
    assert.throws(() => limiter.check('c', numeral, 0), { name: 'TypeError' });
    assert.throws(() => limiter.check('c', 1, numeral), { name: 'TypeError' });
  }
  for (const call of [
    () => limiter.check('c', 1),
    () => limiter.check('c', 1, 0, 'a', 'b'),
    () => limiter.setTier('c'),
    () => new module.TierLimiter(),
    () => module.TierLimiter(policies),
  ]) {
    assert.throws(call, { name: 'TypeError' });
  }
  const incomplete = Object.values(defaults).slice(1);
  assert.throws(() => new module.TierLimiter(policies, ...incomplete), /takes 1 or 6 arguments/);
  assert.deepEqual(limiter.stats(), before);
  limiter.delete();
});

test('case 33: delete gives the memory back; afterwards all is a TypeError', () => {
  const policies = JSON.stringify({
    ...only(2, 1),
    tiers: { a: { capacity: 1, refillPerSecond: 1 } },
  });
  const one = () => {
    const limiter = made(policies);
    limiter.allow('c', 1, 0, 'a');
    limiter.setTier('c', 'b');
    limiter.setPolicies('{');
    limiter.delete();
    return limiter;
  };
  for (let i = 0; i < 100; i += 1) one();
  const { byteLength } = module.HEAPU8;
  for (let i = 0; i < 10_000; i += 1) one();
  assert.equal(module.HEAPU8.byteLength, byteLength);

  const gone = one();
  const alive = made(policies);
  assert.deepEqual([gone.isDeleted(), alive.isDeleted()], [true, false]);
  for (const receiver of [gone, {}, undefined, module.TierLimiter.prototype]) {
    for (const [name, ...given] of [
      ['allow', 'c', 1, 0],
      ['check', 'c', 1, 0, 'a'],
      ['peek', 'c', 1, 0],
      ['report'],
      ['setPolicies', policies],
      ['setTier', 'c', 'a'],
      ['clearTier', 'c'],
      ['seed', 1, 2, 3, 4],
      ['stats'],
      ['tier', 'a'],
      ['tierName', 0],
      ['handle'],
      ['delete'],
    ]) {
      assert.throws(() => alive[name].call(receiver, ...given), {
        name: 'TypeError',
        message: new RegExp(`TierLimiter\\.${name}`),
      });
    }
  }
  assert.equal(alive.allow('c', 1, 0), true);
  if (Symbol.dispose) alive[Symbol.dispose]();
  assert.equal(alive.isDeleted(), true);
});

test('any string is a client, a tier and comes back as it was', () => {
  const limiter = made(only(1, 0));
  const names = [
    '',
    '\0',
    'é',
    '\u07ff\u0800',
    '😀',
    '\ud800',
    'a\udfffb',
    '\udc00\ud800',
    '\ufeffx',
  ];
  for (const name of names) {
    assert.equal(limiter.check(name, 1, 0, name).tier, name);
    assert.equal(limiter.allow(name, 1, 0), false);
    limiter.setTier(name, name);
    assert.equal(limiter.peek(name, 1, 0).tier, name);
  }
  assert.equal(limiter.stats().buckets, names.length);
  const long = '😀\ud800'.repeat(300_000);
  assert.equal(limiter.check(long, 1, 0, long).tier, long);
  assert.equal(limiter.allow(long, 1, 0), false);
  limiter.delete();
});

test('case 25: what is handed out stays as it was when memory grows', () => {
  const own = createModule();
  const policies = JSON.stringify({ ...only(3, 1), tiers: { broken: {} } });
  const limiter = new own.TierLimiter(policies);
  limiter.seed(1, 2, 3, 4);
  const given = [limiter.check('c', 2, 0, 'broken'), limiter.report(), limiter.stats()];
  const copy = structuredClone(given);
  const first = own.HEAPU8;
  for (let i = 0; own.HEAPU8.length < 1e6; i += 1) {
    assert.equal(limiter.check(`c${i}`, 1, 0).remaining, 2);
  }
  assert.equal(first.length, 0);
  assert.deepEqual(given, copy);
  assert.equal(limiter.check('c', 1, 0).remaining, 0);
  limiter.delete();
});

test('each instance has its own memory and its own limiters', () => {
  const other = createModule();
  const limiter = made(only(1, 0));
  const elsewhere = new other.TierLimiter(JSON.stringify(only(1, 0)));
  elsewhere.seed(1, 2, 3, 4);
  assert.deepEqual([limiter.allow('c', 1, 0), elsewhere.allow('c', 1, 0)], [true, true]);
  assert.throws(() => other.TierLimiter.prototype.allow.call(limiter, 'c', 1, 0), TypeError);
  limiter.delete();
  assert.equal(elsewhere.allow('c', 1, 0), false);
  elsewhere.delete();
});

test('the embind surface and the wrapper decide alike', () => {
  const random = new Random(7);
  const documents = Array.from({ length: 8 }, (_, i) => ({
    default: { capacity: 2 + i, refill: { tokens: 10 + i, seconds: 13 } },
    tiers: {
      pro: { capacity: 5.5 * (i + 1), refillPerSecond: [0, 0.1, 625 / 3600, 7][i % 4] },
      [`gone${i}`]: { capacity: 3, refillPerSecond: 1 },
      broken: { capacity: i % 2 },
    },
    clients: { c1: 'pro', c2: `gone${7 - i}` },
  }));
  // A forgotten client starts full in whatever tier comes next, and when it is forgotten depends on the seed.
  const { limiter: wrapped, clock } = clocked(documents[0], { sweep: false });
  const bound = made(documents[0], { sweep: false });
  const counts = {};
  for (let i = 0; i < 5000; i += 1) {
    const client = `c${random.whole(0, 6)}`;
    clock.ms += random.chance(0.02) ? -random.whole(1, 5000) : random.whole(0, 500000) / 1000;
    if (random.chance(0.02)) {
      const policies = random.pick(documents);
      assert.equal(
        bound.setPolicies(JSON.stringify(policies)).rejected.length,
        wrapped.setPolicies(policies).rejected.length,
      );
    }
    if (random.chance(0.05)) {
      const tier = random.pick([null, 'pro', 'broken', 'gone3', 'nowhere']);
      wrapped.setTier(client, tier);
      if (tier === null) bound.clearTier(client);
      else bound.setTier(client, tier);
    }
    const cost = random.whole(1, 8);
    const tier = random.pick([undefined, undefined, 'pro', 'gone5', 'broken', 'nowhere']);
    const verb = random.pick(['check', 'peek']);
    const { error, ...decision } = bound[verb](
      client,
      cost,
      clock.ms,
      ...(tier === undefined ? [] : [tier]),
    );
    let expected;
    try {
      expected = wrapped[verb](client, { cost, tier });
    } catch ({ code, nowMs }) {
      assert.deepEqual([error.code, code, nowMs], ['clock', 'clock', clock.ms]);
      counts.clock = (counts.clock ?? 0) + 1;
      clock.ms += 5000;
      continue;
    }
    assert.equal(error, null);
    assert.deepEqual(decision, expected);
    counts[decision.reason] = (counts[decision.reason] ?? 0) + 1;
  }
  for (const kind of ['ok', 'exhausted', 'never-refills', 'cost-exceeds-capacity', 'clock']) {
    assert.ok(counts[kind] > 20, `${kind}: ${counts[kind]}`);
  }
  bound.delete();
});

test('the examples of bindings/README.md do what they say', async () => {
  const text = readFileSync(new URL('../../bindings/README.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, ...block]) => block);
  assert.deepEqual(
    blocks.map(([language]) => language),
    ['js', 'text', 'js', 'text'],
  );
  for (const i of [0, 2]) {
    const [[, script], [, output]] = blocks.slice(i);
    const { stdout, stderr, status } = await runScript(script);
    assert.deepEqual([stderr, status], ['', 0]);
    assert.equal(stdout, output);
  }
});
