// `tierlimit check`: what it says of good and bad policy documents, and with which exit status.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { tierlimit } from './support/cli/tierlimit.js';

const folder = mkdtempSync(join(tmpdir(), 'tierlimit-cli-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;

/** @param {string | Buffer} contents */
function file(contents) {
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, contents);
  return path;
}

const good = `{
  "default": { "capacity": 5, "refillPerSecond": 1 },
  "tiers": {
    "free": { "capacity": 5, "refillPerSecond": 0 },
    "pro": { "capacity": 100.5, "refill": { "tokens": 100, "seconds": 60 } }
  },
  "clients": { "acme": "pro", "zoe": "pro", "bob": "free" }
}
`;

const tolerated = `{
  "default": { "capacity": 5, "refillPerSecond": 1 },
  "tiers": {
    "free": { "capacity": 0, "refillPerSecond": 1 },
    "a/b": { "capacity": 1, "refillPerSecond": 1, "burst": 2 }
  },
  "clients": { "acme": "gold" }
}
`;

describe('a valid document', () => {
  test('is summarised', async () => {
    const path = file(good);
    const { status, stdout, stderr } = await tierlimit(['check', path]);
    assert.equal(stderr, '');
    assert.deepEqual(stdout.split('\n'), [
      `${path}: valid`,
      '  tier       limit',
      '  (default)  capacity 5, 1 per second',
      '  free       capacity 5, no refill               1 client',
      '  pro        capacity 100.5, 100 per 60 seconds  2 clients',
      '',
    ]);
    assert.equal(status, 0);
  });

  test('with windows and several limits is summarised', async () => {
    const { stdout } = await tierlimit(['check', '-'], {
      input: JSON.stringify({
        default: { algorithm: 'sliding-window', limit: 100, windowSeconds: 60 },
        tiers: {
          both: {
            limits: [
              { name: 'burst', capacity: 5, refillPerSecond: 1 },
              { name: 'day', algorithm: 'fixed-window', limit: 9, windowSeconds: 86400 },
            ],
          },
          beside: {
            algorithm: 'fixed-window',
            limits: [{ name: 'second', limit: 3, windowSeconds: 1 }],
          },
        },
      }),
    });
    assert.deepEqual(stdout.split('\n').slice(2), [
      '  (default)  100 in any window of 60 seconds',
      '  both       capacity 5, 1 per second and 9 in a fixed window of 86400 seconds',
      '  beside     3 in a fixed window of 1 second',
      '',
    ]);
  });

  test('from standard input', async () => {
    const { status, stdout } = await tierlimit(['check', '-'], { input: good });
    assert.match(stdout, /^<stdin>: valid\n/);
    assert.equal(status, 0);
  });

  test('with a byte order mark', async () => {
    const { status, stdout } = await tierlimit(['check', file(`\ufeff${good}`)]);
    assert.match(stdout, /: valid\n/);
    assert.equal(status, 0);
  });

  test('with a rate that is rounded is valid, with a warning', async () => {
    const path = file('{"default": {"capacity": 1000000, "refillPerSecond": 0.3333333333333333}}');
    const { status, stdout } = await tierlimit(['check', path]);
    const [warning, outcome] = stdout.split('\n');
    assert.ok(warning.startsWith(`${path}:1:`), warning);
    assert.match(warning, /:\d+:\d+: warning: \/default\b.*: .+ \[rate-rounded\]$/);
    assert.equal(outcome, `${path}: valid`);
    assert.equal(status, 0);
  });

  test('as JSON', async () => {
    const path = file(good);
    const { status, stdout } = await tierlimit(['check', '--json', path]);
    assert.deepEqual(JSON.parse(stdout), {
      format: 1,
      file: path,
      valid: true,
      loads: true,
      problems: [],
      warnings: [],
      tiers: [
        { name: 'free', rejected: false, clients: 1 },
        { name: 'pro', rejected: false, clients: 2 },
      ],
    });
    assert.equal(status, 0);
  });
});

describe('a document that loads with problems', () => {
  test('is told what they are and where', async () => {
    const path = file(tolerated);
    const { status, stdout, stderr } = await tierlimit(['check', path]);
    assert.equal(stderr, '');
    const lines = stdout.split('\n');
    assert.ok(lines[0].startsWith(`${path}:4:27: error: /tiers/free/capacity: `), lines[0]);
    assert.match(lines[0], / \[invalid-value\]$/);
    assert.ok(lines[1].startsWith(`${path}:5:`), lines[1]);
    assert.match(lines[1], /: error: \/tiers\/a~1b\/burst: .* \[unknown-member\]$/);
    assert.ok(lines[2].startsWith(`${path}:7:`), lines[2]);
    assert.match(lines[2], /: error: \/clients\/acme: .* \[unknown-tier\]$/);
    assert.equal(lines[3], `${path}: loads, but with 3 problems: there the default judges`);
    assert.match(stdout, /^ {2}free +rejected: judged by the default$/m);
    assert.match(stdout, /^ {2}a\/b +rejected: judged by the default$/m);
    assert.equal(status, 1);
  });

  test('is refused by --strict', async () => {
    const path = file(tolerated);
    const { status, stdout } = await tierlimit(['check', '--strict', path]);
    assert.ok(stdout.endsWith(`\n${path}: refused, 3 problems\n`), stdout);
    assert.equal(status, 1);
  });

  test('as JSON', async () => {
    const { status, stdout } = await tierlimit(['check', '--json', file(tolerated)]);
    const { valid, loads, problems, tiers } = JSON.parse(stdout);
    assert.deepEqual([valid, loads, problems.length], [false, true, 3]);
    const { message, ...first } = problems[0];
    assert.deepEqual(first, {
      path: '/tiers/free/capacity',
      code: 'invalid-value',
      line: 4,
      column: 27,
    });
    assert.ok(message.length > 0);
    assert.deepEqual(tiers, [
      { name: 'free', rejected: true, clients: 0 },
      { name: 'a/b', rejected: true, clients: 0 },
    ]);
    assert.equal(status, 1);
  });
});

describe('a document that is refused', () => {
  const documents = [
    ['cut off', '{\n  "default": {\n', /:3:1: error: .*\[syntax\]$/],
    ['with a comma too many', '{"default": {"capacity": 5,}}', /:1:28: error: .*\[syntax\]$/],
    ['without a default', '{\n}', /: error: .*\[missing-member\]$/],
    [
      'with an invalid default',
      '{"default": {"capacity": "5", "refillPerSecond": 1}}',
      /:1:26: error: \/default\/capacity: .*\[wrong-type\]$/,
    ],
    [
      'with an unknown member',
      '{"default": {"capacity": 5, "refillPerSecond": 1}, "plans": {}}',
      /: error: \/plans: .*\[unknown-member\]$/,
    ],
    [
      'with bytes that are not UTF-8',
      Buffer.from(
        '{\n  "default": {"capacity": 5, "refillPerSecond": 1}, "\ufffd\xe9": 1}',
        'latin1',
      ),
      /:2:54: error: .*\[invalid-utf8\]$/,
    ],
    [
      'with such bytes behind a replacement character',
      Buffer.concat([Buffer.from('{"\ufffd𝄞": "'), Buffer.from([0xff])]),
      /:1:10: error: byte ff .* at offset 13 .*\[invalid-utf8\]$/,
    ],
    ['that is empty', '', /:1:1: error: .*\[syntax\]$/],
  ];
  for (const [name, contents, line] of documents) {
    test(name, async () => {
      const path = file(contents);
      const { status, stdout, stderr } = await tierlimit(['check', path]);
      const lines = stdout.trimEnd().split('\n');
      assert.ok(lines[0].startsWith(`${path}:`), lines[0]);
      assert.match(lines[0], line);
      assert.equal(
        lines.at(-1),
        `${path}: refused, ${lines.length === 2 ? '1 problem' : `${lines.length - 1} problems`}`,
      );
      assert.equal(stderr, '');
      assert.equal(status, 1);
    });
  }

  test('as JSON', async () => {
    const { status, stdout } = await tierlimit(['check', '--json', '-'], { input: '[]' });
    const { file: name, valid, loads, problems, tiers } = JSON.parse(stdout);
    assert.deepEqual([name, valid, loads, tiers], ['-', false, false, []]);
    assert.equal(problems.length, 1);
    assert.equal(status, 1);
  });

  test('never puts control characters of the document on the terminal', async () => {
    const document =
      '{"default": {"capacity": 5, "refillPerSecond": 1}, "tiers": {"\\u001b[2J": {}, "\\u009b": 1}}';
    const { stdout } = await tierlimit(['check', file(document)]);
    assert.match(stdout, /\/tiers\/\\x1b\[2J/);
    assert.ok(
      ![...stdout].some(
        (char) => char !== '\n' && (char < ' ' || (char >= '\x7f' && char < '\xa0')),
      ),
    );
  });
});

test('never puts control characters of the file name on the terminal', async () => {
  const path = join(folder, 'x\x1b[31my\x9b.json');
  writeFileSync(path, '{"default": {"capacity": 0, "refillPerSecond": 1}}');
  for (const args of [['check'], ['check', '--json'], ['simulate', '-p']]) {
    const { stdout, stderr } = await tierlimit([...args, path]);
    assert.match(stdout + stderr, /x\\(x|u00)1b\[31my\\(x|u00)9b\.json/);
    assert.match(stdout + stderr, /^[\x20-\x7e\n]+$/);
  }
});

describe('a file that cannot be read', () => {
  test('is not there', async () => {
    const path = join(folder, 'nope.json');
    assert.deepEqual(await tierlimit(['check', path]), {
      status: 2,
      stdout: '',
      stderr: `tierlimit: ${path}: no such file\n`,
    });
  });

  test('is a directory', async () => {
    assert.deepEqual(await tierlimit(['check', folder]), {
      status: 2,
      stdout: '',
      stderr: `tierlimit: ${folder}: is a directory\n`,
    });
  });

  test('is larger than a policy document may be', async () => {
    const path = file('');
    // A file of nothing but a hole: more than any string holds.
    truncateSync(path, 2 ** 30);
    assert.deepEqual(await tierlimit(['check', path]), {
      status: 2,
      stdout: '',
      stderr: `tierlimit: ${path}: larger than 64 MiB, the most a policy document may have\n`,
    });
  });
});
