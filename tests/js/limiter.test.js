// What a limiter decides: the rules of token buckets, tiers and forgetting, and the arithmetic behind them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';

import { Random } from '../model/random.js';
import { byMain, clocked, only } from './support/limiter.js';

const yearMs = 365 * 24 * 3600 * 1000;

test('the worked case: five pass, the sixth is denied, two seconds later two more pass', () => {
  const { limiter, clock, take } = clocked(only(5, 1));
  const answers = Array.from({ length: 6 }, () => limiter.allow('acme'));
  assert.deepEqual(answers, [true, true, true, true, true, false]);
  assert.deepEqual(
    take('acme', 0),
    byMain({
      allowed: false,
      limit: 5,
      remaining: 0,
      retryAfterMs: 1000,
      resetMs: 5000,
      windowMs: 5000,
      moreAfterMs: 1000,
      tier: null,
      reason: 'exhausted',
      fallback: 'no-tier',
    }),
  );
  clock.ms = 2000;
  assert.deepEqual(
    Array.from({ length: 3 }, () => limiter.allow('acme')),
    [true, true, false],
  );

  limiter.setPolicies(only(10, 2));
  const raised = take('acme', 2000);
  assert.deepEqual([raised.allowed, raised.limit, raised.remaining], [false, 10, 0]);
  assert.equal(take('acme', 4500).remaining, 4);
  limiter.setPolicies(only(2, 1));
  const lowered = take('acme', 4500);
  assert.deepEqual([lowered.allowed, lowered.limit, lowered.remaining], [true, 2, 1]);
});

test('a decision that admits', () => {
  const { take } = clocked({
    default: { capacity: 2.5, refillPerSecond: 0.5 },
    tiers: { pro: { capacity: 10.5, refill: { tokens: 3, seconds: 2 } } },
  });
  assert.deepEqual(
    take('a', 1000, 3, 'pro'),
    byMain({
      allowed: true,
      limit: 10.5,
      remaining: 7,
      retryAfterMs: 0,
      resetMs: 2000,
      windowMs: 7000,
      moreAfterMs: 333.334,
      tier: 'pro',
      reason: 'ok',
      fallback: null,
    }),
  );
  assert.deepEqual(
    take('b', 1000),
    byMain({
      allowed: true,
      limit: 2.5,
      remaining: 1,
      retryAfterMs: 0,
      resetMs: 2000,
      windowMs: 5000,
      moreAfterMs: 1000,
      tier: null,
      reason: 'ok',
      fallback: 'no-tier',
    }),
  );
});

test('windowMs is how long all of a limit takes to come back, whatever is left of it', () => {
  const window = (algorithm, limit, windowSeconds) => ({ algorithm, limit, windowSeconds });
  const tiers = {
    plain: [{ capacity: 10, refillPerSecond: 4 }, 2500],
    fractions: [{ capacity: 2.5, refill: { tokens: 1, seconds: 2 } }, 5000],
    // 1e6 / 7 microseconds a token: the last of a microsecond counts as a whole one.
    'rounded up': [{ capacity: 10, refill: { tokens: 7, seconds: 1 } }, 1428.572],
    'below a microsecond': [{ capacity: 1, refillPerSecond: 1e9 }, 0.001],
    'beyond any reading': [{ capacity: 9e3, refill: { tokens: 1, seconds: 1e9 } }, 9e15],
    never: [{ capacity: 3, refillPerSecond: 0 }, null],
    sliding: [window('sliding-window', 3, 60), 60_000],
    fixed: [window('fixed-window', 3, 0.000001), 0.001],
  };
  const policies = Object.entries(tiers).map(([name, [policy]]) => [name, policy]);
  const { limiter, take } = clocked(
    { ...only(1, 1), tiers: Object.fromEntries(policies) },
    { maxClients: 12, onFull: 'deny' },
  );
  for (const [name, [, windowMs]] of Object.entries(tiers)) {
    const told = [
      take.peek('acme', 0, 1, name),
      take(name, 0, 1, name),
      take(name, 0.0005, 1, name),
      take(name, 1, 1e15, name),
    ];
    assert.deepEqual(
      told.map((decision) => [decision.windowMs, ...decision.limits.map((each) => each.windowMs)]),
      told.map(() => [windowMs, windowMs]),
      name,
    );
  }
  for (let i = 0; i < 12; i += 1) take(`c${i}`, 1);
  const full = take('one too many', 1, 1, 'plain');
  assert.deepEqual([full.reason, full.windowMs], ['table-full', 2500]);

  // At once by another policy, and each of several its own; the decision's is that of the one that binds.
  limiter.setPolicies({
    default: {
      limits: [
        { name: 'main', capacity: 10, refillPerSecond: 1 },
        { name: 'frozen', capacity: 1000, refillPerSecond: 0 },
        { name: 'day', ...window('fixed-window', 5, 86_400) },
      ],
    },
  });
  for (const cost of [1, 6, 11, 2000]) {
    const decision = take('c1', 1, cost);
    const each = decision.limits.map(({ windowMs }) => windowMs);
    assert.deepEqual(each, [10_000, null, 86_400_000]);
    const index = decision.limits.findIndex(({ name }) => name === decision.limitName);
    assert.equal(decision.windowMs, each[index]);
  }
});

test('moreAfterMs: so long no more than what remains can be used, however it is', () => {
  const window = (algorithm) => ({ algorithm, limit: 3, windowSeconds: 60 });
  const tiers = {
    plain: { capacity: 10.5, refillPerSecond: 4 },
    never: { capacity: 3, refillPerSecond: 0 },
    sliding: window('sliding-window'),
    fixed: window('fixed-window'),
    several: {
      limits: [
        { name: 'main', capacity: 2, refillPerSecond: 1 },
        { name: 'w', ...window('fixed-window') },
      ],
    },
  };
  const { limiter, take } = clocked({ ...only(1, 1), tiers });
  const more = (tier, atMs, cost = 1) =>
    take(tier, atMs, cost, tier).limits.map(({ remaining, moreAfterMs }) => [
      remaining,
      moreAfterMs,
    ]);
  const peeked = (tier, atMs) =>
    take
      .peek(tier, atMs, 1, tier)
      .limits.map(({ remaining, moreAfterMs }) => [remaining, moreAfterMs]);
  // A full bucket has ten and a half: from what is used first, half a token is still there.
  assert.deepEqual(peeked('plain', 0), [[10, 125]]);
  assert.deepEqual(more('plain', 0), [[9, 125]]);
  assert.deepEqual(more('plain', 100), [[8, 25]]);
  assert.deepEqual(more('plain', 125), [[8, 250]]);
  assert.deepEqual(more('plain', 125, 9), [[8, 250]]);
  assert.deepEqual(more('never', 0), [[2, null]]);
  // A window that is empty begins with what is used first.
  assert.deepEqual(peeked('sliding', 5), [[3, 60_000]]);
  assert.deepEqual(more('sliding', 1000), [[2, 60_000]]);
  assert.deepEqual(more('sliding', 31_000), [[1, 30_000]]);
  assert.deepEqual(more('sliding', 60_999.999), [[0, 0.001]]);
  assert.deepEqual(peeked('sliding', 61_000), [[1, 30_000]]);
  assert.deepEqual(peeked('sliding', 200_000), [[3, 60_000]]);
  assert.deepEqual(more('fixed', 1000), [[2, 60_000]]);
  assert.deepEqual(more('fixed', 31_000), [[1, 30_000]]);
  limiter.refund('fixed', 1, 'fixed');
  assert.deepEqual(peeked('fixed', 31_000), [[2, 30_000]]);
  assert.deepEqual(peeked('fixed', 61_000), [[3, 60_000]]);
  assert.deepEqual(more('several', 500), [
    [1, 1000],
    [2, 60_000],
  ]);
});

test('each client has a bucket of its own, and each limiter its own clients', () => {
  const first = clocked(only(1, 0));
  const second = clocked(only(1, 0));
  for (const { limiter } of [first, second]) {
    for (let i = 0; i < 1000; i += 1) assert.equal(limiter.allow(`client ${i}`), true);
    for (let i = 0; i < 1000; i += 1) assert.equal(limiter.allow(`client ${i}`), false);
  }
});

test('allow, check and peek agree; peek spends and stores nothing, and tells what there is', () => {
  const random = new Random(1);
  const policies = {
    default: { capacity: 5, refillPerSecond: 2 },
    tiers: { pro: { capacity: 40, refill: { tokens: 10, seconds: 13 } }, broken: { capacity: 0 } },
  };
  const checked = clocked(policies);
  const allowed = clocked(policies);
  let denials = 0;
  for (let i = 0; i < 5000; i += 1) {
    const client = `c${random.whole(0, 20)}`;
    const cost = random.whole(1, 6);
    const tier = random.pick([undefined, null, 'pro', 'broken', 'nowhere']);
    checked.clock.ms += random.whole(0, 300);
    allowed.clock.ms = checked.clock.ms;

    const before = checked.limiter.stats();
    const peeked = checked.limiter.peek(client, { cost, tier });
    assert.deepEqual(checked.limiter.peek(client, { cost, tier }), peeked);
    assert.deepEqual(checked.limiter.stats(), before);
    const decision = checked.limiter.check(client, { cost, tier });
    const { remaining, resetMs } = peeked;
    const [{ moreAfterMs }] = peeked.limits;
    assert.deepEqual(
      decision,
      decision.allowed
        ? byMain({ ...peeked, remaining: remaining - cost, resetMs: decision.resetMs, moreAfterMs })
        : peeked,
    );
    if (decision.allowed) assert.ok(decision.resetMs > resetMs);
    assert.equal(allowed.limiter.allow(client, cost, tier), decision.allowed);
    if (!decision.allowed) denials += 1;
  }
  assert.ok(denials > 500 && denials < 4500);
  assert.deepEqual(allowed.limiter.stats(), checked.limiter.stats());
});

test('the cost defaults to 1, in every way of leaving it out', () => {
  const { limiter } = clocked(only(100, 0));
  assert.equal(limiter.check('c').remaining, 99);
  assert.equal(limiter.check('c', {}).remaining, 98);
  assert.equal(limiter.check('c', undefined).remaining, 97);
  assert.equal(limiter.check('c', { cost: undefined, tier: undefined }).remaining, 96);
  assert.equal(limiter.allow('c'), true);
  assert.equal(limiter.allow('c', undefined, undefined), true);
  assert.equal(limiter.allow('c', undefined, null), true);
  assert.equal(limiter.peek('c').remaining, 93);
  assert.equal(limiter.check('c', { tier: null }).remaining, 92);
});

test('options that do something as they are read: the decision is made of what holds afterwards', () => {
  for (const method of ['check', 'peek']) {
    for (const member of ['cost', 'tier']) {
      const { limiter } = clocked({ ...only(3, 0), tiers: { pro: only(9, 0).default } });
      const options = (act) =>
        Object.defineProperty({ cost: 2, tier: 'pro' }, member, {
          enumerable: true,
          get() {
            act();
            return { cost: 2, tier: 'pro' }[member];
          },
        });
      const ask = (client, act) => limiter[method](client, options(act));
      assert.equal(ask('a', () => {}).limit, 9);
      const { limit, remaining, tier } = ask('b', () => {
        limiter.check('another, of more than forty-eight characters, é', { tier: 'nowhere' });
        limiter.allowMany(['c', 'd']);
      });
      assert.deepEqual([limit, remaining, tier], [9, method === 'check' ? 7 : 9, 'pro']);
      assert.equal(
        ask('e', () =>
          limiter.setPolicies({ ...only(3, 0), tiers: { a: {}, pro: only(5, 0).default } }),
        ).limit,
        5,
      );
      assert.equal(ask('f', () => limiter.setPolicies(only(3, 0))).fallback, 'unknown-tier');
      assert.throws(() => ask('g', () => limiter.dispose()), {
        message: 'the TierLimiter is disposed',
      });
    }
  }
});

test('a decision belongs to the caller: later ones do not change it', () => {
  const { take } = clocked(only(3, 1));
  const decisions = [0, 1, 2, 3].map((at) => take('c', at));
  assert.deepEqual(
    decisions.map(({ remaining }) => remaining),
    [2, 1, 0, 0],
  );
  assert.deepEqual(
    decisions.map(({ allowed }) => allowed),
    [true, true, true, false],
  );
});

test('case 1: one token per 1300 ms is there after 1300 ms, whatever the polling', () => {
  const { take } = clocked({ default: { capacity: 1, refill: { tokens: 10, seconds: 13 } } });
  assert.equal(take('c', 0).allowed, true);
  for (let at = 1; at < 1300; at += 1) {
    const decision = take('c', at);
    assert.equal(decision.allowed, false, `at ${at}`);
    assert.equal(decision.retryAfterMs, 1300 - at);
  }
  assert.equal(take('c', 1300).allowed, true);
});

test('case 2: 625 per 3600 s is one token per 5760 ms', () => {
  const { take } = clocked({ default: { capacity: 1, refill: { tokens: 625, seconds: 3600 } } });
  assert.equal(take('c', 0).allowed, true);
  assert.equal(take('c', 1).retryAfterMs, 5759);
  assert.equal(take('c', 5760).allowed, true);
});

test('case 2: obeying the answer works for n per {1, 7, 13, 60, 3600} s, and a microsecond earlier does not', () => {
  const { limiter, take, clock } = clocked(only(1, 1));
  for (const seconds of [1, 7, 13, 60, 3600]) {
    for (let tokens = 1; tokens <= 2000; tokens += 1) {
      limiter.setPolicies({ default: { capacity: 1, refill: { tokens, seconds } } });
      // By then the bucket is full again.
      const start = clock.ms + seconds * 1000 + (tokens % 7) / 1000;
      const context = `${tokens} per ${seconds} s at ${start}`;
      assert.equal(take('c', start).allowed, true, context);
      const { allowed, retryAfterMs } = take('c', start);
      assert.equal(allowed, false, context);
      assert.ok(retryAfterMs > 0, context);
      clock.ms = start + retryAfterMs - 0.001;
      assert.equal(limiter.peek('c').allowed, false, context);
      assert.equal(take('c', start + retryAfterMs).allowed, true, context);
    }
  }
});

test('obeying the answer works at random, with fractions of a microsecond on the clock', () => {
  const random = new Random(2);
  const { limiter, take, clock } = clocked(only(1, 1), { sweep: false });
  let denials = 0;
  for (let i = 0; i < 5000; i += 1) {
    if (i % 20 === 0) {
      limiter.setPolicies(
        only(
          random.pick([1, 1.5, 7, 1e6]),
          random.pick([0.1, 1 / 3, 10, 11.57407407, 1e-6, 12345.678]),
        ),
      );
    }
    const client = `c${random.whole(0, 5)}`;
    const cost = random.whole(1, random.chance(0.5) ? 1 : 7);
    const at = clock.ms + random.fraction() * random.pick([0, 1, 1000, 1e6]);
    const { reason, retryAfterMs } = take(client, at, cost);
    if (reason !== 'exhausted') continue;
    denials += 1;
    assert.equal(take(client, at + retryAfterMs, cost).allowed, true, `at ${at}, ${retryAfterMs}`);
  }
  assert.ok(denials > 300, `${denials} denials`);
});

test('the bucket is full at the time that resetMs says, and not a microsecond earlier', () => {
  const random = new Random(3);
  for (let i = 0; i < 500; i += 1) {
    const capacity = random.whole(1, 20);
    const { limiter, take, clock } = clocked(only(capacity, random.pick([0.1, 0.3, 1, 7, 999.5])));
    const at = random.whole(0, 1e9) / 1000;
    const { resetMs } = take('c', at, random.whole(1, capacity));
    clock.ms = at + resetMs - 0.001;
    const before = limiter.peek('c', { cost: capacity });
    assert.deepEqual([before.allowed, before.resetMs], [false, 0.001]);
    clock.ms = at + resetMs;
    const full = limiter.peek('c', { cost: capacity });
    assert.deepEqual([full.allowed, full.resetMs], [true, 0]);
    assert.equal(take('c', clock.ms, capacity).remaining, 0);
  }
});

for (const never of [
  { refillPerSecond: 0 },
  { refillPerSecond: -0 },
  { refill: { tokens: 0, seconds: 5 } },
]) {
  test(`case 5: a bucket that never refills, ${JSON.stringify(never)}`, () => {
    const { take } = clocked({ default: { capacity: 3, ...never } });
    for (const remaining of [2, 1, 0]) {
      const { allowed, resetMs, ...decision } = take('c', 0);
      assert.deepEqual([allowed, decision.remaining, resetMs], [true, remaining, null]);
    }
    for (const at of [0, 0.001, 10 * yearMs, 280 * yearMs]) {
      const decision = take('c', at);
      assert.deepEqual(
        [
          decision.allowed,
          decision.remaining,
          decision.retryAfterMs,
          decision.resetMs,
          decision.reason,
        ],
        [false, 0, null, null, 'never-refills'],
      );
      assert.doesNotMatch(JSON.stringify(decision), /NaN|Infinity/);
    }
    assert.equal(take('another', 280 * yearMs).resetMs, null);
  });
}

test('case 7: a request that is refused is charged nothing', () => {
  const { take } = clocked(only(10, 1));
  assert.equal(take('c', 0, 8).remaining, 2);
  const refused = take('c', 0, 5);
  assert.deepEqual([refused.allowed, refused.remaining, refused.retryAfterMs], [false, 2, 3000]);
  assert.deepEqual([take('c', 0, 2).allowed, take('c', 0).allowed], [true, false]);
});

test('case 7: a cost above the capacity can never be admitted, and costs nothing', () => {
  for (const rate of [1, 0]) {
    for (const cost of [11, 1e6, Number.MAX_SAFE_INTEGER]) {
      const { take } = clocked(only(10.5, rate));
      const { allowed, remaining, retryAfterMs, reason } = take('fresh', 0, cost);
      assert.deepEqual(
        [allowed, remaining, retryAfterMs, reason],
        [false, 10, null, 'cost-exceeds-capacity'],
      );
    }
  }
  const { take } = clocked(only(1, 1));
  assert.equal(take('c', 0).allowed, true);
  for (let at = 100; at < 1000; at += 100) assert.equal(take('c', at, 1e6).allowed, false);
  assert.equal(take('c', 999.999).allowed, false);
  assert.equal(take('c', 1000).allowed, true);
});

test('case 8: waits below a second are told exactly, never as 0', () => {
  const { take, limiter } = clocked({
    default: { capacity: 1, refill: { tokens: 2, seconds: 3 } },
  });
  assert.equal(take('c', 0).allowed, true);
  assert.equal(take('c', 0).retryAfterMs, 1500);
  assert.equal(take('c', 1300).retryAfterMs, 200);
  assert.equal(take('c', 1499.999).retryAfterMs, 0.001);
  assert.equal(take('c', 1500).allowed, true);

  // A third of a microsecond too little is a microsecond to wait.
  limiter.setPolicies({ default: { capacity: 1, refill: { tokens: 3, seconds: 1 } } });
  assert.equal(take('d', 2000).allowed, true);
  assert.equal(take('d', 2333.333).retryAfterMs, 0.001);
  assert.equal(take('d', 2333.334).allowed, true);
});

test('ordinary quotas are exact over a year', () => {
  const quotas = [
    { capacity: 7, refill: { tokens: 7, seconds: 7 * 86_400 } },
    { capacity: 1e6, refill: { tokens: 1e6, seconds: 86_400 } },
    { capacity: 1e12, refill: { tokens: 1e12, seconds: 30 * 86_400 } },
  ];
  for (const quota of quotas) {
    const { limiter, take } = clocked({ default: quota });
    assert.deepEqual(limiter.warnings, []);
    const { capacity } = quota;
    const { seconds } = quota.refill;
    assert.equal(take('c', 0, capacity).remaining, 0);
    for (let i = 1; i <= 365; i += 1) {
      const { remaining } = limiter.peek('c');
      assert.equal(remaining, 0);
      assert.equal(take('c', i * seconds * 1000, capacity).remaining, 0);
    }
  }
});

test('which tier judges: of the call, else of setTier, else of the document, else none', () => {
  const tiers = Object.fromEntries(
    ['free', 'pro', 'gold'].map((name, i) => [name, { capacity: i + 2, refillPerSecond: 1 }]),
  );
  const { limiter, take } = clocked({
    default: { capacity: 1, refillPerSecond: 1 },
    tiers,
    clients: { acme: 'free' },
  });
  const judged = (client, tier) => {
    const decision = take(client, 0, 1000, tier);
    return [decision.limit, decision.tier, decision.fallback];
  };
  assert.deepEqual(judged('nobody'), [1, null, 'no-tier']);
  assert.deepEqual(judged('acme'), [2, 'free', null]);
  limiter.setTier('acme', 'pro');
  assert.deepEqual(judged('acme'), [3, 'pro', null]);
  assert.deepEqual(judged('acme', 'gold'), [4, 'gold', null]);
  assert.deepEqual(judged('acme', 'nowhere'), [1, 'nowhere', 'unknown-tier']);
  assert.deepEqual(judged('acme', null), [3, 'pro', null]);
  assert.deepEqual(judged('acme'), [3, 'pro', null]);
  limiter.setTier('acme', null);
  assert.deepEqual(judged('acme'), [2, 'free', null]);
  limiter.setTier('acme', null);
  assert.deepEqual(judged('acme'), [2, 'free', null]);
});

test('a tier that is unknown, invalid or missing is judged by the default, and the decision says so', () => {
  const { limiter, take } = clocked({
    default: { capacity: 3, refillPerSecond: 1 },
    tiers: { broken: { capacity: -1, refillPerSecond: 1 }, later: { limits: [] } },
    clients: { lost: 'nowhere' },
  });
  limiter.setTier('early', 'soon');
  const cases = [
    ['nobody', undefined, null, 'no-tier'],
    ['lost', undefined, 'nowhere', 'unknown-tier'],
    ['early', undefined, 'soon', 'unknown-tier'],
    ['nobody', 'soon', 'soon', 'unknown-tier'],
    ['nobody', '', '', 'unknown-tier'],
    ['nobody', 'broken', 'broken', 'invalid-tier-policy'],
    ['nobody', 'later', 'later', 'invalid-tier-policy'],
  ];
  for (const [client, tier, name, fallback] of cases) {
    const decision = take(client, 0, 10, tier);
    assert.deepEqual([decision.limit, decision.tier, decision.fallback], [3, name, fallback]);
  }
  limiter.setPolicies({
    default: { capacity: 3, refillPerSecond: 1 },
    tiers: {
      soon: { capacity: 8, refillPerSecond: 1 },
      broken: { capacity: 9, refillPerSecond: 1 },
    },
  });
  assert.deepEqual([take('early', 0, 10).limit, take('early', 0, 10).fallback], [8, null]);
  assert.equal(take('nobody', 0, 10, 'broken').limit, 9);
  assert.equal(take('lost', 0, 10).fallback, 'no-tier');
});

test('a client that changes tier keeps its balance', () => {
  const { limiter, take } = clocked({
    default: { capacity: 5, refillPerSecond: 1 },
    tiers: {
      small: { capacity: 2, refill: { tokens: 10, seconds: 13 } },
      large: { capacity: 100, refill: { tokens: 625, seconds: 3600 } },
    },
  });
  limiter.setTier('c', 'large');
  assert.equal(take('c', 0, 60).remaining, 40);
  limiter.setTier('c', 'small');
  assert.equal(take('c', 0, 1).remaining, 1);
  limiter.setTier('c', 'large');
  assert.equal(take('c', 0, 1).remaining, 0);
  for (let i = 0; i < 20; i += 1) {
    assert.equal(take('c', 0, 1, i % 2 === 0 ? 'small' : 'large').allowed, false);
  }
  limiter.setTier('c', null);
  assert.equal(take('c', 0).allowed, false);
});

test('forgetting is harmless: with sweeping and without, every decision is the same', () => {
  const random = new Random(4);
  const policies = {
    default: { capacity: 3, refillPerSecond: 5 },
    tiers: { pro: { capacity: 20, refillPerSecond: 30 } },
  };
  const swept = clocked(policies);
  const kept = clocked(policies, { sweep: false });
  for (let i = 0; i < 20_000; i += 1) {
    const client = `c${random.whole(0, 400)}`;
    const cost = random.whole(1, 4);
    swept.clock.ms += random.whole(0, 3);
    kept.clock.ms = swept.clock.ms;
    // A client always names the same tier: another one would be a change, after which it may tell.
    const tier = client.length % 2 === 0 ? 'pro' : undefined;
    const expected = kept.limiter.check(client, { cost, tier });
    assert.deepEqual(swept.limiter.check(client, { cost, tier }), expected);
  }
  assert.ok(swept.limiter.stats().swept > 100);
  assert.equal(kept.limiter.stats().swept, 0);
  assert.equal(kept.limiter.stats().buckets, 401);
});

test('a bucket that is full for its old tier but not for its new one is not forgotten', () => {
  const { limiter, take } = clocked({
    default: { capacity: 1, refillPerSecond: 1000 },
    tiers: {
      small: { capacity: 2, refillPerSecond: 1 },
      large: { capacity: 100, refillPerSecond: 1 },
    },
  });
  limiter.setTier('c', 'small');
  assert.equal(take('c', 0, 2).remaining, 0);
  limiter.setTier('c', 'large');
  for (let i = 0; i < 500; i += 1) take(`other ${i}`, 9001 + i);
  // By then each slot was looked at more than three times.
  for (let i = 0; i < 5000; i += 1) take('somebody', 9501 + i / 20);
  const { buckets, swept } = limiter.stats();
  assert.deepEqual([buckets, swept], [2, 500]);
  assert.equal(take('c', 10_000).remaining, 9);
});

test('stats count what happened', () => {
  const { limiter, take } = clocked(only(2, 1), { maxClients: 100, maxBytes: 1e6 });
  assert.deepEqual(limiter.stats(), {
    buckets: 0,
    bytes: 0,
    assignments: 0,
    allowed: 0,
    denied: 0,
    evictions: 0,
    evictedTokens: 0,
    swept: 0,
    tableFull: 0,
    maxClients: 100,
    clockRegressions: 0,
    revision: 1,
  });
  for (let i = 0; i < 3; i += 1) take('a', 0);
  take('b', 0, 7);
  limiter.setTier('a', 'x');
  limiter.setTier('b', 'x');
  limiter.setTier('b', 'y');
  limiter.setTier('c', null);
  limiter.peek('never seen');
  limiter.setPolicies(only(2, 2));
  const { buckets, bytes, assignments, allowed, denied, revision } = limiter.stats();
  assert.deepEqual([buckets, assignments, allowed, denied, revision], [2, 2, 2, 2, 2]);
  assert.ok(bytes >= 2 * 32 && bytes <= 4096, `${bytes} bytes`);
  const counted = limiter.stats();
  take('a', 0);
  assert.equal(counted.denied, 2);
});

test('the limiter is of the class that made it', () => {
  const { limiter } = clocked(only(1, 1));
  assert.ok(limiter instanceof TierLimiter);
  assert.equal(limiter.constructor, TierLimiter);
  assert.equal(TierLimiter.name, 'TierLimiter');

  class Metered extends TierLimiter {
    asked = 0;
    allow(...request) {
      this.asked += 1;
      return super.allow(...request);
    }
  }
  const metered = clocked(only(1, 0), {}, Metered).limiter;
  assert.deepEqual([metered.allow('c'), metered.allow('c'), metered.asked], [true, false, 2]);

  // As classes were derived before there was a word for it.
  function Older() {}
  Object.setPrototypeOf(Older.prototype, TierLimiter.prototype);
  const older = Reflect.construct(TierLimiter, [{ policies: only(1, 0) }], Older);
  assert.deepEqual(
    [older instanceof Older, older.allow('c'), older.allow('c')],
    [true, true, false],
  );
});
