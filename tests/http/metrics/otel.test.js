// Metrics through OpenTelemetry: its own SDK collects them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { otelMetrics } from 'tierlimit/metrics';

import { packages } from '../packages/packages.js';

const api = packages('@opentelemetry/api');
const { DataPointType, MeterProvider, MetricReader } = packages('@opentelemetry/sdk-metrics');

const policies = {
  default: { capacity: 2, refillPerSecond: 1 },
  tiers: { free: { capacity: 4, refillPerSecond: 0.5 } },
};

const limiterOf = () => new TierLimiter({ policies, now: () => 0, maxClients: 64 });

/** What is collected when a test asks, and not by a timer. */
class Collector extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** The SDK, and `collected`, which gives what there is, by the names of the metrics. */
function sdk() {
  const reader = new Collector();
  const provider = new MeterProvider({ readers: [reader] });
  const collected = async () => {
    const { resourceMetrics, errors } = await reader.collect();
    assert.deepEqual(errors, []);
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return new Map(metrics.map((metric) => [metric.descriptor.name, metric]));
  };
  /** The points of one metric: attributes without the name before them, and value; the largest first. */
  const points = async (name) => {
    const metric = (await collected()).get(name);
    const found = metric?.dataPoints.map(({ attributes, value }) => {
      const names = Object.entries(attributes).map(([key, it]) => [
        key.replace(/^tierlimit\./, ''),
        it,
      ]);
      return [Object.fromEntries(names), value];
    });
    return found?.toSorted(([, a], [, b]) => b - a);
  };
  return { meter: provider.getMeter('test'), collected, points };
}

test('decisions are sums by tier, limit and outcome, which grow from collection to collection', async () => {
  const { meter, collected, points } = sdk();
  const limiter = limiterOf();
  const { record } = otelMetrics({ meter });
  const take = (tier) =>
    record(limiter.check('acme', { tier }), { client: 'acme', tier, request: {} });
  take(undefined);
  const labels = { tier: 'none', limit: 'main', outcome: 'allowed' };
  assert.deepEqual(await points('tierlimit.decisions'), [[labels, 1]]);

  take(undefined);
  take('free');
  for (let i = 0; i < 1000; i += 1) take(`made up ${i}`);
  assert.deepEqual(await points('tierlimit.decisions'), [
    [{ ...labels, tier: 'other', outcome: 'exhausted' }, 1000],
    [labels, 2],
    [{ ...labels, tier: 'free', outcome: 'exhausted' }, 1],
  ]);
  assert.deepEqual(await points('tierlimit.fallbacks'), [
    [{ fallback: 'unknown-tier' }, 1000],
    [{ fallback: 'no-tier' }, 2],
    [{ fallback: 'invalid-tier-policy' }, 0],
  ]);
  const { descriptor, dataPointType, isMonotonic } = (await collected()).get('tierlimit.decisions');
  assert.deepEqual(
    [descriptor.unit, dataPointType, isMonotonic],
    ['{decision}', DataPointType.SUM, true],
  );
  assert.ok(descriptor.description.length > 10);
});

test('the waits of denied requests are a histogram with these bounds; what admitted ones left only if asked for', async () => {
  const { meter, collected, points } = sdk();
  const limiter = limiterOf();
  const { record } = otelMetrics({ meter, retryAfterBoundsSeconds: [0.5, 1, 10] });
  for (let i = 0; i < 4; i += 1) record(limiter.check('acme'));
  record(limiter.check('acme', { cost: 2 }));
  // Never: it waits for nothing.
  record(limiter.check('acme', { cost: 3 }));
  const [[labels, { sum, count, buckets }], ...others] = await points('tierlimit.retry_after');
  assert.deepEqual(labels, { tier: 'none', limit: 'main', outcome: 'exhausted' });
  assert.deepEqual(
    [sum, count, buckets, others],
    [4, 3, { boundaries: [0.5, 1, 10], counts: [0, 2, 1, 0] }, []],
  );
  assert.equal((await collected()).has('tierlimit.remaining_ratio'), false);

  const other = sdk();
  const asked = otelMetrics({
    ...{ meter: other.meter, retryAfterBoundsSeconds: false, remainingBounds: [0, 0.5] },
  });
  for (let i = 0; i < 6; i += 1) asked.record(limiter.check('globex', { tier: 'free' }));
  const [[tier, share]] = await other.points('tierlimit.remaining_ratio');
  assert.deepEqual(tier, { tier: 'free', limit: 'main' });
  assert.deepEqual([share.sum, share.buckets.counts], [1.5, [1, 2, 1]]);
  assert.equal((await other.collected()).has('tierlimit.retry_after'), false);
});

test('what stats and a policy source tell is asked for at each collection', async () => {
  const { meter, collected, points } = sdk();
  const limiter = limiterOf();
  const status = {
    appliedAtMs: 1_700_000_000_000,
    readAtMs: null,
    refused: null,
    unreadable: { times: 1 },
  };
  otelMetrics({ meter, limiter, source: { status: () => status } });
  limiter.check('acme');
  assert.deepEqual(await points('tierlimit.buckets'), [[{}, 1]]);
  limiter.check('globex');
  assert.deepEqual(await points('tierlimit.buckets'), [[{}, 2]]);
  const metrics = await collected();
  const told = (name) => {
    const { descriptor, dataPointType, dataPoints } = metrics.get(name);
    return [descriptor.unit, dataPointType, dataPoints.map(({ value }) => value)];
  };
  assert.deepEqual(told('tierlimit.memory'), ['By', DataPointType.GAUGE, [limiter.stats().bytes]]);
  assert.deepEqual(told('tierlimit.limiter.allowed'), ['{decision}', DataPointType.SUM, [2]]);
  assert.deepEqual(told('tierlimit.policy.revision'), ['{document}', DataPointType.GAUGE, [1]]);
  assert.deepEqual(told('tierlimit.policy.applied_timestamp'), [
    's',
    DataPointType.GAUGE,
    [1_700_000_000],
  ]);
  assert.deepEqual(told('tierlimit.policy.unreadable'), ['{source}', DataPointType.GAUGE, [1]]);
  assert.equal(metrics.get('tierlimit.policy.read_timestamp')?.dataPoints.length ?? 0, 0);

  // One that is disposed of tells nothing, and holds nobody up.
  limiter.dispose();
  assert.equal((await collected()).get('tierlimit.fallbacks').dataPoints.length, 3);
});

test('two limiters of one meter are told apart by attributes; close ends one of them', async () => {
  const { meter, points } = sdk();
  const limiter = limiterOf();
  const api = otelMetrics({ meter, limiter, attributes: { limiter: 'api' } });
  const login = otelMetrics({ meter, attributes: { limiter: 'login' } });
  for (const { record } of [api, api, login]) record(limiter.check('acme'));
  const labels = { tier: 'none', limit: 'main' };
  assert.deepEqual(await points('tierlimit.decisions'), [
    [{ limiter: 'api', ...labels, outcome: 'allowed' }, 2],
    [{ limiter: 'login', ...labels, outcome: 'exhausted' }, 1],
  ]);
  const waits = await points('tierlimit.retry_after');
  assert.deepEqual(
    waits.map(([attributes, { count }]) => [attributes.limiter, count]),
    [['login', 1]],
  );
  api.close();
  for (const { record } of [api, login]) record(limiter.check('acme'));
  const latest = new Map(
    (await points('tierlimit.decisions')).map(([{ limiter: name }, value]) => [name, value]),
  );
  assert.equal(latest.get('login'), 2);
  const ofApi = (await points('tierlimit.decisions')).filter(([it]) => it.limiter === 'api');
  assert.ok(ofApi.every(([it, value]) => it.outcome === 'allowed' && value === 2));
});

test('the meter of an API without an SDK takes all of it, and does nothing', () => {
  const limiter = limiterOf();
  const metrics = otelMetrics({
    meter: api.metrics.getMeter('test'),
    limiter,
    remainingBounds: [0.5],
  });
  for (let i = 0; i < 4; i += 1) metrics.record(limiter.check('acme'));
  metrics.close();
});
