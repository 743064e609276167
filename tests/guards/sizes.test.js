// What a user's bundle gets larger by, gzipped.
//
// The limits are some 1% above what was measured when they were set, so that growth is noticed where it comes in; the
// test prints what it measures now. A change that is worth its bytes moves a limit, to 1% above the new size and in the
// same commit. One that saves some moves it down. The sizes are those of Emscripten 3.1.6.
//
// The ceilings are for every compiler.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sizes } from '../bench/sizes.js';
import { limitHere } from './support/build.js';

const otherCompilers = 0.1;
const slimWithoutModule = 'tierlimit/slim, bundled and minified';
const inline = 'tierlimit, bundled and minified';

/** Bytes, gzipped. @type {Record<string, number>} */
const limits = {
  'core.wasm': 35_350,
  'glue.js, minified': 1_980,
  'wrapper, minified': 7_020,
  together: 44_000,
};
const ceilings = { together: 44_000, [slimWithoutModule]: 16_000 };

const measured = new Map((await sizes()).map(({ what, gzipped }) => [what, gzipped]));
const parts = Object.keys(limits).filter((what) => what !== 'together');
measured.set(
  'together',
  parts.reduce((sum, what) => sum + size(what), 0),
);

/** @param {string} what */
function size(what) {
  const gzipped = measured.get(what);
  assert.ok(gzipped !== undefined, `${what} was not measured`);
  return gzipped;
}

/** @param {string[]} whats */
const told = (whats) => `gzipped: ${whats.map((what) => `${what} ${size(what)}`).join('; ')} bytes`;

/** @param {Record<string, number>} most */
const problems = (most) =>
  Object.entries(most)
    .filter(([what, limit]) => !(size(what) <= limit))
    .map(([what, limit]) => `${what}: ${size(what)} bytes; the limit is ${limit}`);

test('module, glue and wrapper stay as small as they are', (t) => {
  t.diagnostic(told(Object.keys(limits)));
  const here = Object.entries(limits).map(([what, limit]) => [
    what,
    limitHere(limit, otherCompilers),
  ]);
  assert.deepEqual(problems(Object.fromEntries(here)), []);
});

test('module, glue and wrapper stay below 44 kB, tierlimit/slim without the module below 16 kB', (t) => {
  t.diagnostic(told([...Object.keys(ceilings), inline]));
  assert.deepEqual(problems(ceilings), []);
});
