// Bun, which runs on another engine than Node.js and Deno: JavaScriptCore.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { conclude, outcomesIn, saying } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { firstExample, sameOutput } from '../../package/support/readme.js';
import { bun } from './binary.js';

const program = `
  globalThis.fetch = () => { throw new Error('fetched'); };
  const run = async (tierlimit) => {
    const { contract } = await import('./contract.mjs');
    const result = { version: Bun.version, outcomes: contract(tierlimit) };
    ${saying('result')}
  };`;

const slim = `
  import * as slim from 'tierlimit/slim';
  const bytes = await Bun.file(Bun.resolveSync('tierlimit/core.wasm', import.meta.dir)).bytes();`;

const example = firstExample();

let project;
before(async () => {
  project = await makeProject({ name: 'a b#c%20d' });
  project.copy('tests/contract/limiter.js', 'contract.mjs');
  project.write({
    'import.mjs': `import * as tierlimit from 'tierlimit'; ${program} run(tierlimit);`,
    'require.cjs': `${program} run(require('tierlimit'));`,
    'slim-bytes.mjs': `${slim} ${program} run({ ...slim, ...slim.withModule(bytes) });`,
    'slim-module.mjs': `${slim} ${program}
      run({ ...slim, ...slim.withModule(new WebAssembly.Module(bytes)) });`,
    'ends.mjs': `
      import { TierLimiter } from 'tierlimit';
      const limiter = new TierLimiter({ policies: { default: { capacity: 1, refillPerSecond: 0 } } });
      console.log(limiter.check('acme').remaining, limiter.allow('acme'));`,
    'readme.mjs': example.code,
  });
});
after(() => project?.remove());

/** @param {string} file */
const run = (file) => project.run(bun.path, ['run', '--no-install', file]);

for (const [runtime, file] of [
  ['Bun, import', 'import.mjs'],
  ['Bun, require', 'require.cjs'],
  ['Bun, slim, bytes', 'slim-bytes.mjs'],
  ['Bun, slim, a module', 'slim-module.mjs'],
]) {
  test(runtime, { skip: bun.skip }, async (t) => {
    conclude(t, { runtime, ...outcomesIn(await run(file)) });
  });
}

test('Bun, case 38: a program ends by itself after a decision', { skip: bun.skip }, async () => {
  assert.equal(await run('ends.mjs'), '0 false\n');
});

test('Bun: the first program of README.md', { skip: bun.skip }, async () => {
  sameOutput(await run('readme.mjs'), example.output);
});
