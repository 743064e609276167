// A watched file of policies in Bun, by its node:fs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { watchProgram } from '../../package/support/watch.js';
import { bun } from './binary.js';

let project;
before(async () => {
  project = await makeProject();
  project.copy(watchProgram.path, 'watch.mjs');
});
after(() => project?.remove());

test('a watched file in Bun', { skip: bun.skip }, async () => {
  const output = await project.run(bun.path, ['run', '--no-install', 'watch.mjs']);
  assert.equal(output, watchProgram.output);
});
