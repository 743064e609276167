// What a user's bundle gets larger by, gzipped.
//
// The limits are some 2% above what was measured when they were set, so that growth is noticed where it comes in; the
// test prints what it measures now. A change that is worth its bytes moves a limit, to 2% above the new size and in the
// same commit. One that saves some moves it down. The sizes are those of Emscripten 3.1.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sizes } from '../bench/sizes.js';
import { limitHere } from './support/build.js';

const otherCompilers = 0.1;

/** Bytes, gzipped. @type {Record<string, number>} */
const limits = {
  'core.wasm': 27_600,
  'glue.js, minified': 2_100,
  'wrapper, minified': 5_700,
  together: 36_250,
};

test('module, glue and wrapper stay as small as they are', async (t) => {
  const measured = (await sizes()).filter(({ what }) => what in limits);
  const together = measured.reduce((sum, { gzipped }) => sum + gzipped, 0);
  const all = [...measured, { what: 'together', gzipped: together }];
  t.diagnostic(`gzipped: ${all.map(({ what, gzipped }) => `${what} ${gzipped}`).join('; ')} bytes`);
  assert.deepEqual(
    all.map(({ what }) => what),
    Object.keys(limits),
  );
  const problems = all
    .filter(({ what, gzipped }) => !(gzipped <= limitHere(limits[what], otherCompilers)))
    .map(({ what, gzipped }) => `${what}: ${gzipped} bytes; the limit is ${limits[what]}`);
  assert.deepEqual(problems, []);
});
