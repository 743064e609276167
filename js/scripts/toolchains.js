// npm run test:toolchains: builds the module with the Emscripten of each Debian from the oldest that must build it to the
// newest there is, and runs the tests of the module on what came out. Each Debian is in a folder of its own below
// .build/toolchains/, made by debootstrap at the first run (`--fresh` makes them anew); so it needs Linux, root and the
// network. `npm run test:toolchains -- trixie` tries one.
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

import { at, filesIn } from './project.js';
import { run } from './run.js';
import { setUp } from './setup.js';
import { StepError, prepared, step } from './step.js';

/** Debian's releases by their names, with what they are called otherwise. */
const releases = new Map([
  ['bookworm', 'Debian 12'],
  ['trixie', 'Debian 13'],
  ['sid', 'Debian unstable'],
]);
const packages = 'emscripten,rapidjson-dev,cmake,ninja-build,nodejs,ca-certificates';

/** Where a Debian has the sources. */
const inside = '/tierlimit';

// What the build knows of its compiler, and the module as it is used; not what compares it with native code.
const tests = [...filesIn('tests/js'), ...filesIn('tests/guards')].filter(
  (path) => path.endsWith('.test.js') && !path.endsWith('/differential-native.test.js'),
);

/**
 * @typedef {object} Row
 * @property {string} release
 * @property {string} version of Emscripten
 * @property {string[]} sizes gzipped, in bytes
 * @property {string} outcome
 */

const { values, positionals } = parseArgs({
  options: { fresh: { type: 'boolean', default: false } },
  allowPositionals: true,
});

const wanted = positionals.length === 0 ? [...releases.keys()] : positionals;
await prepared(async () => {
  for (const name of wanted) {
    if (!releases.has(name)) {
      throw new StepError(`There is no ${name}. There are: ${[...releases.keys()].join(', ')}`);
    }
  }
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new StepError('debootstrap and chroot need Linux and root.');
  }
  await setUp('toolchains');
});
// Only now it is there.
const { transform } = await import('esbuild');

/** @type {Row[]} */
const rows = [];
for (const name of wanted) {
  // Another Debian may do what this one does not.
  try {
    rows.push(await tryOut(name));
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    console.log(`\n${error.message}`);
    rows.push({ release: name, version: '', sizes: ['', '', ''], outcome: 'not tried' });
  }
}
const header = ['', 'Emscripten', 'core.wasm', 'glue', 'together', 'tests'];
const table = [header, ...rows.map((row) => [row.release, row.version, ...row.sizes, row.outcome])];
const widths = header.map((_, i) => Math.max(...table.map((line) => line[i].length)));
console.log('\nSizes are gzipped, in bytes; the glue is minified.');
for (const line of table) {
  console.log(
    line
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  );
}
if (rows.some(({ outcome }) => !/^\d+ passed$/.test(outcome))) process.exitCode = 1;

/**
 * @param {string} name of a release
 * @returns {Promise<Row>}
 */
async function tryOut(name) {
  const folder = at('.build/toolchains', name);
  const row = { release: `${releases.get(name)} (${name})`, version: '', sizes: ['', '', ''] };
  if (values.fresh) rmSync(folder, { recursive: true, force: true });
  await step(`${row.release}`, () => bootstrap(name, folder), {
    digest: packages,
    results: [`.build/toolchains/${name}/usr/bin/emcc`],
  });
  const sources = join(folder, inside);
  await copySources(sources);

  let outcome = 'does not build';
  await step(`  module`, async () => {
    const command = `cd ${inside} && exec node js/scripts/build-wasm.js`;
    const { status, output } = await run('unshare', [
      // What is mounted, and what is left running, ends with the command.
      ...['--mount', '--pid', '--fork', '--kill-child', `--root=${folder}`, '--mount-proc=/proc'],
      ...['/usr/bin/env', '-i', 'PATH=/usr/bin:/bin', 'HOME=/root', 'NODE_PATH=/usr/share/nodejs'],
      ...['/bin/sh', '-c', command],
    ]);
    if (status !== 0) console.log(`\n${output}`);
    else outcome = 'built';
  });
  const mark = join(sources, '.build/wasm/emscripten.txt');
  if (existsSync(mark)) [, row.version] = readFileSync(mark, 'utf8').split(' ');
  if (outcome !== 'built') return { ...row, outcome };

  row.sizes = await sizes(join(sources, 'js/dist'));
  await step(`  tests`, async () => {
    const args = ['--test', '--test-reporter=tap', ...tests.map((path) => join(sources, path))];
    const { status, output } = await run(process.execPath, args, { cwd: sources, seconds: 1800 });
    const count = (/** @type {string} */ what) =>
      Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1]);
    outcome = status === 0 ? `${count('pass')} passed` : `${count('fail')} FAILED`;
    if (status !== 0) console.log(`\n${output.split('\n').filter(isFailure).join('\n')}`);
  });
  return { ...row, outcome };
}

/** @param {string} line of TAP */
function isFailure(line) {
  return /^\s*(not ok|error:|failureType:)/.test(line);
}

/**
 * @param {string} name
 * @param {string} folder
 */
async function bootstrap(name, folder) {
  // One that broke off is not gone on with.
  const unfinished = `${folder}.unfinished`;
  for (const path of [folder, unfinished]) rmSync(path, { recursive: true, force: true });
  const { status, output } = await run('debootstrap', [
    '--variant=minbase',
    `--include=${packages}`,
    name,
    unfinished,
  ]);
  if (status !== 0) throw new StepError(`debootstrap ${name} failed:\n${output}`);
  renameSync(unfinished, folder);
}

/**
 * The sources as they are, with what this machine has installed for their tests.
 * @param {string} folder
 */
async function copySources(folder) {
  rmSync(folder, { recursive: true, force: true });
  const list = at('.build/toolchains/sources.txt');
  const { output } = await run('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ]);
  const present = output.split('\0').filter((path) => path !== '' && existsSync(at(path)));
  writeFileSync(list, present.join('\0'));
  const { status, output: said } = await run('sh', [
    '-c',
    'mkdir -p "$1" && tar --create --null --files-from "$2" | tar --extract --directory "$1"',
    'sh',
    folder,
    list,
  ]);
  if (status !== 0) throw new StepError(`The sources cannot be copied:\n${said}`);
  // What the tests of header fields parse them with is in the second.
  for (const path of ['node_modules', 'tests/http/packages/node_modules']) {
    symlinkSync(at(path), join(folder, path));
  }
}

/** @param {string} dist */
async function sizes(dist) {
  const { code } = await transform(readFileSync(join(dist, 'glue.js'), 'utf8'), {
    minify: true,
    format: 'esm',
  });
  const [wasm, glue] = [readFileSync(join(dist, 'core.wasm')), code].map(
    (content) => gzipSync(content, { level: 9 }).length,
  );
  return [wasm, glue, wasm + glue].map((bytes) => bytes.toLocaleString('en'));
}
