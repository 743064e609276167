// The versions of Node.js that are tried: the one that runs the tests, and those that npm brings.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { at } from '../../../js/scripts/project.js';
import { binaryOf, machine } from '../../package/support/binary.js';

/** @param {'newest' | 'oldest'} which */
const fromNpm = (which) =>
  binaryOf({
    manifest: 'tests/runtime/node/package.json',
    modules: 'tests/runtime/node/node_modules',
    prefix: `${which}-${machine}`,
    program: 'bin/node',
  });

const running = { name: 'running', path: process.execPath, skip: /** @type {false} */ (false) };
const newest = { name: 'newest', ...fromNpm('newest') };
/** The oldest that package.json promises. Its `require` loads no ES modules: that came with 20.19. */
const oldest = { name: 'oldest', ...fromNpm('oldest') };

/** Those with all that the package offers; `require` too. */
export const current = [running, newest];
export const all = [running, newest, oldest];
/** Those that have `import source`. */
export const importingSources = [newest];

/** Fails unless the oldest Node.js is the oldest that package.json promises. */
export function checkOldest() {
  const read = (/** @type {string} */ path) => JSON.parse(readFileSync(at(path), 'utf8'));
  const { engines } = read('package.json');
  const { optionalDependencies } = read('tests/runtime/node/package.json');
  const [, major, minor = '0', patch = '0'] =
    /^>=(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(engines.node) ?? [];
  const tried = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('oldest-'));
  assert.ok(tried.length > 0);
  for (const [name, version] of tried) {
    assert.equal(version.split('@').at(-1), `${major}.${minor}.${patch}`, name);
  }
}
