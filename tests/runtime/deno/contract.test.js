// Deno, without any permission and without a network.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { conclude, outcomesIn, saying } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { firstExample, sameOutput } from '../../package/support/readme.js';
import { deno } from './binary.js';

const program = `
  import { contract } from './contract.js';
  for (const name of ['read', 'write', 'net', 'env', 'run', 'ffi', 'sys']) {
    const { state } = Deno.permissions.querySync({ name });
    if (state === 'granted') throw new Error('there is a permission: ' + name);
  }
  const run = (tierlimit) => {
    const result = { version: Deno.version.deno, outcomes: contract(tierlimit) };
    ${saying('result')}
  };`;

const example = firstExample();

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/contract/limiter.js', 'contract.js');
  project.write({
    'import.js': `import * as tierlimit from 'tierlimit'; ${program} run(tierlimit);`,
    'slim-source.js': `
      import source module from 'tierlimit/core.wasm';
      import * as slim from 'tierlimit/slim';
      ${program} run({ ...slim, ...slim.withModule(module) });`,
    'slim-bytes.js': `
      import * as slim from 'tierlimit/slim';
      ${program}
      const bytes = Deno.readFileSync(new URL(import.meta.resolve('tierlimit/core.wasm')));
      run({ ...slim, ...slim.withModule(bytes) });`,
    'ends.js': `
      import { TierLimiter } from 'tierlimit';
      const limiter = new TierLimiter({ policies: { default: { capacity: 1, refillPerSecond: 0 } } });
      console.log(limiter.check('acme').remaining, limiter.allow('acme'));`,
    'readme.js': example.code,
  });
});
after(() => project?.remove());

/** @param {...string} args */
const run = (...args) =>
  project.run(deno.path, ['run', '--no-prompt', '--cached-only', ...args], {
    env: { DENO_DIR: project.at('.deno'), DENO_NO_UPDATE_CHECK: '1' },
  });

for (const [runtime, args] of [
  ['Deno', ['import.js']],
  ['Deno, slim, import source', ['slim-source.js']],
  // A permission for one file counts as none that is granted for all.
  ['Deno, slim, bytes', ['--allow-read=node_modules/tierlimit/js/dist/core.wasm', 'slim-bytes.js']],
]) {
  test(runtime, { skip: deno.skip }, async (t) => {
    conclude(t, { runtime, ...outcomesIn(await run(...args)) });
  });
}

test('Deno, case 38: a program ends by itself after a decision', { skip: deno.skip }, async () => {
  assert.equal(await run('ends.js'), '0 false\n');
});

test('Deno: the first program of README.md', { skip: deno.skip }, async () => {
  sameOutput(await run('readme.js'), example.output);
});
