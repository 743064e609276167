// A context of its own, as test runners and sandboxes make them: no location, no URL, an import.meta that has nothing.
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { at } from '../../../js/scripts/project.js';
import { conclude, outcomesIn, saying } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { current } from './versions.js';

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/contract/limiter.js', 'contract.js');
  const program = readFileSync(at('tests/runtime/node/context.js'), 'utf8');
  project.write({ 'context.js': program + saying('result') });
});
after(() => project?.remove());

for (const { name, path, skip } of current) {
  for (const core of ['default', 'edge-light', 'workerd', 'slim']) {
    test(`Node, ${name}, case 22: in a context, ${core}`, { skip }, async (t) => {
      const output = await project.run(path, ['--experimental-vm-modules', 'context.js', core]);
      conclude(t, { runtime: `Node, vm context, ${core}`, ...outcomesIn(output) });
    });
  }
}
