// The clock of a worker stands still while it computes: in every request on Cloudflare, and of this binary at module scope
// alone. tests/runtime/wrangler/ has the version of workerd that does it in requests too.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bundle, dates, serve } from './bare.js';
import { assertStandstill } from './standstill.js';

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/runtime/workerd/workers', '.');
  await bundle(project, 'out', ['clock.js']);
});
after(() => project?.remove());

for (const [age, dateOf] of dates) {
  test(`while the clock stands at zero, a bucket of 20 admits 20 of 50, ${age} date`, async () => {
    const worker = await serve(project, 'out', { main: 'clock.js', date: await dateOf(project) });
    try {
      const { atModuleScope, before: first, inRequest } = await worker.json('/');
      assert.equal(atModuleScope.before, 0);
      assertStandstill(atModuleScope);
      // From there it goes to the time of day.
      assert.equal(first, 19);
      assert.equal(inRequest.decisions[0].remaining, 19);
    } finally {
      await worker.stop();
    }
  });
}
