// The contract in workerd, the runtime of Cloudflare Workers.
import { after, before, test } from 'node:test';

import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { bundle, dates, serve, workerdVersion } from './bare.js';

let project;
let folder;
before(async () => {
  project = await makeProject();
  project.copy('tests/runtime/workerd/workers', '.');
  project.copy('tests/contract/limiter.js', 'limiter.js');
  folder = await bundle(project, 'out', ['contract.js']);
});
after(() => project?.remove());

for (const [age, dateOf] of dates) {
  for (const flag of ['nodejs_compat', 'no_nodejs_compat']) {
    test(`workerd at the ${age} compatibility date, ${flag}`, async (t) => {
      const date = await dateOf(project);
      const server = await serve(project, folder, { main: 'contract.js', date, flags: [flag] });
      try {
        const outcomes = await server.json('/');
        conclude(t, { runtime: `workerd ${date}, ${flag}`, version: workerdVersion, outcomes });
      } finally {
        await server.stop();
      }
    });
  }
}
