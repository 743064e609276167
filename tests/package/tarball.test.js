// The package as users get it: packed, installed from the tarball into an empty project, and used by its name there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'tierlimit-package-'));
const installed = join(project, 'node_modules/tierlimit');
const esbuild = join(root, 'node_modules/.bin/esbuild');

/** @type {{ filename: string, files: { path: string }[] }} */
let packed;

/**
 * Runs a program in the project; fails with what it wrote when its exit status is not 0.
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
function run(command, args, cwd = project) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error ?? ''}\n${stdout}\n${stderr}`);
  return stdout;
}

before(() => {
  [packed] = JSON.parse(run('npm', ['pack', '--json', `--pack-destination=${project}`], root));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const tarball = join(project, packed.filename);
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', `--prefix=${project}`, tarball]);
});

after(() => rmSync(project, { recursive: true, force: true }));

test('holds what users need and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const expected =
    /^(package\.json|(bindings\/)?README\.md|LICENSE|CHANGELOG\.md|js\/src\/(?!demo\/).*\.js|js\/dist\/(types\/([\w-]+\/)?)?[\w.-]+)$/;
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
});

test('installing it runs nothing and brings nothing else', () => {
  const { scripts, dependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  );
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    assert.equal(scripts[name], undefined);
  }
  assert.equal(dependencies, undefined);
});

test('every file that package.json names is there', () => {
  const { exports, imports, bin } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  );
  /** @type {(value: string | object) => string[]} */
  const targets = (value) =>
    typeof value === 'string' ? [value] : Object.values(value).flatMap(targets);
  for (const target of targets({ exports, imports, bin })) {
    const [path] = target.split('?');
    assert.ok(existsSync(join(installed, path)), `${path} is not in the package`);
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

test('works by import', () => {
  const source = `import { TierLimiter } from 'tierlimit';${program}`;
  const output = run(process.execPath, ['--input-type=module', '--eval', source]);
  assert.equal(output, 'true true false true\n');
});

test('works by require', () => {
  const source = `const { TierLimiter } = require('tierlimit');${program}`;
  const output = run(process.execPath, ['--input-type=commonjs', '--eval', source]);
  assert.equal(output, 'true true false true\n');
});

test('works by import of tierlimit/slim with the module from tierlimit/core.wasm', () => {
  const source = `
    import { readFileSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    import { withModule } from 'tierlimit/slim';
    const bytes = readFileSync(fileURLToPath(import.meta.resolve('tierlimit/core.wasm')));
    const { TierLimiter } = withModule(new WebAssembly.Module(bytes));${program}`;
  const output = run(process.execPath, ['--input-type=module', '--eval', source]);
  assert.equal(output, 'true true false true\n');
});

test('works after a bundler, for a place that is not Node', () => {
  writeFileSync(join(project, 'main.js'), `import { TierLimiter } from 'tierlimit';${program}`);
  run(esbuild, ['main.js', '--bundle', '--minify', '--format=esm', '--outfile=bundle.mjs']);
  assert.equal(run(process.execPath, ['bundle.mjs']), 'true true false true\n');
});

test('bundles for workerd, which compiles the module itself', () => {
  writeFileSync(join(project, 'worker.js'), `import { TierLimiter } from 'tierlimit';${program}`);
  run(esbuild, [
    'worker.js',
    '--bundle',
    '--format=esm',
    '--conditions=workerd',
    '--loader:.wasm=copy',
    '--outdir=worker',
  ]);
  const bundle = readFileSync(join(project, 'worker/worker.js'), 'utf8');
  assert.match(bundle, /from "\.\/core-\w+\.wasm"/);
  assert.ok(bundle.length < 200_000, 'the bytes of the module are in the bundle too');
});

test('its program runs', () => {
  const policies = join(project, 'policies.json');
  writeFileSync(policies, '{ "default": { "capacity": 5, "refillPerSecond": 1 } }');
  run('npx', ['--no-install', 'tierlimit', 'check', policies]);
});
