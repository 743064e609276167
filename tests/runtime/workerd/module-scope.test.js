// A limiter at module scope, where workerd refuses timers, randomness and requests, and where its clock stands at zero.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bundle, dates, serve } from './bare.js';

const advice = /random bytes.* decide in a handler, not at module scope/;

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/runtime/workerd/workers', '.');
  await bundle(project, 'out', ['module-scope.js']);
  await bundle(project, 'decides', ['decides-at-module-scope.js']);
});
after(() => project?.remove());

for (const [age, dateOf] of dates) {
  test(`made, changed and assigned to at module scope, ${age} date`, async () => {
    const date = await dateOf(project);
    const worker = await serve(project, 'out', { main: 'module-scope.js', date });
    try {
      const seen = await worker.json('/');
      assert.deepEqual(seen.usedToMake, []);

      // The runtime refuses what the limiter has not done, and what it has not done would have been noticed.
      assert.deepEqual(Object.keys(seen.attempts), [
        'setTimeout',
        'setInterval',
        'getRandomValues',
        'randomUUID',
        'fetch',
      ]);
      for (const [name, error] of Object.entries(seen.attempts)) {
        assert.match(error?.message ?? 'nothing was thrown', /within global scope/, name);
      }
      assert.deepEqual(seen.readings, [0, 0, 0]);
      assert.deepEqual(seen.usedToTry, [
        ...Object.keys(seen.attempts),
        ...['Date.now', 'performance.now', 'new Date'],
      ]);

      // A decision there is refused with advice, and harms nothing: inside the handler the same limiters decide.
      assert.deepEqual(Object.keys(seen.refusals), ['allow', 'check', 'allowMany', 'client.allow']);
      for (const [name, error] of Object.entries(seen.refusals)) {
        assert.match(error?.message ?? 'nothing was thrown', advice, name);
        assert.match(error.cause, /within global scope/);
      }
      assert.deepEqual(seen.acme, { remaining: 8, tier: 'pro' });
      assert.deepEqual(seen.remaining, [1, 1, 2]);
      assert.equal(seen.revision, 2);
    } finally {
      await worker.stop();
    }
  });

  test(`a worker that decides at module scope ends with advice, ${age} date`, async () => {
    const date = await dateOf(project);
    const main = 'decides-at-module-scope.js';
    await assert.rejects(
      serve(project, 'decides', { main, date }).then((worker) => worker.stop()),
      advice,
    );
  });
}
