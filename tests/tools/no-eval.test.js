// Runs with the suite js/no-eval only: shows that code really cannot be made from strings there, in the processes of
// the test runner and in those that tests start.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

test('code cannot be made from a string', () => {
  assert.throws(() => new Function('return 1'), EvalError);
});

test('nor in a process that a test starts', () => {
  const { stdout } = spawnSync(process.execPath, ['-p', 'try { eval("1") } catch (e) { e.name }'], {
    encoding: 'utf8',
  });
  assert.equal(stdout.trim(), 'EvalError');
});
