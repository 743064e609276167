// Node.js: the version that runs the tests, by import and by require, in a folder whose name is no URL as it stands.
import { after, before, test } from 'node:test';

import { conclude, outcomesIn, saying } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';

const program = `
  // Loaders that fetch what is beside them fail where there is a fetch and no server.
  globalThis.fetch = () => { throw new Error('fetched'); };
  const run = async (tierlimit) => {
    const { contract } = await import('./contract.mjs');
    const outcomes = contract(tierlimit);
    ${saying('outcomes')}
  };`;

let project;
before(async () => {
  project = await makeProject({ name: 'a b#c%20d' });
  project.copy('tests/contract/limiter.js', 'contract.mjs');
  project.write({
    'import.mjs': `${program} run(await import('tierlimit'));`,
    'require.cjs': `${program} run(require('tierlimit'));`,
  });
});
after(() => project?.remove());

for (const [how, args] of [
  ['import', ['import.mjs']],
  ['require', ['require.cjs']],
  ['no code from strings', ['--disallow-code-generation-from-strings', 'import.mjs']],
]) {
  test(`Node, ${how}`, async (t) => {
    const output = await project.run(process.execPath, args);
    conclude(t, {
      runtime: `Node, ${how}`,
      version: process.versions.node,
      outcomes: outcomesIn(output),
    });
  });
}
