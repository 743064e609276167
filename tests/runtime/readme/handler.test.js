// The six lines of README.md, as they stand, in each runtime that the page names: they let five requests through.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';

import { build } from 'esbuild';

import { at } from '../../../js/scripts/project.js';
import { makeProject } from '../../package/support/project.js';
import { sixLines } from '../../package/support/readme.js';
import { launchChromium, noChromium } from '../browser/support/chromium.js';
import { Site } from '../browser/support/site.js';
import { bun } from '../bun/binary.js';
import { deno } from '../deno/binary.js';
import { wasmModules } from '../edge/wasm-module.js';
import { bundle, newestDate, serve } from '../workerd/bare.js';

// Asks until it is refused. Tokens come back at one a second, so a slow machine may get more than five answers.
const asking = `
  import { handle } from './handle.js';
  const ask = (key) => handle(new Request('http://127.0.0.1/', { headers: { 'x-api-key': key } })).status;
  const statuses = [];
  do statuses.push(ask('acme')); while (statuses.at(-1) === 200 && statuses.length < 1000);
  statuses.push(ask('globex'));`;

/** @param {number[]} statuses of one client until it was refused, then of another one */
function limited(statuses) {
  assert.deepEqual(statuses.slice(0, 5), Array(5).fill(200));
  assert.deepEqual(statuses.slice(-2), [429, 200], `${statuses}`);
}

/**
 * The same, by real requests.
 * @param {string} url
 */
async function asked(url) {
  const ask = async (/** @type {string} */ key) => {
    const signal = AbortSignal.timeout(60_000);
    const { status } = await fetch(url, { headers: { 'x-api-key': key }, signal });
    return status;
  };
  const statuses = [];
  do statuses.push(await ask('acme'));
  while (statuses.at(-1) === 200 && statuses.length < 1000);
  return [...statuses, await ask('globex')];
}

/** @type {import('../../package/support/project.js').Project} */
let project;
before(async () => {
  project = await makeProject();
  project.write({
    'handle.js': sixLines(),
    'print.js': `${asking} console.log(JSON.stringify(statuses));`,
    'page.js': `${asking} fetch('/said', { method: 'POST', body: JSON.stringify(statuses) });`,
    'page.html': '<!doctype html><script type="module" src="out/page.js"></script>',
    'worker.js': `import { handle } from './handle.js'; export default { fetch: handle };`,
    'edge.js': `import { handle } from './handle.js';
      addEventListener('fetch', (event) => event.respondWith(handle(event.request)));`,
  });
});
after(() => project?.remove());

/** @type {[string, { path: string, skip?: string | false }, string[]][]} */
const programs = [
  ['Node', { path: process.execPath }, []],
  ['Deno', deno, ['run', '--no-prompt', '--cached-only']],
  ['Bun', bun, ['run', '--no-install']],
];
for (const [runtime, { path, skip }, args] of programs) {
  test(`six lines limit requests: ${runtime}`, { skip }, async () => {
    const output = await project.run(path, [...args, 'print.js'], {
      env: { DENO_DIR: project.at('.deno'), DENO_NO_UPDATE_CHECK: '1' },
    });
    limited(JSON.parse(output));
  });
}

test('six lines limit requests: workerd', async () => {
  const folder = await bundle(project, 'workerd', ['worker.js']);
  const date = await newestDate(project);
  const server = await serve(project, folder, { main: 'worker.js', date });
  try {
    limited(await asked(server.url));
  } finally {
    await server.stop();
  }
});

test("six lines limit requests: Vercel's edge runtime", async (t) => {
  const require = createRequire(at('tests/runtime/edge/package.json'));
  const { EdgeRuntime, runServer } = require('edge-runtime');
  const { plugin, modules } = wasmModules();
  const { outputFiles } = await build({
    absWorkingDir: project.folder,
    entryPoints: ['edge.js'],
    bundle: true,
    write: false,
    format: 'iife',
    conditions: ['edge-light'],
    plugins: [plugin],
    logLevel: 'error',
  });
  const runtime = new EdgeRuntime({
    codeGeneration: { strings: false, wasm: false },
    extend: (/** @type {object} */ context) => Object.assign(context, modules),
    initialCode: outputFiles[0].text,
  });
  const server = await runServer({ runtime, host: '127.0.0.1' });
  t.after(() => server.close());
  limited(await asked(server.url));
});

test('six lines limit requests: Chromium', { skip: noChromium }, async (t) => {
  await bundle(project, 'out', ['page.js'], []);
  const site = await Site.of(project.folder);
  t.after(() => site.close());
  const browser = await launchChromium();
  t.after(() => browser.close());
  const { found, complaints } = await site.visit(browser, '/page.html');
  assert.ok(found, complaints.join('\n'));
  limited(found);
});
