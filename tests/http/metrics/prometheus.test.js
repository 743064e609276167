// The text for Prometheus, served by a real server and read by a parser that is not ours; and what prom-client writes of the same
// decisions.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { rateLimit } from 'tierlimit/express';
import { prometheusContentType, prometheusMetrics, prometheusText } from 'tierlimit/metrics';

import { packages } from '../packages/packages.js';

const express = packages('express5');
const promClient = packages('prom-client');
const parse = packages('parse-prometheus-text-format');

const policies = {
  default: { capacity: 2, refillPerSecond: 1 },
  tiers: {
    free: { capacity: 4, refillPerSecond: 0.5 },
    fixed: { capacity: 1, refillPerSecond: 0 },
  },
};

const limiterOf = (document = policies) => new TierLimiter({ policies: document, now: () => 0 });

/**
 * What a text says, by the names of the metrics; each metric's values in the order of their labels. The parser knows no histograms
 * with labels: the parts of one (`_bucket`, `_sum`, `_count`) are metrics of their own here.
 */
function parsed(text) {
  const families = new Map();
  for (const { name, help, metrics } of parse(text.replace(/^# TYPE \S+ histogram$/gm, ''))) {
    const values = metrics.map(({ labels = {}, value }) => ({ labels, value: Number(value) }));
    if (!families.has(name)) families.set(name, { help, metrics: [] });
    families.get(name).metrics.push(...values);
  }
  const order = ({ labels }) => JSON.stringify(Object.entries(labels).sort());
  for (const { metrics } of families.values())
    metrics.sort((x, y) => (order(x) < order(y) ? -1 : 1));
  return families;
}

/** The types that a text declares, by the names of the metrics. */
const typesOf = (text) =>
  Object.fromEntries(
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
  );

test('an app that counts its requests, and serves the counts', async () => {
  const limiter = limiterOf();
  const metrics = prometheusMetrics({ limiter });
  const app = express();
  app.get('/metrics', async (request, response) => {
    response.setHeader('content-type', prometheusContentType);
    response.end(await prometheusText(metrics));
  });
  app.use(
    rateLimit({
      limiter,
      client: (request, source) => source.header('x-client'),
      tier: (request, source) => source.header('x-tier') ?? undefined,
      onDecision: metrics.record,
    }),
  );
  app.get('/', (request, response) => response.end('hello'));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${server.address().port}`;
  const ask = async (path, headers) => {
    const response = await fetch(`${origin}${path}`, { headers });
    return { response, text: await response.text() };
  };
  try {
    for (let i = 0; i < 3; i += 1) await ask('/', { 'x-client': 'acme' });
    for (let i = 0; i < 6; i += 1) await ask('/', { 'x-client': 'globex', 'x-tier': 'free' });
    for (let i = 0; i < 50; i += 1)
      await ask('/', { 'x-client': 'mallory', 'x-tier': `made up ${i}` });

    const { response, text } = await ask('/metrics');
    assert.equal(response.headers.get('content-type'), prometheusContentType);
    const families = parsed(text);
    const decisions = families.get('tierlimit_decisions_total');
    assert.ok(decisions.help.length > 10);
    const line = (tier, outcome, value, more = {}) => ({
      labels: { tier, limit: 'main', outcome, ...more },
      value,
    });
    assert.deepEqual(decisions.metrics, [
      line('free', 'allowed', 4),
      line('none', 'allowed', 2),
      line('other', 'allowed', 2),
      line('free', 'exhausted', 2),
      line('none', 'exhausted', 1),
      line('other', 'exhausted', 48),
    ]);
    const waits = (part) =>
      families
        .get(`tierlimit_retry_after_seconds_${part}`)
        .metrics.filter(({ labels }) => labels.tier === 'free');
    assert.deepEqual(waits('count'), [line('free', 'exhausted', 2)]);
    assert.deepEqual(waits('sum'), [line('free', 'exhausted', 4)]);
    const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400, '+Inf'];
    assert.deepEqual(
      new Map(waits('bucket').map(({ labels, value }) => [labels.le, value])),
      new Map(bounds.map((le) => [`${le}`, le < 2 ? 0 : 2]).sort()),
    );
    const value = (name) => families.get(name).metrics[0].value;
    assert.deepEqual(
      ['tierlimit_buckets', 'tierlimit_limiter_denied_total', 'tierlimit_policy_revision'].map(
        value,
      ),
      [3, 51, 1],
    );
    const types = typesOf(text);
    assert.deepEqual(
      [
        types.tierlimit_decisions_total,
        types.tierlimit_retry_after_seconds,
        types.tierlimit_buckets,
      ],
      ['counter', 'histogram', 'gauge'],
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('names that mean something in the format come back as they were', async () => {
  const names = [
    'a"b',
    'a\\b',
    'a\nb',
    'a\\nb',
    'a\\',
    '"',
    '{x="y"} 5',
    'é 😀',
    '#',
    ' ',
    'a,b=c',
  ];
  const limiter = limiterOf({
    ...policies,
    tiers: Object.fromEntries(names.map((name) => [name, policies.tiers.fixed])),
  });
  const metrics = prometheusMetrics({ labels: { limiter: 'the "first"\nof\\all' } });
  for (const name of names) metrics.record(limiter.check('acme', { tier: name }));
  const { metrics: lines } = parsed(await prometheusText(metrics)).get('tierlimit_decisions_total');
  assert.deepEqual(lines.map(({ labels }) => labels.tier).sort(), names.toSorted());
  assert.ok(lines.every(({ labels }) => labels.limiter === 'the "first"\nof\\all'));
});

test('prom-client writes the same of the same decisions', async () => {
  const limiter = limiterOf();
  const metrics = prometheusMetrics({ limiter, retryAfterBoundsSeconds: [0.5, 1, 2] });
  const registry = new promClient.Registry();
  const registers = [registry];
  const labelNames = ['tier', 'limit', 'outcome'];
  const decisions = new promClient.Counter({
    name: 'tierlimit_decisions_total',
    help: 'h',
    labelNames,
    registers,
  });
  const waits = new promClient.Histogram({
    ...{ name: 'tierlimit_retry_after_seconds', help: 'h', labelNames, registers },
    buckets: [0.5, 1, 2],
  });
  const shares = new promClient.Histogram({
    ...{ name: 'tierlimit_remaining_ratio', help: 'h', labelNames: ['tier', 'limit'], registers },
    buckets: [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9],
  });
  new promClient.Gauge({ name: 'tierlimit_buckets', help: 'h', registers }).set(3);

  for (let i = 0; i < 40; i += 1) {
    const [tier, cost] = [[undefined, 'free', 'fixed'][i % 3], 1 + (i % 5)];
    const decision = limiter.check(`client ${i % 3}`, { tier, cost });
    metrics.record(decision);
    const labels = { tier: tier ?? 'none', limit: 'main' };
    const outcome = decision.allowed ? 'allowed' : decision.reason;
    decisions.inc({ ...labels, outcome });
    if (decision.allowed) shares.observe(labels, decision.remaining / decision.limit);
    else if (decision.retryAfterMs !== null) {
      waits.observe({ ...labels, outcome }, decision.retryAfterMs / 1000);
    }
  }

  const texts = [await prometheusText(metrics), await registry.metrics()];
  const [ours, theirs] = texts.map(parsed);
  for (const [name, { metrics: expected }] of theirs) {
    assert.deepEqual(ours.get(name)?.metrics, expected, name);
  }
  const filled = [...theirs].filter(([, family]) => family.metrics.length > 0);
  assert.equal(filled.length, 2 + 2 * 3);
  const [ourTypes, theirTypes] = texts.map(typesOf);
  assert.deepEqual({ ...ourTypes, ...theirTypes }, ourTypes);
});

test('it may stand behind the text of prom-client', async () => {
  const registry = new promClient.Registry();
  new promClient.Counter({ name: 'own_total', help: 'h', registers: [registry] }).inc(5);
  const metrics = prometheusMetrics();
  metrics.record(limiterOf().check('acme'));
  const families = parsed(`${await registry.metrics()}${await prometheusText(metrics)}`);
  assert.deepEqual(
    [families.get('own_total'), families.get('tierlimit_decisions_total')].map(
      (family) => family.metrics[0].value,
    ),
    [5, 1],
  );
});
