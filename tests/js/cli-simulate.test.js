// `tierlimit simulate`: the kinds of input it reads, what it reports, and in how much memory.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { logLine, makeLog } from './support/cli/log-maker.js';
import { tierlimit, timeout, tool } from './support/cli/tierlimit.js';

const folder = mkdtempSync(join(tmpdir(), 'tierlimit-cli-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;

/** @param {string | Buffer} contents */
function file(contents) {
  const path = join(folder, String(files++));
  writeFileSync(path, contents);
  return path;
}

/** Two requests at once, then one every ten seconds. */
const policies = file(
  JSON.stringify({
    default: { capacity: 2, refillPerSecond: 0.1 },
    tiers: {
      pro: { capacity: 4, refillPerSecond: 0.1 },
      none: { capacity: 0, refillPerSecond: 1 },
    },
    clients: { alice: 'pro', 'none of all': 'none' },
  }),
);
const start = Date.UTC(2024, 0, 1) / 1000;

/**
 * @param {string[]} args
 * @param {Parameters<typeof tierlimit>[1]} [options]
 */
async function simulate(args, options) {
  const { status, stdout, stderr } = await tierlimit(
    ['simulate', '--policies', policies, '--json', ...args],
    options,
  );
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** @param {Parameters<typeof logLine>[0][]} requests with seconds counted from `start` */
function log(...requests) {
  return requests
    .map((fields) => logLine({ ...fields, seconds: start + fields.seconds }) + '\n')
    .join('');
}

/** @param {any} report */
const outcome = ({ requests, admitted, denied }) => ({ requests, admitted, denied });

const made = makeLog({ seed: 1, lines: 3000, clients: 100 });
const madeText = `${made.join('\n')}\n`;

describe('a log', () => {
  const asFile = simulate([file(madeText)]).then((report) => ({ ...report, logs: [] }));
  const inputs = [
    ['on standard input', madeText],
    ['gzipped on standard input', gzipSync(madeText)],
    [
      'gzipped in two members',
      Buffer.concat([madeText.slice(0, 9999), madeText.slice(9999)].map((part) => gzipSync(part))),
    ],
    ['with CRLF', madeText.replaceAll('\n', '\r\n')],
    ['without its last line end', madeText.slice(0, -1)],
    ['with a byte order mark', `\ufeff${madeText}`],
    ['byte for byte', gzipSync(madeText).toString('latin1')],
  ];
  for (const [name, input] of inputs) {
    test(`${name} gives the same`, async () => {
      const pieces =
        name === 'byte for byte'
          ? [...Buffer.from(input, 'latin1')].map((byte) => Buffer.of(byte))
          : input;
      assert.deepEqual({ ...(await simulate(['-'], { input: pieces })), logs: [] }, await asFile);
    });
  }

  test('gzipped, whatever it is called, gives the same', async () => {
    assert.deepEqual({ ...(await simulate([file(gzipSync(madeText))])), logs: [] }, await asFile);
  });

  test('in parts gives the same, in whatever order they are named', async () => {
    const newer = file(made.slice(1500).join('\n'));
    const older = file(gzipSync(made.slice(0, 1500).join('\n')));
    const { lines, ...parts } = { ...(await simulate([newer, older])), logs: [] };
    const { lines: wholeLines, ...whole } = await asFile;
    assert.deepEqual(parts, whole);
    assert.equal(lines.total, wholeLines.total);
    assert.equal(lines.late, 0);
  });

  test('of several servers is merged by time', async () => {
    const one = file(log({ seconds: 0 }, { seconds: 200 }, { seconds: 400 }));
    const two = file(log({ seconds: 0 }, { seconds: 1 }, { seconds: 201 }, { seconds: 401 }));
    const report = await simulate([one, two]);
    assert.deepEqual(outcome(report), { requests: 7, admitted: 6, denied: 1 });
    assert.equal(report.lines.late, 0);
  });

  test('that is empty is no error', async () => {
    const report = await simulate(['-']);
    assert.deepEqual(outcome(report), { requests: 0, admitted: 0, denied: 0 });
    assert.deepEqual([report.firstEpochMs, report.lastEpochMs], [null, null]);
    const { status, stdout } = await tierlimit(['simulate', '-p', policies, '-']);
    assert.equal(stdout, '<stdin>: 0 lines, 0 requests\n');
    assert.equal(status, 0);
  });
});

describe('lines', () => {
  test('that are none are counted, and the first five shown', async () => {
    const good = log({ seconds: 0 });
    const long = 'x'.repeat(1_200_000);
    const input = `${good}\n \ngarbage \x1b[2J\n${long}\r\n${good}a\nb\nc\nd\n`;
    const report = await simulate(['-'], { input });
    assert.equal(report.requests, 2);
    assert.deepEqual(
      { ...report.lines },
      {
        ...{ total: 10, blank: 2, unparseable: 6, withoutClient: 0, outOfOrder: 0 },
        ...{ maxOutOfOrderSeconds: 0, reorderSeconds: 60, late: 0, maxLateSeconds: 0 },
      },
    );
    assert.deepEqual(
      report.unparseable.map((sample) => [sample.log, sample.line, sample.text.slice(0, 12)]),
      [
        ['-', 4, 'garbage \x1b[2J'],
        ['-', 5, 'xxxxxxxxxxxx'],
        ['-', 7, 'a'],
        ['-', 8, 'b'],
        ['-', 9, 'c'],
      ],
    );
    assert.match(report.unparseable[1].reason, /^longer than 262144 bytes/);

    const { stdout, status } = await tierlimit(['simulate', '-p', policies, '-'], { input });
    assert.match(stdout, /^ {2}6 lines unparseable, the first:$/m);
    assert.match(stdout, /^ {4}<stdin>:4: no time such as .*\n {6}garbage \\x1b\[2J$/m);
    assert.equal(status, 0);
  });

  test('that are all none give status 1', async () => {
    const { status, stdout } = await tierlimit(['simulate', '-p', policies, '-'], {
      input: 'a\nb\n',
    });
    assert.match(stdout, /2 lines, 0 requests/);
    assert.equal(status, 1);
  });

  test('with bytes that are not UTF-8 keep their clients apart', async () => {
    const input = Buffer.from(
      log(
        { seconds: 0, user: '\xe9' },
        { seconds: 0, user: '\xe8' },
        { seconds: 0, user: '\xc3\xa9' },
      ),
      'latin1',
    );
    const report = await simulate(['--client', 'user', '-'], { input });
    const names = report.clients.mostLimited.map(({ client }) => client);
    assert.deepEqual(names.sort(), ['\xc3\xa9', '\xe8', '\xe9']);
    const { stdout } = await tierlimit(['simulate', '-p', policies, '--client=user', '-'], {
      input,
    });
    assert.match(stdout, /^\\xc3\\xa9 /m);
  });

  test('out of order are put in order', async () => {
    const seconds = [0, 0, 10, 5, 9, 30];
    const report = await simulate(['-'], { input: log(...seconds.map((at) => ({ seconds: at }))) });
    // In order: full at 0, empty after two; one token grows until 10.
    assert.deepEqual(outcome(report), { requests: 6, admitted: 4, denied: 2 });
    assert.equal(report.lines.outOfOrder, 2);
    assert.equal(report.lines.maxOutOfOrderSeconds, 5);
    assert.equal(report.lines.late, 0);
    assert.equal(report.firstEpochMs, start * 1000);
    assert.equal(report.lastEpochMs, (start + 30) * 1000);
  });

  test('that come too late are judged at the time reached', async () => {
    const input = log({ seconds: 0 }, { seconds: 0 }, { seconds: 100 }, { seconds: 90 });
    const { lines, ...report } = await simulate(['--reorder-seconds=0', '-'], { input });
    assert.deepEqual(outcome(report), { requests: 4, admitted: 4, denied: 0 });
    assert.deepEqual([lines.late, lines.maxLateSeconds], [1, 10]);
  });

  test('are compared across zones', async () => {
    const input = log(
      { seconds: 0 },
      { seconds: 1, zoneMinutes: 330 },
      { seconds: 2, zoneMinutes: -210 },
    );
    const report = await simulate(['-'], { input });
    assert.deepEqual(outcome(report), { requests: 3, admitted: 2, denied: 1 });
    assert.equal(report.lines.outOfOrder, 0);
  });
});

describe('clients and tiers', () => {
  const input = log(
    ...[0, 1, 2, 3].map((seconds) => ({ seconds, user: 'alice', host: '10.0.0.1', agent: 'a' })),
    ...[0, 1, 2].map((seconds) => ({ seconds, user: 'none of all', host: '10.0.0.2', agent: 'b' })),
    ...[0, 1, 2].map((seconds) => ({ seconds, host: '10.9.0.3', agent: ['-', '', '-'][seconds] })),
  );
  /** @param {any} report */
  const tiers = (report) =>
    Object.fromEntries(
      report.tiers.map((row) => [row.tier, [row.fallback, row.clients, row.admitted, row.denied]]),
    );

  test('by host, without tiers', async () => {
    const report = await simulate(['-'], { input });
    assert.deepEqual(tiers(report), { null: ['no-tier', 3, 6, 4] });
  });

  test('by user, with the tiers of the policies; lines without one are left out', async () => {
    const report = await simulate(['--client', 'user', '-'], { input });
    assert.deepEqual(tiers(report), {
      pro: [null, 1, 4, 0],
      none: ['invalid-tier-policy', 1, 2, 1],
    });
    assert.equal(report.lines.withoutClient, 3);
    assert.deepEqual(
      report.rejected.map(({ path }) => path),
      ['/tiers/none/capacity'],
    );
    assert.deepEqual(report.clients.mostLimited[0], {
      client: 'none of all',
      tier: 'none',
      fallback: 'invalid-tier-policy',
      requests: 3,
      admitted: 2,
      denied: 1,
      exact: true,
    });
  });

  test('by user agent', async () => {
    const report = await simulate(['--client', 'agent', '-'], { input });
    assert.deepEqual(
      report.clients.mostLimited.map(({ client }) => client),
      ['a', 'b'],
    );
  });

  test('all by one tier, but those assigned another', async () => {
    const args = ['--tier', 'gold', '--assign', '10.0.0.0/16=pro', '--assign=10.0.0.2=silver', '-'];
    assert.deepEqual(tiers(await simulate(args, { input })), {
      pro: [null, 1, 4, 0],
      silver: ['unknown-tier', 1, 2, 1],
      gold: ['unknown-tier', 1, 2, 1],
    });
  });

  test('at another cost', async () => {
    const report = await simulate(['--cost', '2', '--assign', '10.0.0.1=pro', '-'], { input });
    assert.deepEqual(outcome(report), { requests: 10, admitted: 4, denied: 6 });
    const never = await simulate(['--cost', '3', '--assign', '10.0.0.1=pro', '-'], { input });
    assert.deepEqual(never.deniedBy, { exhausted: 3, 'cost-exceeds-capacity': 6 });
  });

  test('a policy problem is shown; with --strict nothing is replayed', async () => {
    const args = ['simulate', '-p', policies, '-'];
    const tolerant = await tierlimit(args, { input });
    assert.match(tolerant.stderr, /^[^\n]*: error: \/tiers\/none\/capacity: [^\n]*\n$/);
    assert.equal(tolerant.status, 0);
    const strict = await tierlimit([...args, '--strict'], { input });
    assert.match(strict.stderr, /: error: \/tiers\/none\/capacity: /);
    assert.equal(strict.stdout, '');
    assert.equal(strict.status, 1);
  });
});

describe('the report', () => {
  test('for people', async () => {
    const input = log(
      ...[0, 0, 0, 1, 2, 70].map((seconds) => ({ seconds, host: 'b' })),
      ...[100, 100, 100, 50].map((seconds) => ({ seconds, host: 'a' })),
      { seconds: 65, host: '2001:db8::1' },
    );
    const args = ['simulate', '-p', policies, '--top', '2', '--assign=a=pro', '-'];
    const { stdout, status } = await tierlimit(args, { input });
    assert.deepEqual(stdout.split('\n'), [
      '<stdin>: 11 lines, 11 requests',
      '  from 2024-01-01 00:00:00 to 2024-01-01 00:01:40 UTC (1 min 40 s)',
      '  2 lines out of order, by up to 50 s: put in order within 1 min',
      '',
      'Tier       clients  requests  admitted  denied',
      '(default)        2         7         4       3  42.9 %',
      'pro              1         4         4       0   0.0 %',
      'all              3        11         8       3  27.3 %',
      '',
      'Most limited clients  tier       requests  admitted  denied',
      'b                     (default)         6         3       3  50.0 %',
      'a                     pro               4         4       0   0.0 %',
      '',
      'Requests per 5 s, from (UTC)',
      '',
      `                     █ admitted  ▒ denied${' '.repeat(21)}  requests  denied`,
      `2024-01-01 00:00:00  ${'█'.repeat(16)}${'▒'.repeat(25)}         5       3`,
      ...['05', '10', '15', '20', '25', '30', '35', '40', '45'].map(
        (second) => `2024-01-01 00:00:${second}  ${' '.repeat(41)}         0`,
      ),
      `2024-01-01 00:00:50  ${'█'.repeat(8)}▎${' '.repeat(32)}         1`,
      `2024-01-01 00:00:55  ${' '.repeat(41)}         0`,
      `2024-01-01 00:01:00  ${' '.repeat(41)}         0`,
      `2024-01-01 00:01:05  ${'█'.repeat(8)}▎${' '.repeat(32)}         1`,
      `2024-01-01 00:01:10  ${'█'.repeat(8)}▎${' '.repeat(32)}         1`,
      ...['15', '20', '25', '30', '35'].map(
        (second) => `2024-01-01 00:01:${second}  ${' '.repeat(41)}         0`,
      ),
      `2024-01-01 00:01:40  ${'█'.repeat(24)}▋${' '.repeat(16)}         3`,
      '',
    ]);
    assert.equal(status, 0);
  });

  test('says when there were too many clients to count', async () => {
    const input = log(
      ...[0, 0, 0].map((seconds) => ({ seconds, host: 'busy' })),
      ...Array.from({ length: 40 }, (_, n) => ({ seconds: n, host: `h${n}` })),
    );
    const report = await simulate(['--count-clients', '8', '-'], { input });
    assert.equal(report.clients.total, null);
    assert.ok(report.clients.forgotten > 0);
    assert.equal(report.clients.deniedMissedAtMost, 0);
    assert.deepEqual(report.clients.mostLimited[0].client, 'busy');
    assert.ok(report.clients.mostLimited[0].exact);
    assert.deepEqual(report.tiers.map(outcome), [{ requests: 43, admitted: 42, denied: 1 }]);
    const { stdout } = await tierlimit(['simulate', '-p', policies, '--count-clients=8', '-'], {
      input,
    });
    assert.match(stdout, /Too many clients to count them all \(see --count-clients\)/);
    assert.match(stdout, /no client has more than 0 denials not counted here/);
  });

  test('says when the limiter had too few buckets', async () => {
    const hosts = Array.from({ length: 300 }, (_, n) => ({ seconds: 0, host: `h${n}` }));
    const input = log(...hosts);
    const report = await simulate(['--max-clients', '8', '-'], { input });
    assert.ok(report.limiter.evictions > 0);
    const { stdout } = await tierlimit(['simulate', '-p', policies, '--max-clients=8', '-'], {
      input,
    });
    assert.match(stdout, /buckets given up for lack of room/);
  });

  test('ends quietly when its reader has seen enough', async () => {
    const hosts = Array.from({ length: 20_000 }, (_, n) => ({ seconds: n, host: `h${n}` }));
    const path = file(log(...hosts));
    const args = ['simulate', '-p', policies, '--json', '--top=all', path];
    const child = spawn(process.execPath, [tool, ...args], { timeout });
    const stderr = text(child.stderr);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [status, signal] = await once(child, 'close');
    assert.deepEqual([status, signal], [0, null]);
    assert.match(await stderr, /^[^\n]*\/tiers\/none[^\n]*\n$/);
  });
});

describe('on a terminal', { skip: terminalMissing() }, () => {
  const path = file(log(...[0, 0, 0, 1].map((seconds) => ({ seconds }))));

  /** @param {string} environment */
  function onTerminal(environment) {
    const command = `stty cols 100; ${environment} '${process.execPath}' '${tool}' simulate -p '${policies}' '${path}'`;
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' });
    return stdout.replaceAll('\r\n', '\n');
  }

  test('the plot is as wide as it, and in colour', () => {
    // Node.js takes a CI for a terminal without colours.
    const output = onTerminal('env -u NO_COLOR -u CI TERM=xterm-256color');
    const plain = output.replace(/\x1b\[\d+m/g, '');
    assert.notEqual(output, plain);
    assert.equal(
      Math.max(
        ...plain
          .split('\n')
          .slice(-6)
          .map((line) => line.length),
      ),
      100,
    );
  });

  test('without colour where NO_COLOR says so', () => {
    assert.doesNotMatch(onTerminal('env NO_COLOR=1 TERM=xterm-256color'), /\x1b/);
  });
});

describe('a log that cannot be read', () => {
  const whole = gzipSync(madeText);
  const damaged = Buffer.from(whole);
  damaged.fill(0, 2000, 2100);
  const logs = [
    ['that is not there', join(folder, 'nope.log'), 'no such file'],
    ['that is a directory', folder, 'is a directory'],
    ['whose gzip data is cut off', file(whole.subarray(0, 5000)), 'its gzip data ends too early'],
    ['whose gzip data is damaged', file(damaged), 'its gzip data is damaged'],
  ];
  for (const [name, path, reason] of logs) {
    test(`one ${name}`, async () => {
      const { status, stdout, stderr } = await tierlimit(['simulate', '-p', policies, path]);
      assert.ok(stderr.endsWith(`tierlimit: ${path}: ${reason}\n`), stderr);
      assert.equal(stdout, '');
      assert.equal(status, 2);
    });
  }

  test('ends the command though another one is still open', async () => {
    const args = ['simulate', '-p', policies, '-', logs[2][1]];
    const child = spawn(process.execPath, [tool, ...args], { timeout });
    child.stdin.write(log({ seconds: 366 * 86400 }));
    const stderr = text(child.stderr);
    const [status] = await once(child, 'close');
    assert.match(await stderr, /ends too early\n$/);
    assert.equal(status, 2);
  });
});

test('300,000 lines of as many clients fit into little memory', async () => {
  const policy = file('{"default": {"capacity": 1, "refillPerSecond": 0}}');
  const agent = 'x'.repeat(600);
  function* seconds() {
    for (let second = 0; second < 300; second++) {
      const hosts = Array.from({ length: 1000 }, (_, n) => `host-${second}-${n}.example.org`);
      yield log(...hosts.map((host) => ({ seconds: second, host, agent })));
    }
  }
  // Names that kept their lines alive would take 60 MB, and counts of all clients as much.
  const { status, stdout, stderr } = await tierlimit(
    ['simulate', '--policies', policy, '--json', '--count-clients', '20000', '-'],
    { input: seconds(), node: ['--max-old-space-size=40'] },
  );
  assert.equal(status, 0, stderr);
  const report = JSON.parse(stdout);
  assert.deepEqual(outcome(report), { requests: 300_000, admitted: 300_000, denied: 0 });
});

/** @returns {string | false} why there is no terminal to try on */
function terminalMissing() {
  if (process.platform !== 'linux') return 'the command script works another way here';
  return spawnSync('script', ['--version']).error === undefined
    ? false
    : 'there is no command script';
}
