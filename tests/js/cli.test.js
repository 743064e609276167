// The command line tool as a whole: its help, its version and what it makes of a wrong command line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { after, describe, test } from 'node:test';

import { tierlimit, timeout, tool } from './support/cli/tierlimit.js';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

test('can be executed', () => {
  assert.equal(readFileSync(tool, 'utf8').split('\n')[0], '#!/usr/bin/env node');
  assert.equal(statSync(tool).mode & 0o111, 0o111);
});

for (const args of [['--version'], ['-V']]) {
  test(args.join(' '), async () => {
    assert.deepEqual(await tierlimit(args), { status: 0, stdout: `${version}\n`, stderr: '' });
  });
}

describe('help', () => {
  const pages = [
    [/^Usage: tierlimit <command>/, [['--help'], ['-h'], ['help']]],
    [
      /^Usage: tierlimit check /,
      [
        ['help', 'check'],
        ['check', '--help'],
        ['check', 'x', '-h'],
      ],
    ],
    [
      /^Usage: tierlimit simulate /,
      [
        ['help', 'simulate'],
        ['simulate', '--help'],
      ],
    ],
  ];
  for (const [page, commands] of pages) {
    for (const args of commands) {
      test(args.join(' '), async () => {
        const { status, stdout, stderr } = await tierlimit(args);
        assert.equal(status, 0);
        assert.match(stdout, page);
        assert.ok(stdout.split('\n').every((line) => line.length <= 96));
        assert.equal(stderr, '');
      });
    }
  }
});

describe('a wrong command line is told in one line, with status 2', () => {
  const wrong = [
    [[], /a command is needed \(see tierlimit --help\)/],
    [['frob'], /unknown command 'frob' \(see tierlimit --help\)/],
    [['--frob'], /unknown option '--frob' \(see tierlimit --help\)/],
    [['help', 'frob'], /unknown command 'frob'/],
    [['check'], /one policy file is needed, not 0 \(see tierlimit check --help\)/],
    [['check', 'a.json', 'b.json'], /one policy file is needed, not 2/],
    [['check', '--frob', 'a.json'], /unknown option '--frob' \(see tierlimit check --help\)/],
    [['simulate', 'a.log'], /--policies FILE is needed \(see tierlimit simulate --help\)/],
    [['simulate', '-p', 'a.json', '--frob=1'], /unknown option '--frob'/],
    [['simulate', '-p', 'a.json', '--tier'], /'--tier <value>' argument missing/],
    [['simulate', '-p', 'a.json', '--json=yes'], /'--json' does not take an argument/],
    [['simulate', '-p', 'a.json', '--client', 'ip'], /--client takes host, user, agent, not 'ip'/],
    [['simulate', '-p', 'a.json', '--cost', '0'], /--cost takes a whole number from 1 to 9007/],
    [['simulate', '-p', 'a.json', '--cost', '1.5'], /--cost takes .* not '1.5'/],
    [['simulate', '-p', 'a.json', '--cost=9007199254740992'], /--cost takes/],
    [['simulate', '-p', 'a.json', '--cost', '-1'], /--cost takes .* from 1 to \d+, not '-1'/],
    [['simulate', '-p', 'a.json', '--top', '-1'], /--top takes .* not '-1'/],
    [['simulate', '-p', 'a.json', '--top=-1'], /--top takes .* not '-1'/],
    [['simulate', '-p', 'a.json', '--cost', '--json'], /'--cost' argument is ambiguous/],
    [['check', 'a.json', '--', '--cost', '-1'], /one policy file is needed, not 3/],
    [['simulate', '-p', 'a.json', '--reorder-seconds', '1m'], /--reorder-seconds takes .* '1m'/],
    [['simulate', '-p', 'a.json', '--max-clients', '7'], /--max-clients takes .* from 8 /],
    [['simulate', '-p', 'a.json', '--assign', 'a'], /--assign takes CLIENT=TIER, not 'a'/],
    [['simulate', '-p', '-', '-'], /standard input can be read once only/],
  ];
  for (const [args, message] of wrong) {
    test(`tierlimit ${args.join(' ')}`, async () => {
      const { status, stdout, stderr } = await tierlimit(args);
      assert.match(stderr, message);
      assert.match(stderr, /^tierlimit: [^\n]+\n$/);
      assert.equal(stdout, '');
      assert.equal(status, 2);
    });
  }
});

describe('what stands on the command line is not put on the terminal raw', () => {
  const hostile = 'x\x1b[31my\nz\x9b';
  const shown = 'x\\x1b[31my\\x0az\\x9b';
  for (const args of [
    [hostile],
    ['help', hostile],
    ['check', hostile],
    ['simulate', '-p', hostile, '-'],
    ['simulate', '-p', 'a.json', hostile],
    ['simulate', '-p', 'a.json', '--client', hostile],
    ['simulate', '-p', 'a.json', '--assign', hostile],
  ]) {
    test(JSON.stringify(args), async () => {
      const { status, stdout, stderr } = await tierlimit(args);
      assert.match(stderr, /^[\x20-\x7e]+\n$/);
      assert.ok(stderr.includes(shown), stderr);
      assert.equal(stdout, '');
      assert.equal(status, 2);
    });
  }
});

const full = '/dev/full';
const noFull = existsSync(full) ? false : `this system has no ${full}`;
describe('output that cannot be written', { skip: noFull }, () => {
  const fd = openSync(full, 'w');
  after(() => closeSync(fd));

  /** @param {(number | 'pipe')[]} outputs standard output and standard error */
  function help(...outputs) {
    const options = { stdio: ['ignore', ...outputs], timeout, encoding: 'utf8' };
    return spawnSync(process.execPath, [tool, '--help'], options);
  }

  test('is told in one line, with status 2', () => {
    const { status, stderr } = help(fd, 'pipe');
    assert.deepEqual([status, stderr], [2, 'tierlimit: <stdout>: no space left\n']);
  });

  test('is status 2 also where it cannot be told', () => {
    assert.equal(help(fd, fd).status, 2);
  });
});
