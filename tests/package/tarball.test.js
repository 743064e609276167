// The package as users get it: packed, installed from the tarball into an empty project, and used by its name there.
import assert from 'node:assert/strict';
import { existsSync, lstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { tarball } from '../../js/scripts/builds.js';
import { at } from '../../js/scripts/project.js';
import { makeProject } from './support/project.js';

/** @type {import('./support/project.js').Project} */
let project;
/** What the installed package.json says. @type {any} */
let manifest;

const installed = (/** @type {string} */ path) => project.at('node_modules/tierlimit', path);

/** The files that were installed, sorted. */
const files = () =>
  readdirSync(installed(''), { recursive: true, encoding: 'utf8' })
    .filter((path) => lstatSync(installed(path)).isFile())
    .toSorted();

before(async () => {
  project = await makeProject();
  manifest = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
});
after(() => project?.remove());

const expected = new RegExp(
  `^(${[
    'package\\.json|README\\.md|LICENSE|CHANGELOG\\.md|bindings/README\\.md',
    'js/src/([\\w-]+|core/(edge-light|inline|shared|workerd)|(cli|clients)/[\\w-]+)\\.js',
    'js/src/(middleware|policies|metrics)/([\\w-]+/)?[\\w-]+\\.js',
    'js/dist/(core\\.wasm|(glue|bytes)\\.(js|d\\.ts))',
    'js/dist/types/([\\w-]+/)*[\\w-]+\\.d\\.ts',
  ].join('|')})$`,
);

test('holds what users need and nothing else: no C++, no tests, no demo, no examples', (t) => {
  const paths = files();
  assert.deepEqual(
    paths.filter((path) => !expected.test(path)),
    [],
  );
  for (const path of [
    'README.md',
    'bindings/README.md',
    'LICENSE',
    'CHANGELOG.md',
    'js/dist/core.wasm',
  ]) {
    assert.ok(paths.includes(path), `${path} is not in the package`);
  }
  const unpacked = paths.reduce((sum, path) => sum + statSync(installed(path)).size, 0);
  const kilobytes = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  t.diagnostic(
    `${paths.length} files, ${kilobytes(statSync(tarball).size)} packed, ${kilobytes(unpacked)} unpacked`,
  );
});

test('npm pack, with the script that builds before it, packs the same files', async () => {
  const output = await project.run('npm', ['pack', '--dry-run', '--json'], {
    cwd: at(),
    seconds: 600,
  });
  // The build tells its steps before.
  const [packed] = JSON.parse(output.slice(output.search(/^\[/m)));
  const paths = packed.files.map(({ path }) => path);
  assert.deepEqual(paths.toSorted(), files());
});

test('installing it runs nothing and brings the three libraries of the HTTP entries, which bring nothing', () => {
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    assert.equal(manifest.scripts[name], undefined);
  }
  const { dependencies, peerDependencies, peerDependenciesMeta, optionalDependencies } = manifest;
  const libraries = ['@noble/hashes', 'ipaddr.js', 'structured-headers'];
  assert.deepEqual([Object.keys(dependencies), optionalDependencies], [libraries, undefined]);
  // What adapters and metrics are handed: none of it is brought.
  assert.deepEqual(Object.keys(peerDependenciesMeta), Object.keys(peerDependencies));
  assert.ok(Object.values(peerDependenciesMeta).every(({ optional }) => optional === true));
  const lock = readFileSync(project.at('node_modules/.package-lock.json'), 'utf8');
  assert.deepEqual(
    Object.keys(JSON.parse(lock).packages),
    [...libraries, 'tierlimit'].map((name) => `node_modules/${name}`),
  );
});

test('every file that package.json names is there', () => {
  const { exports, imports, bin, sideEffects } = manifest;
  /** @type {(value: string | object) => string[]} */
  const targets = (value) =>
    typeof value === 'string' ? [value] : Object.values(value).flatMap(targets);
  const all = targets({ exports, imports, bin, sideEffects });
  assert.ok(all.length > 10);
  for (const target of all) {
    const [path] = target.split('?');
    assert.ok(existsSync(installed(path)), `${path} is not in the package`);
  }
});

test('what package.json says of the package is so', () => {
  const { type, license, engines, repository, homepage, bugs, sideEffects, version } = manifest;
  assert.deepEqual([type, license, engines], ['module', 'MIT', { node: '>=20' }]);
  assert.match(readFileSync(installed('LICENSE'), 'utf8'), /^MIT License/);
  assert.match(version, /^\d+\.\d+\.\d+$/);
  // There is no public address that could be named.
  assert.deepEqual([repository, homepage, bugs], [undefined, undefined, undefined]);
  for (const word of manifest.keywords) assert.match(word, /^[a-z-]+$/);
  // The program does something when it is imported, and nothing else does: see guards.test.js.
  assert.deepEqual(sideEffects, [`./${manifest.bin.tierlimit}`]);
  // An export is found by the same conditions everywhere: none but that of the types.
  for (const [path, target] of Object.entries(manifest.exports)) {
    const conditions = typeof target === 'string' ? [] : Object.keys(target);
    assert.ok(['', 'types,default'].includes(conditions.join()), path);
  }
});

const program = `
  let nowMs = 0;
  const limiter = new TierLimiter({
    policies: { default: { capacity: 2, refillPerSecond: 1 } },
    now: () => nowMs,
  });
  const admitted = [limiter.allow('a'), limiter.allow('a'), limiter.allow('a')];
  nowMs = 1000;
  admitted.push(limiter.allow('a'));
  console.log(admitted.join(' '));
`;
const admitted = 'true true false true\n';

/**
 * What a program says.
 * @param {string} source
 * @param {'module' | 'commonjs'} type
 */
const says = (source, type = 'module') =>
  project.run(process.execPath, [`--input-type=${type}`, '--eval', source]);

test('works by import', async () => {
  assert.equal(await says(`import { TierLimiter } from 'tierlimit';${program}`), admitted);
});

test('works by require', async () => {
  const source = `const { TierLimiter } = require('tierlimit');${program}`;
  assert.equal(await says(source, 'commonjs'), admitted);
});

test('works by import of tierlimit/slim with the module from tierlimit/core.wasm', async () => {
  const source = `
    import { readFileSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    import { withModule } from 'tierlimit/slim';
    const bytes = readFileSync(fileURLToPath(import.meta.resolve('tierlimit/core.wasm')));
    const { TierLimiter } = withModule(new WebAssembly.Module(bytes));${program}`;
  assert.equal(await says(source), admitted);
});

test('works after a bundler, for a place that is not Node', async () => {
  project.write({ 'main.js': `import { TierLimiter } from 'tierlimit';${program}` });
  await project.run(at('node_modules/.bin/esbuild'), [
    'main.js',
    ...['--bundle', '--minify', '--format=esm', '--outfile=bundle.mjs'],
  ]);
  assert.equal(await project.run(process.execPath, ['bundle.mjs']), admitted);
});

test('bundles for workerd, which compiles the module itself', async () => {
  project.write({ 'worker.js': `import { TierLimiter } from 'tierlimit';${program}` });
  await project.run(at('node_modules/.bin/esbuild'), [
    'worker.js',
    ...['--bundle', '--format=esm', '--conditions=workerd'],
    ...['--loader:.wasm=copy', '--outdir=worker'],
  ]);
  const bundle = readFileSync(project.at('worker/worker.js'), 'utf8');
  assert.match(bundle, /from "\.\/core-\w+\.wasm"/);
  assert.ok(bundle.length < 200_000, 'the bytes of the module are in the bundle too');
});

test('its program runs', async () => {
  project.write({
    'policies.json': '{ "default": { "capacity": 5, "refillPerSecond": 1 } }',
  });
  await project.run('npx', ['--no-install', 'tierlimit', 'check', 'policies.json']);
});
