// Metrics by themselves: what is counted, and what may be in a label. That others read them is tested in tests/http/metrics/.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import {
  otelMetrics,
  prometheusContentType,
  prometheusMetrics,
  prometheusText,
} from 'tierlimit/metrics';

import { runScript } from './support/child.js';
import { clocked, only, thrown } from './support/limiter.js';

const policies = {
  default: { capacity: 2, refillPerSecond: 1 },
  tiers: {
    free: { capacity: 4, refillPerSecond: 0.5 },
    burst: {
      limits: [
        { name: 'second', capacity: 3, refillPerSecond: 3 },
        { name: 'day', capacity: 5, refillPerSecond: 0 },
      ],
    },
    broken: { capacity: 0, refillPerSecond: 0 },
  },
};

/** A line for each value: those of one metric by the part of its name. */
async function linesOf(part, ...metrics) {
  const text = await prometheusText(...metrics);
  return text.split('\n').filter((line) => !line.startsWith('#') && line.includes(part));
}

/** Metrics, and `take`, which decides and counts. */
function counted(options = {}, document = policies) {
  const { limiter, take } = clocked(document, { maxClients: 64 });
  const metrics = prometheusMetrics(options);
  return {
    limiter,
    metrics,
    take: (client, atMs, cost, tier) => {
      const decision = take(client, atMs, cost, tier);
      metrics.record(decision, { client, tier: tier ?? null, request: {} });
      return decision;
    },
  };
}

test('decisions are counted by tier, by the limit that binds and by outcome', async () => {
  const { metrics, take } = counted();
  for (let i = 0; i < 3; i += 1) take('acme', 0);
  for (let i = 0; i < 6; i += 1) take('globex', 0, 1, 'free');
  take('globex', 0, 5, 'free');
  for (let i = 0; i < 4; i += 1) take('initech', 0, 1, 'burst');
  for (let i = 0; i < 3; i += 1) take('initech', 1000, 1, 'burst');
  assert.deepEqual(await linesOf('decisions_total', metrics), [
    'tierlimit_decisions_total{tier="none",limit="main",outcome="allowed"} 2',
    'tierlimit_decisions_total{tier="none",limit="main",outcome="exhausted"} 1',
    'tierlimit_decisions_total{tier="free",limit="main",outcome="allowed"} 4',
    'tierlimit_decisions_total{tier="free",limit="main",outcome="exhausted"} 2',
    'tierlimit_decisions_total{tier="free",limit="main",outcome="cost-exceeds-capacity"} 1',
    'tierlimit_decisions_total{tier="burst",limit="second",outcome="allowed"} 3',
    'tierlimit_decisions_total{tier="burst",limit="second",outcome="exhausted"} 1',
    'tierlimit_decisions_total{tier="burst",limit="day",outcome="allowed"} 2',
    'tierlimit_decisions_total{tier="burst",limit="day",outcome="never-refills"} 1',
  ]);
  assert.deepEqual(await linesOf('fallbacks_total', metrics), [
    'tierlimit_fallbacks_total{fallback="no-tier"} 3',
    'tierlimit_fallbacks_total{fallback="unknown-tier"} 0',
    'tierlimit_fallbacks_total{fallback="invalid-tier-policy"} 0',
  ]);
});

test('a table that is full is an outcome of its own, and a reason of limiters to come is other', async () => {
  const { limiter, take } = clocked(only(1, 0), { maxClients: 8, onFull: 'deny' });
  const metrics = prometheusMetrics();
  for (let i = 0; i < 10; i += 1) metrics.record(take(`client ${i}`, 0));
  metrics.record({ ...limiter.peek('client 0'), reason: 'store-failed', allowed: false });
  assert.deepEqual(await linesOf('decisions_total', metrics), [
    'tierlimit_decisions_total{tier="none",limit="main",outcome="allowed"} 8',
    'tierlimit_decisions_total{tier="none",limit="main",outcome="table-full"} 2',
    'tierlimit_decisions_total{tier="none",limit="main",outcome="other"} 1',
  ]);
});

test('ten thousand tiers that come with requests make one label, whatever they are called', async () => {
  const { limiter, metrics, take } = counted();
  limiter.setTier('acme', 'gold');
  for (let i = 0; i < 10_000; i += 1) take('acme', 0, 1, `tier ${i}`);
  for (const tier of ['__proto__', 'constructor', 'none', 'other', '"} 1\nx 1', ''])
    take('acme', 0, 1, tier);
  take('acme', 0);
  take('acme', 0, 1, 'broken');
  const lines = await linesOf('decisions_total', metrics);
  assert.deepEqual(
    lines.map((line) => line.replace(/,limit.* /, ' ')),
    [
      'tierlimit_decisions_total{tier="other" 2',
      'tierlimit_decisions_total{tier="other" 10005',
      // It is in the document, though nobody can be judged by it.
      'tierlimit_decisions_total{tier="broken" 1',
    ],
  );
  assert.deepEqual(await linesOf('fallbacks_total', metrics), [
    'tierlimit_fallbacks_total{fallback="no-tier"} 0',
    'tierlimit_fallbacks_total{fallback="unknown-tier"} 10007',
    'tierlimit_fallbacks_total{fallback="invalid-tier-policy"} 1',
  ]);
});

test('tiers of the documents are told up to a number, and by names that are not too long', async () => {
  const { limiter, metrics, take } = counted({ maxTiers: 3, maxLimits: 2 });
  const document = (from) => {
    const names = Array.from({ length: 100 }, (_, i) => `tier ${from + i}`);
    const policy = (name) => ({
      limits: [{ name: name.replace(' ', '-'), capacity: 1, refillPerSecond: 0 }],
    });
    return { ...only(1, 0), tiers: Object.fromEntries(names.map((name) => [name, policy(name)])) };
  };
  for (let from = 0; from < 1000; from += 100) {
    limiter.setPolicies(document(from));
    for (let i = 0; i < 100; i += 1) take(`client ${i}`, 0, 1, `tier ${from + i}`);
  }
  const lines = await linesOf('decisions_total', metrics);
  const labels = (name) =>
    new Set(lines.map((line) => new RegExp(`${name}="([^"]*)"`).exec(line)[1]));
  assert.deepEqual(labels('tier'), new Set(['tier 0', 'tier 1', 'tier 2', 'other']));
  assert.deepEqual(labels('limit'), new Set(['tier-0', 'tier-1', 'other']));

  const long = counted();
  const tier = 'x'.repeat(129);
  long.limiter.setPolicies({ ...only(1, 0), tiers: { [tier]: only(1, 0).default } });
  long.take('acme', 0, 1, tier);
  assert.match((await linesOf('decisions_total', long.metrics))[0], /tier="other"/);
});

test('the waits that denied requests were told, where waiting helps', async () => {
  const { metrics, take } = counted({ retryAfterBoundsSeconds: [0.5, 1, 10] });
  take('acme', 0, 2);
  // 0.25 s, 1 s (which is a bound, and counts below it), 2 s.
  take('acme', 750);
  take('acme', 750, 2);
  take('globex', 0, 4, 'free');
  take('globex', 0, 1, 'free');
  // Never: it is in no histogram.
  take('acme', 750, 3);
  assert.deepEqual(await linesOf('retry_after', metrics), [
    'tierlimit_retry_after_seconds_bucket{tier="none",limit="main",outcome="exhausted",le="0.5"} 1',
    'tierlimit_retry_after_seconds_bucket{tier="none",limit="main",outcome="exhausted",le="1"} 1',
    'tierlimit_retry_after_seconds_bucket{tier="none",limit="main",outcome="exhausted",le="10"} 2',
    'tierlimit_retry_after_seconds_bucket{tier="none",limit="main",outcome="exhausted",le="+Inf"} 2',
    'tierlimit_retry_after_seconds_sum{tier="none",limit="main",outcome="exhausted"} 1.5',
    'tierlimit_retry_after_seconds_count{tier="none",limit="main",outcome="exhausted"} 2',
    'tierlimit_retry_after_seconds_bucket{tier="free",limit="main",outcome="exhausted",le="0.5"} 0',
    'tierlimit_retry_after_seconds_bucket{tier="free",limit="main",outcome="exhausted",le="1"} 0',
    'tierlimit_retry_after_seconds_bucket{tier="free",limit="main",outcome="exhausted",le="10"} 1',
    'tierlimit_retry_after_seconds_bucket{tier="free",limit="main",outcome="exhausted",le="+Inf"} 1',
    'tierlimit_retry_after_seconds_sum{tier="free",limit="main",outcome="exhausted"} 2',
    'tierlimit_retry_after_seconds_count{tier="free",limit="main",outcome="exhausted"} 1',
  ]);
  const on = counted({ retryAfterBoundsSeconds: [1] });
  on.take('acme', 0, 2);
  on.take('acme', 0, 1);
  assert.match((await linesOf('retry_after', on.metrics))[0], /le="1"} 1$/);
});

test('what admitted requests left of the limit that binds', async () => {
  const { metrics, take } = counted({ remainingBounds: [0, 0.5] });
  for (let i = 0; i < 6; i += 1) take('acme', 0, 1, 'free');
  assert.deepEqual(await linesOf('remaining', metrics), [
    'tierlimit_remaining_ratio_bucket{tier="free",limit="main",le="0"} 1',
    'tierlimit_remaining_ratio_bucket{tier="free",limit="main",le="0.5"} 3',
    'tierlimit_remaining_ratio_bucket{tier="free",limit="main",le="+Inf"} 4',
    'tierlimit_remaining_ratio_sum{tier="free",limit="main"} 1.5',
    'tierlimit_remaining_ratio_count{tier="free",limit="main"} 4',
  ]);
});

test('histograms that nobody wants, and those that have nothing yet, are not there', async () => {
  const off = counted({ retryAfterBoundsSeconds: false, remainingBounds: false });
  for (let i = 0; i < 3; i += 1) off.take('acme', 0);
  assert.doesNotMatch(await prometheusText(off.metrics), /retry_after|remaining/);
  assert.doesNotMatch(await prometheusText(counted().metrics), /retry_after|remaining/);
});

test('what stats tell is asked for when it is collected, and never in between', async () => {
  let times = 0;
  const { limiter } = clocked(only(1, 0), { maxClients: 8, onFull: 'deny' });
  const metrics = prometheusMetrics({
    limiter: {
      stats() {
        times += 1;
        return limiter.stats();
      },
    },
  });
  for (let i = 0; i < 10; i += 1) metrics.record(limiter.check(`client ${i}`));
  limiter.setTier('acme', 'pro');
  limiter.setPolicies(only(1, 0));
  assert.equal(times, 0);
  const { bytes } = limiter.stats();
  const text = await prometheusText(metrics);
  assert.equal(times, 1);
  assert.deepEqual(
    text.split('\n').filter((line) => /^tierlimit_(?!decisions|fallbacks|remaining)/.test(line)),
    [
      'tierlimit_buckets 8',
      'tierlimit_buckets_max 8',
      `tierlimit_memory_bytes ${bytes}`,
      'tierlimit_assignments 1',
      'tierlimit_policy_revision 2',
      'tierlimit_limiter_allowed_total 8',
      'tierlimit_limiter_denied_total 2',
      'tierlimit_evictions_total 0',
      'tierlimit_evicted_tokens_total 0',
      'tierlimit_swept_total 0',
      'tierlimit_table_full_total 2',
      'tierlimit_clock_regressions_total 0',
    ],
  );
});

test('each member of stats has a metric, so that none is forgotten', async () => {
  const { limiter } = clocked(only(1, 0));
  const names = Object.keys(limiter.stats());
  // Each has a value of its own, by which it is found again.
  const stats = Object.fromEntries(names.map((name, index) => [name, 1000 + index]));
  const metrics = prometheusMetrics({ limiter: { stats: () => stats } });
  const values = (await linesOf('tierlimit_', metrics)).map((line) =>
    Number(line.split(' ').at(-1)),
  );
  assert.deepEqual(
    values.filter((value) => value >= 1000).toSorted(),
    names.map((_, index) => 1000 + index),
  );
});

test('stats that come later are waited for; those that cannot be told are left out', async () => {
  const { limiter } = clocked(only(1, 0));
  const later = prometheusMetrics({ limiter: { stats: async () => limiter.stats() } });
  assert.deepEqual(await linesOf('tierlimit_policy_revision', later), [
    'tierlimit_policy_revision 1',
  ]);
  limiter.dispose();
  for (const metrics of [later, prometheusMetrics({ limiter })]) {
    metrics.record({ ...clocked(only(1, 0)).limiter.peek('acme') });
    assert.deepEqual(await linesOf('tierlimit_policy', metrics), []);
    assert.equal((await linesOf('decisions_total', metrics)).length, 1);
  }
});

test('a policy source: when it was read and put in force, and whether something of it is refused', async () => {
  let status = { appliedAtMs: null, readAtMs: null, refused: null, unreadable: null };
  const metrics = prometheusMetrics({ source: { status: () => status } });
  assert.deepEqual(await linesOf('tierlimit_policy', metrics), [
    'tierlimit_policy_refused 0',
    'tierlimit_policy_unreadable 0',
  ]);
  const trouble = { error: new Error('no'), sinceMs: 5, times: 1 };
  status = {
    appliedAtMs: 1_700_000_000_500,
    readAtMs: 1_700_000_001_000,
    refused: trouble,
    unreadable: trouble,
  };
  assert.deepEqual(await linesOf('tierlimit_policy', metrics), [
    'tierlimit_policy_applied_timestamp_seconds 1700000000.5',
    'tierlimit_policy_read_timestamp_seconds 1700000001',
    'tierlimit_policy_refused 1',
    'tierlimit_policy_unreadable 1',
  ]);
});

test('the metrics of several limiters stand together, told apart by labels of their own', async () => {
  const api = counted({ labels: { limiter: 'api' } });
  const login = counted({ labels: { zone: 'eu', limiter: 'login' } });
  api.take('acme', 0);
  login.take('acme', 0);
  const text = await prometheusText(api.metrics, login.metrics);
  const lines = text.split('\n').filter((line) => line.includes('decisions'));
  assert.deepEqual(lines, [
    '# HELP tierlimit_decisions_total Decisions, by tier, by the limit that binds and by outcome.',
    '# TYPE tierlimit_decisions_total counter',
    'tierlimit_decisions_total{limiter="api",tier="none",limit="main",outcome="allowed"} 1',
    'tierlimit_decisions_total{limiter="login",zone="eu",tier="none",limit="main",outcome="allowed"} 1',
  ]);
  await assert.rejects(prometheusText(api.metrics, api.metrics), {
    name: 'RangeError',
    message: 'two metrics have the same labels: {limiter="api"} (see labels)',
  });
  const again = prometheusMetrics({ labels: { limiter: 'login', zone: 'eu' } });
  await assert.rejects(prometheusText(login.metrics, again), RangeError);
  await assert.rejects(prometheusText(prometheusMetrics(), prometheusMetrics()), /labels: none/);
  await assert.rejects(prometheusText(/** @type {any} */ (limiterLike)), {
    name: 'TypeError',
    message: 'metrics must be of prometheusMetrics(); got an Object',
  });
  assert.equal(await prometheusText(), '');
  assert.equal(prometheusContentType, 'text/plain; version=0.0.4; charset=utf-8');
});

const limiterLike = { stats: () => ({}) };

test('options that are not as they should be are refused when it is made', () => {
  const meter = { addBatchObservableCallback() {} };
  const bounds = 'retryAfterBoundsSeconds';
  const list = '1 to 50 ascending numbers from 0, or false';
  const number = 'a number from 0, above the one before it';
  for (const [options, name, message] of [
    [null, 'TypeError', 'options must be an object such as { limiter }; got null'],
    [{ registry: 5 }, 'TypeError', 'there is no option "registry"'],
    [
      { limiter: {} },
      'TypeError',
      'limiter must be a TierLimiter, or what has stats(); got an Object',
    ],
    [
      { source: {} },
      'TypeError',
      'source must be a policy source, or what has status(); got an Object',
    ],
    [{ maxTiers: 0 }, 'RangeError', 'maxTiers must be a whole number from 1 to 1000; got 0'],
    [
      { maxLimits: 1001 },
      'RangeError',
      'maxLimits must be a whole number from 1 to 1000; got 1001',
    ],
    [{ [bounds]: true }, 'TypeError', `${bounds} must be ${list}; got true`],
    [{ [bounds]: [] }, 'RangeError', `${bounds} must be ${list}; got "0 numbers"`],
    [{ [bounds]: [1, 1] }, 'RangeError', `${bounds}[1] must be ${number}; got 1`],
    [{ [bounds]: [NaN] }, 'RangeError', `${bounds}[0] must be ${number}; got NaN`],
    [{ [bounds]: ['1'] }, 'TypeError', `${bounds}[0] must be ${number}; got "1"`],
    [{ remainingBounds: [-1] }, 'RangeError', `remainingBounds[0] must be ${number}; got -1`],
  ]) {
    for (const make of [prometheusMetrics, (own) => otelMetrics(own && { meter, ...own })]) {
      const error = thrown(() => make(options));
      assert.deepEqual([error.name, error.message], [name, message]);
    }
  }
  const label =
    'a name of labels must be a label name other than tier, limit, outcome, fallback, le; got';
  for (const [options, message] of [
    [{ labels: null }, 'labels must be an object; got null'],
    [{ labels: { 'a-b': '' } }, `${label} "a-b"`],
    [{ labels: { tier: '' } }, `${label} "tier"`],
    [{ labels: { __name__: '' } }, `${label} "__name__"`],
    [{ labels: { a: 5 } }, 'labels.a must be a string; got 5'],
    [{ meter }, 'there is no option "meter"'],
  ]) {
    const error = thrown(() => prometheusMetrics(options));
    assert.deepEqual([error.name, error.message], ['TypeError', message]);
  }
  for (const [options, message] of [
    [{}, 'meter must be a Meter of @opentelemetry/api; got undefined'],
    [{ meter: {} }, 'meter must be a Meter of @opentelemetry/api; got an Object'],
    [{ meter, attributes: 5 }, 'attributes must be an object; got 5'],
    [{ meter, labels: {} }, 'there is no option "labels"'],
  ]) {
    const error = thrown(() => otelMetrics(options));
    assert.deepEqual([error.name, error.message], ['TypeError', message]);
  }
});

test('case 38: nothing is read and no timer is set, when it is made and when it counts', async () => {
  const { status, stdout, stderr } = await runScript(`
    const refuse = (name) => () => { throw new Error(name + ' was called'); };
    for (const name of ['fetch', 'setTimeout', 'setInterval', 'queueMicrotask']) globalThis[name] = refuse(name);
    performance.now = Date.now = refuse('now');
    Math.random = crypto.getRandomValues = refuse('random');
    const { TierLimiter } = await import('tierlimit');
    const { prometheusMetrics, prometheusText } = await import('tierlimit/metrics');
    const seed = new Uint8Array(16);
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(1, 1))}, seed, now: () => 0 });
    const metrics = prometheusMetrics({ limiter });
    for (let i = 0; i < 3; i += 1) metrics.record(limiter.check('acme'));
    console.log((await prometheusText(metrics)).match(/exhausted"} (\\d)/)[1]);`);
  assert.deepEqual([stderr, stdout, status], ['', '2\n', 0]);
});

test('record works by itself, as a hook does', async () => {
  const limiter = new TierLimiter({ policies, now: () => 0 });
  const metrics = prometheusMetrics();
  const { record } = metrics;
  const client = limiter.client('acme', 'free');
  for (let i = 0; i < 5; i += 1) record(client.check());
  assert.deepEqual(await linesOf('decisions_total', metrics), [
    'tierlimit_decisions_total{tier="free",limit="main",outcome="allowed"} 4',
    'tierlimit_decisions_total{tier="free",limit="main",outcome="exhausted"} 1',
  ]);
});
