// Node.js: the version that runs the tests, the newest and the oldest, in a folder whose name is no URL as it stands.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { conclude, outcomesIn, saying } from '../../contract/outcome.js';
import { firstExample, sameOutput } from '../../package/support/readme.js';
import { makeProject } from '../../package/support/project.js';
import { all, checkOldest, importingSources, current } from './versions.js';

const program = `
  // Loaders that fetch what is beside them fail where there is a fetch and no server.
  globalThis.fetch = () => { throw new Error('fetched'); };
  const run = async (tierlimit) => {
    const { contract } = await import('./contract.mjs');
    const result = { version: process.versions.node, outcomes: contract(tierlimit) };
    ${saying('result')}
  };`;

const slim = `
  import { readFileSync } from 'node:fs';
  import { createRequire } from 'node:module';
  import * as slim from 'tierlimit/slim';
  const bytes = readFileSync(createRequire(import.meta.url).resolve('tierlimit/core.wasm'));`;

const example = firstExample();

let project;
before(async () => {
  project = await makeProject({ name: 'a b#c%20d' });
  project.copy('tests/contract/limiter.js', 'contract.mjs');
  project.write({
    'import.mjs': `${program} run(await import('tierlimit'));`,
    'require.cjs': `${program} run(require('tierlimit'));`,
    'slim-module.mjs': `${slim} ${program}
      run({ ...slim, ...slim.withModule(new WebAssembly.Module(bytes)) });`,
    'slim-bytes.mjs': `${slim} ${program} run({ ...slim, ...slim.withModule(bytes) });`,
    'slim-source.mjs': `import source module from 'tierlimit/core.wasm';
      import * as slim from 'tierlimit/slim';
      ${program} run({ ...slim, ...slim.withModule(module) });`,
    'module.mjs': `
      import { createModule } from 'tierlimit/module';
      const { TierLimiter } = createModule();
      const limiter = new TierLimiter('{ "default": { "capacity": 5, "refillPerSecond": 1 } }');
      limiter.seed(1, 2, 3, 4);
      const allowed = (times, nowMs) =>
        Array.from({ length: times }, () => +limiter.allow('acme', 1, nowMs)).join('');
      const wait = () => limiter.check('acme', 1, 0).retryAfterMs;
      console.log(allowed(6, 0), wait(), allowed(3, 2000));
      limiter.delete();`,
    'readme.mjs': example.code,
  });
});
after(() => project?.remove());

for (const [how, nodes, args] of [
  ['import', all, ['import.mjs']],
  ['require', current, ['require.cjs']],
  ['no code from strings', all, ['--disallow-code-generation-from-strings', 'import.mjs']],
  ['slim, a module', all, ['slim-module.mjs']],
  ['slim, bytes', all, ['slim-bytes.mjs']],
  ['slim, import source', importingSources, ['slim-source.mjs']],
]) {
  for (const { name, path, skip } of nodes) {
    test(`Node, ${name}: ${how}`, { skip }, async (t) => {
      const output = await project.run(path, args);
      conclude(t, { runtime: `Node, ${how}`, ...outcomesIn(output) });
    });
  }
}

for (const { name, path, skip } of all) {
  test(`Node, ${name}: tierlimit/module`, { skip }, async () => {
    assert.equal(await project.run(path, ['module.mjs']), '111110 1000 110\n');
  });

  test(`Node, ${name}: the first program of README.md`, { skip }, async () => {
    sameOutput(await project.run(path, ['readme.mjs']), example.output);
  });
}

test('the oldest Node.js that is tried is the one that package.json promises', checkOldest);
