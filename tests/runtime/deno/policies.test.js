// A watched file of policies in Deno, by its node:fs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { watchProgram } from '../../package/support/watch.js';
import { deno } from './binary.js';

let project;
before(async () => {
  project = await makeProject();
  project.copy(watchProgram.path, 'watch.js');
});
after(() => project?.remove());

test('a watched file in Deno', { skip: deno.skip }, async () => {
  const output = await project.run(
    deno.path,
    [
      'run',
      '--no-prompt',
      '--cached-only',
      '--allow-read',
      '--allow-write',
      '--allow-env',
      'watch.js',
    ],
    { env: { DENO_DIR: project.at('.deno'), DENO_NO_UPDATE_CHECK: '1' } },
  );
  assert.equal(output, watchProgram.output);
});
