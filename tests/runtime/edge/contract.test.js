// Vercel's edge runtime: a bundle, no code from strings, modules that were compiled before, and real requests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { EdgeRuntime, runServer } from 'edge-runtime';
import { build } from 'esbuild';

import { at } from '../../../js/scripts/project.js';
import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { wasmModules } from './wasm-module.js';

const { version } = JSON.parse(
  readFileSync(at('tests/runtime/edge/node_modules/edge-runtime/package.json'), 'utf8'),
);

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/contract/limiter.js', 'contract.js');
  project.write({
    'worker.js': `
      import * as tierlimit from 'tierlimit';
      import { contract } from './contract.js';

      const policies = { default: { capacity: 5, refillPerSecond: 0 } };
      const limiter = new tierlimit.TierLimiter({ policies });

      const attempt = (make) => {
        try {
          make();
          return 'allowed';
        } catch (error) {
          return error.name;
        }
      };

      const routes = {
        '/contract': () => contract(tierlimit),
        '/limit': () => limiter.check('acme'),
        '/allowed': () => ({
          strings: attempt(() => (0, eval)('1')),
          wasm: attempt(() => new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))),
        }),
      };
      addEventListener('fetch', (event) => {
        const { pathname } = new URL(event.request.url);
        event.respondWith(Response.json(routes[pathname]()));
      });`,
  });
});
after(() => project?.remove());

/**
 * Bundles the worker and serves it.
 * @param {import('node:test').TestContext} t
 * @param {string[]} conditions of the bundler
 * @param {{ strings: boolean, wasm: boolean }} codeGeneration what the runtime lets code make
 * @returns {Promise<(path: string) => Promise<any>>} asks it
 */
async function serve(t, conditions, codeGeneration) {
  const { plugin, modules } = wasmModules();
  const { outputFiles } = await build({
    absWorkingDir: project.folder,
    entryPoints: ['worker.js'],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    conditions,
    plugins: [plugin],
    logLevel: 'error',
  });
  assert.equal(Object.keys(modules).length, conditions.includes('edge-light') ? 1 : 0);
  const runtime = new EdgeRuntime({
    codeGeneration,
    extend: (context) => Object.assign(context, modules),
    initialCode: outputFiles[0].text,
  });
  const server = await runServer({ runtime, host: '127.0.0.1' });
  t.after(() => server.close());
  return async (path) => {
    const response = await fetch(new URL(path, server.url), {
      signal: AbortSignal.timeout(60_000),
    });
    assert.equal(response.status, 200, path);
    return response.json();
  };
}

for (const [runtime, conditions, codeGeneration, allowed] of [
  // As it is at Vercel: nothing is compiled there.
  [
    'edge-runtime, edge-light',
    ['edge-light'],
    { strings: false, wasm: false },
    { strings: 'EvalError', wasm: 'CompileError' },
  ],
  // Its default, and a bundler that was not told where the bundle will run.
  [
    'edge-runtime, inline',
    [],
    { strings: false, wasm: true },
    { strings: 'EvalError', wasm: 'allowed' },
  ],
]) {
  test(runtime, async (t) => {
    const ask = await serve(t, conditions, codeGeneration);
    assert.deepEqual(await ask('/allowed'), allowed);

    const decisions = [];
    for (let i = 0; i < 6; i += 1) decisions.push(await ask('/limit'));
    assert.deepEqual(
      decisions.map(({ allowed, remaining }) => [allowed, remaining]),
      [...[4, 3, 2, 1, 0].map((remaining) => [true, remaining]), [false, 0]],
    );

    conclude(t, { runtime, version, outcomes: await ask('/contract') });
  });
}
