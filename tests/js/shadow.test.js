// A candidate document judged beside the one in force: it changes no decision, and what it would decide is counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PolicyError } from 'tierlimit';

import { Random } from '../model/random.js';
import { clocked, only, thrown } from './support/limiter.js';

/** One entry of the counts. */
const count = (tier, clientClass, bothAllow, bothDeny, onlyLiveAllows, onlyShadowAllows) => ({
  tier,
  clientClass,
  bothAllow,
  bothDeny,
  onlyLiveAllows,
  onlyShadowAllows,
});

test('both allow, both deny, and each alone allows', () => {
  const { limiter, take } = clocked(only(3, 0));
  limiter.setShadowPolicies(only(1, 0));
  for (let i = 0; i < 5; i += 1) take('k', 0);
  assert.deepEqual(limiter.shadowStats(), [count(null, 'none', 1, 2, 2, 0)]);
  limiter.setShadowPolicies(only(10, 0));
  for (let i = 0; i < 5; i += 1) take('k', 0);
  assert.deepEqual(limiter.shadowStats(), [count(null, 'none', 0, 0, 0, 5)]);
});

test('by tier and by where it came from: the call, setTier, the document, nowhere', () => {
  const bucket = { capacity: 2, refillPerSecond: 0 };
  const { limiter } = clocked({
    ...only(1, 0),
    tiers: { pro: bucket, basic: bucket },
    clients: { byDocument: 'basic' },
  });
  limiter.setTier('assigned', 'pro');
  limiter.setShadowPolicies({
    ...only(1, 0),
    tiers: { pro: { ...bucket, capacity: 1 }, mine: bucket },
    clients: { byDocument: 'mine' },
  });
  for (let i = 0; i < 2; i += 1) {
    limiter.allow('assigned');
    limiter.check('byDocument');
    limiter.client('called', 'pro').allow();
    limiter.allowMany(['nobody', 'nobody']);
    // Of the candidate only, so by the default in force.
    limiter.allow('candidate', 1, 'mine');
    limiter.allow('unknown', 1, 'nowhere');
  }
  limiter.setTier('later', 'pro');
  limiter.allow('later');
  const order = ({ tier, clientClass }) => `${clientClass} ${tier}`;
  assert.deepEqual(
    limiter.shadowStats().toSorted((a, b) => (order(a) < order(b) ? -1 : 1)),
    [
      count('pro', 'assigned', 2, 0, 1, 0),
      count('mine', 'call', 1, 0, 0, 1),
      count(null, 'call', 1, 1, 0, 0),
      count('pro', 'call', 1, 0, 1, 0),
      count('basic', 'document', 2, 0, 0, 0),
      count(null, 'none', 1, 3, 0, 0),
    ].toSorted((a, b) => (order(a) < order(b) ? -1 : 1)),
  );
});

test('no decision is another for it, in a run of requests, changes of tiers, refunds and reservations', () => {
  const policies = {
    default: { capacity: 5, refillPerSecond: 2 },
    tiers: {
      pro: {
        limits: [
          { name: 'main', capacity: 9, refillPerSecond: 1, onRaise: 'add' },
          { name: 'minute', algorithm: 'sliding-window', limit: 12, windowSeconds: 60 },
        ],
      },
    },
  };
  const alone = clocked(policies);
  const watched = clocked(policies);
  const random = new Random(3);
  for (let i = 0; i < 4000; i += 1) {
    if (i % 500 === 20) {
      watched.limiter.setShadowPolicies(
        i % 1000 === 20 ? only(1, 0) : { ...policies, clients: { c1: 'pro' } },
      );
    } else if (i % 500 === 480) {
      watched.limiter.setShadowPolicies(null);
    }
    const atMs = i * 40;
    alone.clock.ms = watched.clock.ms = atMs;
    const client = `c${random.whole(0, 9)}`;
    const cost = random.whole(1, 4);
    const tier = random.pick([undefined, null, 'pro', 'nowhere']);
    const kind = random.whole(0, 9);
    const [expected, found] = [alone, watched].map(({ limiter }) => {
      if (kind === 0) return limiter.setTier(client, tier ?? null, { onRaise: 'fill' });
      if (kind === 1) return limiter.refund(client, cost, tier);
      if (kind === 2) return limiter.reserve(client, { cost, tier }).settle(cost - 1);
      if (kind === 3) return limiter.allowMany([client, 'c1', client], cost, tier);
      if (kind === 4) return limiter.peek(client, { cost, tier });
      return limiter.check(client, { cost, tier });
    });
    assert.deepEqual(found, expected);
  }
  assert.deepEqual(watched.limiter.stats(), alone.limiter.stats());
});

test('peeking, refunds and what is refused are not counted', () => {
  const { limiter } = clocked(only(3, 0));
  limiter.setShadowPolicies(only(1, 0));
  limiter.peek('k');
  limiter.refund('k');
  assert.throws(() => limiter.allow('k', 0));
  assert.deepEqual(limiter.shadowStats(), []);
});

test('the candidate has buckets of its own, which start full, and sees refunds and reservations', () => {
  const { limiter } = clocked(only(10, 0));
  limiter.allow('k', 10);
  limiter.setShadowPolicies(only(10, 0));
  // Denied by the one, and charged by the other.
  assert.equal(limiter.allow('k', 6), false);
  limiter.refund('k', 2);
  assert.equal(limiter.allow('k', 6), false);
  limiter.refund('k', 2);
  limiter.refund('k', 2);
  // Charged by the one alone, and put back into that alone.
  assert.equal(limiter.reserve('k', { cost: 6 }).cancel().outcome, 'cancelled');
  assert.equal(limiter.allow('k', 6), true);
  limiter.refund('k', 6);
  // Charged by both, and put back into both.
  assert.equal(limiter.reserve('k', { cost: 6 }).cancel().outcome, 'cancelled');
  assert.equal(limiter.allow('k', 6), true);
  const [{ tier, clientClass, ...counts }] = limiter.shadowStats();
  assert.deepEqual(counts, { bothAllow: 2, bothDeny: 0, onlyLiveAllows: 2, onlyShadowAllows: 2 });
  assert.deepEqual([tier, clientClass], [null, 'none']);
});

test('the report is on the candidate, and its revision that of the document in force', () => {
  const { limiter } = clocked(only(3, 0));
  const report = limiter.setShadowPolicies(
    '{ "default": { "capacity": 1, "refillPerSecond": 1 },\n  "tiers": { "a": { "capacity": 0, "refillPerSecond": 1 } } }',
  );
  assert.equal(report.revision, 1);
  assert.deepEqual(
    report.rejected.map(({ path, code, line }) => [path, code, line]),
    [['/tiers/a/capacity', 'invalid-value', 2]],
  );
  assert.deepEqual([limiter.revision, limiter.rejected], [1, []]);
  assert.deepEqual(limiter.setShadowPolicies(null), { revision: 1, rejected: [], warnings: [] });
});

test('a candidate that is refused leaves the one before', () => {
  const { limiter } = clocked(only(3, 0));
  limiter.setShadowPolicies(only(1, 0));
  limiter.allow('k');
  const error = thrown(() => limiter.setShadowPolicies('{ "default": {} }'));
  assert.ok(error instanceof PolicyError);
  assert.deepEqual([error.path, error.line], ['/default', 1]);
  for (const [value, shown] of [
    [undefined, 'undefined'],
    [5, '5'],
    [[], 'an Array'],
    [new Map(), 'a Map'],
  ]) {
    const { name, message } = thrown(() => limiter.setShadowPolicies(value));
    if (shown !== 'an Array') {
      assert.deepEqual(
        [name, message],
        ['TypeError', `policies must be a plain object or JSON text; got ${shown}`],
      );
    }
  }
  assert.deepEqual(limiter.shadowStats(), [count(null, 'none', 1, 0, 0, 0)]);
  limiter.promoteShadow();
  assert.equal(limiter.peek('k').limit, 1);
});

test('promoting puts it in force, by which the buckets in force carry over, and ends the shadow', () => {
  const { limiter, take } = clocked(only(10, 0));
  take('k', 0, 7);
  limiter.setShadowPolicies({ ...only(20, 0), clients: { x: 'nowhere' } });
  const report = limiter.promoteShadow();
  assert.deepEqual(
    [report.revision, report.rejected.map(({ path, line }) => [path, line])],
    [2, [['/clients/x', null]]],
  );
  assert.deepEqual([limiter.revision, limiter.rejected], [2, report.rejected]);
  const { limit, remaining } = limiter.peek('k');
  assert.deepEqual([limit, remaining], [20, 3]);
  assert.deepEqual(limiter.shadowStats(), []);
  const { name, message } = thrown(() => limiter.promoteShadow());
  assert.deepEqual([name, message], ['Error', 'there are no shadow policies to promote']);
});

test('promoting takes the time of the change, where it counts', () => {
  const bucket = (refillPerSecond) => ({
    default: { capacity: 100, refillPerSecond, accrual: 'prorated' },
  });
  const { limiter, clock, take } = clocked(bucket(1));
  take('k', 0, 100);
  limiter.setShadowPolicies(bucket(10));
  clock.ms = 10_000;
  limiter.promoteShadow();
  assert.equal(take.peek('k', 11_000).remaining, 20);
  // Too early: nothing changes, and the candidate stays.
  limiter.setShadowPolicies(bucket(5));
  clock.ms = 9999;
  assert.equal(thrown(() => limiter.promoteShadow()).name, 'ClockError');
  clock.ms = 11_000;
  assert.equal(limiter.promoteShadow().revision, 3);
});

test('tiers of the candidate alone are nobody`s before and after it', () => {
  const bucket = { capacity: 2, refillPerSecond: 0 };
  const { limiter } = clocked({ ...only(1, 0), tiers: { pro: bucket } });
  const client = limiter.client('k', 'mine');
  const limits = () => [
    limiter.peek('k', { tier: 'mine' }).fallback,
    client.peek().fallback,
    limiter.peek('k', { tier: 'pro' }).limit,
  ];
  const expected = ['unknown-tier', 'unknown-tier', 2];
  assert.deepEqual(limits(), expected);
  for (let i = 0; i < 3; i += 1) {
    limiter.setShadowPolicies({ ...only(1, 0), tiers: { mine: bucket, [`other ${i}`]: bucket } });
    assert.deepEqual(limits(), expected);
    limiter.setShadowPolicies(null);
    assert.deepEqual(limits(), expected);
    // Numbers of tiers may come to stand for others.
    limiter.setTier('somebody', `else ${i}`);
    assert.deepEqual(limits(), expected);
  }
});

test('a number of a tier that only an assignment knows is not used after that', () => {
  const bucket = (capacity) => ({ capacity, refillPerSecond: 0 });
  const { limiter } = clocked(only(1, 0));
  limiter.setShadowPolicies({ ...only(1, 0), tiers: { a: bucket(1), b: bucket(5) } });
  limiter.setTier('x', 'gone');
  const client = limiter.client('k', 'gone');
  client.allow();
  limiter.allow('k', 1, 'gone');
  limiter.setTier('x', null);
  limiter.setTier('y', 'another');
  client.allow();
  limiter.allow('k', 1, 'gone');
  const tiers = limiter.shadowStats().map(({ tier }) => tier);
  assert.ok(!tiers.includes('another'), `${tiers}`);
});

test('after dispose each throws', () => {
  const { limiter } = clocked(only(1, 0));
  limiter.setShadowPolicies(only(1, 0));
  limiter.dispose();
  for (const call of [
    () => limiter.setShadowPolicies(only(1, 0)),
    () => limiter.setShadowPolicies(null),
    () => limiter.promoteShadow(),
    () => limiter.shadowStats(),
  ]) {
    assert.match(thrown(call).message, /disposed/);
  }
});

test('limiters with candidates, made and disposed of: their memory comes back', () => {
  const { limiter } = clocked(only(1, 0));
  for (let i = 0; i < 2000; i += 1) {
    const each = clocked(only(5, 0)).limiter;
    each.setShadowPolicies(only(1, 0));
    each.allow('k');
    each.setShadowPolicies(only(2, 0));
    each.allow('k');
    each.dispose();
  }
  assert.equal(limiter.allow('k'), true);
});

test('what is settled goes back to those limits of the candidate that were charged, and to no others', () => {
  const { limiter } = clocked({
    ...only(100, 0),
    tiers: { pro: { capacity: 100, refillPerSecond: 0 } },
  });
  limiter.setShadowPolicies({
    default: { limits: [{ name: 'hourly', capacity: 2, refillPerSecond: 0 }] },
    tiers: { pro: { capacity: 10, refillPerSecond: 0 } },
  });
  limiter.check('k', { cost: 2 });
  limiter.setTier('k', 'pro');
  const reservation = limiter.reserve('k');
  limiter.setTier('k', null);
  reservation.cancel();
  limiter.check('k');
  assert.deepEqual(limiter.shadowStats(), [
    count(null, 'none', 1, 0, 1, 0),
    count('pro', 'assigned', 1, 0, 0, 0),
  ]);
});
