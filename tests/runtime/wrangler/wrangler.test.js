// wrangler, by which authors of workers bundle and serve them: with nothing said about WebAssembly, or about conditions.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { newestDate, serve, workerdVersion } from '../workerd/bare.js';
import { Server } from '../workerd/server.js';
import { assertStandstill } from '../workerd/standstill.js';
import { onAnyPort, wrangler, wranglerEnvironment, wranglerVersion } from './wrangler.js';

let project;
let env;
before(async () => {
  project = await makeProject();
  for (const name of ['clock.js', 'contract.js']) {
    project.copy(`tests/runtime/workerd/workers/${name}`, name);
  }
  project.copy('tests/contract/limiter.js', 'limiter.js');
  project.copy('tests/runtime/wrangler/workers', '.');
  env = wranglerEnvironment(project.at('home'));
});
after(() => project?.remove());

test('wrangler dev', async (t) => {
  const args = [wrangler, 'dev', ...onAnyPort];
  const server = new Server(process.execPath, args, { cwd: project.folder, env });
  try {
    await server.started(/Ready on (http:\S+)/);
    await t.test('the contract', async (t) => {
      const outcomes = await server.json('/contract');
      conclude(t, { runtime: 'wrangler', version: wranglerVersion, outcomes });
    });
    await t.test('while the clock stands still, a bucket of 20 admits 20 of 50', async () => {
      const { atModuleScope, inRequest } = await server.json('/clock');
      assertStandstill(atModuleScope);
      assertStandstill(inRequest);
    });
  } finally {
    await server.stop();
  }
});

test('what wrangler would deploy, in the newest workerd', async (t) => {
  const args = [wrangler, 'deploy', '--dry-run', '--outdir=out'];
  await project.run(process.execPath, args, { env });

  // The module beside the script, as the import condition workerd has it, and its bytes nowhere.
  const names = readdirSync(project.at('out')).filter((name) => /\.(js|wasm)$/.test(name));
  const modules = names.filter((name) => name !== 'index.js');
  assert.equal(modules.length, 1, names.join());
  assert.match(modules[0], /core\.wasm$/);
  const script = readFileSync(project.at('out/index.js'), 'utf8');
  assert.ok(script.includes(`from "./${modules[0]}"`));
  assert.match(script, /tierlimit\/js\/dist\/glue\.js/);
  assert.doesNotMatch(script, /tierlimit\/js\/dist\/bytes\.js|import\.meta/);

  const date = await newestDate(project);
  const server = await serve(project, 'out', { main: 'index.js', date });
  try {
    const outcomes = await server.json('/contract');
    const runtime = `workerd ${date}, by wrangler`;
    conclude(t, { runtime, version: workerdVersion, outcomes });
  } finally {
    await server.stop();
  }
});
