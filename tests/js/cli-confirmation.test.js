// The figures of `tierlimit simulate`, confirmed by a second computation that shares nothing with it.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { makeLog } from './support/cli/log-maker.js';
import { judge } from './support/cli/second-opinion.js';
import { tierlimit } from './support/cli/tierlimit.js';

const folder = mkdtempSync(join(tmpdir(), 'tierlimit-cli-'));
after(() => rmSync(folder, { recursive: true }));

// Scarce, so that even a quiet server's clients run dry.
const policies = {
  free: { capacity: 2.5, refillPerSecond: 0.04 },
  pro: { capacity: 4, refill: { tokens: 10, seconds: 130 } },
  enterprise: { capacity: 6, refill: { tokens: 3, seconds: 17 } },
};
const terms = {
  free: { halfTokens: 5n, tokens: 1n, seconds: 25n },
  pro: { halfTokens: 8n, tokens: 1n, seconds: 13n },
  enterprise: { halfTokens: 12n, tokens: 3n, seconds: 17n },
};

/** A public web server's log, which lies beside the repository where it is developed. */
const trace = fileURLToPath(new URL('../../../shared/traces/apache-2015.log', import.meta.url));

const logs = [
  { name: 'a generated log', lines: makeLog({ seed: 7, lines: 20_000, clients: 900 }) },
];
if (existsSync(trace)) {
  const lines = readFileSync(trace, 'latin1').trimEnd().split('\n');
  logs.push({ name: 'a real log', lines });
}

for (const { name, lines } of logs) {
  test(`${name}: admitted and denied per tier and per client`, async (t) => {
    const busiest = byRequests(lines);
    const assigned = {};
    for (const client of busiest.slice(0, 2)) assigned[client] = 'enterprise';
    for (const client of busiest.slice(2, 12)) assigned[client] = 'pro';
    const expected = judge(lines, terms, (client) => assigned[client] ?? 'free');
    for (const [tier, counts] of expected.perTier) {
      assert.ok(counts.admitted > 0 && counts.denied > 0, `the log puts ${tier} to the test`);
    }

    const log = join(folder, 'access.log');
    writeFileSync(log, `${lines.join('\n')}\n`, 'latin1');
    const byPolicies = write('by-policies.json', {
      default: policies.free,
      tiers: policies,
      clients: assigned,
    });
    const byOptions = write('by-options.json', {
      default: { capacity: 1, refillPerSecond: 0 },
      tiers: policies,
    });
    const options = Object.entries(assigned).map(([client, tier]) => `--assign=${client}=${tier}`);

    const runs = [
      { args: ['--policies', byPolicies], free: null },
      { args: ['--policies', byOptions, '--tier', 'free', ...options], free: 'free' },
    ];
    for (const { args, free } of runs) {
      const all = ['--json', '--top', 'all', log];
      const { status, stdout, stderr } = await tierlimit(['simulate', ...args, ...all]);
      assert.equal(stderr, '');
      assert.equal(status, 0);
      const report = JSON.parse(stdout);

      assert.equal(report.requests, lines.length);
      assert.equal(report.lines.late, 0);
      assert.ok(report.lines.outOfOrder > lines.length / 10);
      assert.deepEqual(
        new Map(report.tiers.map((row) => [row.tier ?? 'free', counts(row)])),
        expected.perTier,
      );
      assert.ok(report.tiers.some((row) => row.tier === free));
      assert.deepEqual(
        new Map(report.clients.mostLimited.map((row) => [row.client, counts(row)])),
        expected.perClient,
      );
      const denials = report.clients.mostLimited.map((row) => row.denied);
      assert.deepEqual(
        denials,
        denials.toSorted((a, b) => b - a),
      );
    }
    t.diagnostic(
      [...expected.perTier]
        .map(([tier, { admitted, denied }]) => `${tier}: ${admitted} admitted, ${denied} denied`)
        .join('; '),
    );
  });
}

/**
 * The clients, the busiest first.
 *
 * @param {string[]} lines
 */
function byRequests(lines) {
  const requests = new Map();
  for (const line of lines) {
    const client = line.slice(0, line.indexOf(' '));
    requests.set(client, (requests.get(client) ?? 0) + 1);
  }
  return [...requests].sort((a, b) => b[1] - a[1]).map(([client]) => client);
}

/** @param {{ admitted: number, denied: number }} row */
function counts({ admitted, denied }) {
  return { admitted, denied };
}

/**
 * @param {string} name
 * @param {unknown} document
 */
function write(name, document) {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(document));
  return path;
}
