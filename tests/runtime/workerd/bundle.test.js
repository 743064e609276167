// What esbuild makes of the package for workerd, and every way to import it.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { bundle, newestDate, oldestDate, serve, workerdVersion } from './bare.js';

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/runtime/workerd/workers', '.');
  project.copy('tests/contract/limiter.js', 'limiter.js');
});
after(() => project?.remove());

/** Calls the body with a worker that serves a folder, without Node's API. */
async function withWorker(folder, main, date, body) {
  const worker = await serve(project, folder, { main, date });
  try {
    return await body(worker);
  } finally {
    await worker.stop();
  }
}

for (const [entry, name] of [
  ['contract', 'tierlimit'],
  ['slim', 'tierlimit/slim'],
  ['module', 'tierlimit/module'],
]) {
  test(`${name}: two files, the module one of them, and no import.meta`, async () => {
    const folder = await bundle(project, `files-${entry}`, [`${entry}.js`]);
    assert.deepEqual(readdirSync(project.at(folder)), ['core.wasm', `${entry}.js`].sort());
    const script = readFileSync(project.at(folder, `${entry}.js`), 'utf8');
    assert.doesNotMatch(script, /import\.meta/);
    assert.match(script, /from "\.\/core\.wasm"/);
    // esbuild names the files that are in it: not the one with the bytes.
    assert.match(script, /tierlimit\/js\/dist\/glue\.js/);
    assert.doesNotMatch(script, /tierlimit\/js\/dist\/bytes\.js/);
    const shipped = readFileSync(project.at('node_modules/tierlimit/js/dist/core.wasm'));
    assert.deepEqual(readFileSync(project.at(folder, 'core.wasm')), shipped);
  });
}

test('where import.meta has no url', async () => {
  const folder = await bundle(project, 'import-meta', ['import-meta.js']);
  await withWorker(folder, 'import-meta.js', oldestDate, async (worker) => {
    assert.deepEqual(await worker.json('/'), { url: 'undefined', remaining: 1 });
  });
});

test('tierlimit/slim with tierlimit/core.wasm', async (t) => {
  const folder = await bundle(project, 'slim', ['slim.js']);
  const date = await newestDate(project);
  await withWorker(folder, 'slim.js', date, async (worker) => {
    assert.deepEqual([await worker.json('/'), await worker.json('/')], [1, 0]);
    const outcomes = await worker.json('/contract');
    conclude(t, { runtime: `workerd ${date}, slim`, version: workerdVersion, outcomes });
  });
});

test('tierlimit/module', async () => {
  const folder = await bundle(project, 'module', ['module.js']);
  await withWorker(folder, 'module.js', await newestDate(project), async (worker) => {
    assert.deepEqual(await worker.json('/'), { answers: [true, 1000, true], apart: true });
  });
});

test('two bundles in one isolate share a limiter by its name', async () => {
  for (const name of ['first', 'second']) {
    project.copy('tests/runtime/workerd/workers/bundle.js', `${name}.js`);
    await bundle(project, 'two', [`${name}.js`]);
  }
  project.copy('tests/runtime/workerd/workers/two-bundles.js', 'two/two-bundles.js');
  for (const date of [oldestDate, await newestDate(project)]) {
    await withWorker('two', 'two-bundles.js', date, async (worker) => {
      assert.deepEqual(await worker.json('/'), {
        copies: true,
        same: true,
        remaining: [2, 1, 0],
        limit: 9,
        apart: 2,
      });
    });
  }
});

test('a bundle made for no runtime in particular says what is wrong with it', async () => {
  const folder = await bundle(project, 'default', ['made-in-fetch.js'], []);
  assert.deepEqual(readdirSync(project.at(folder)), ['made-in-fetch.js']);
  await withWorker(folder, 'made-in-fetch.js', oldestDate, async (worker) => {
    assert.equal((await worker.ask('/take')).status, 500);
    await worker.says(
      /WebAssembly cannot be compiled.*tierlimit\/core\.wasm is for tierlimit\/slim/,
    );
  });
});
