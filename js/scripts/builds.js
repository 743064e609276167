// The builds: the WebAssembly module, the types and the tarball of the package, the native library with its tests, plain
// and under the sanitizers, and the fuzz targets.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';

import { tidyDeclarations } from './declarations.js';
import { findEmscripten } from './emscripten.js';
import { findFuzzCompiler, fuzzProgram, fuzzTargets, fuzzTree, makeSeeds } from './fuzz-targets.js';
import { at, digest, root } from './project.js';
import { run } from './run.js';
import { StepError, step } from './step.js';

const sources = ['CMakeLists.txt', 'core'];
/** CMake reads the version from there. */
const { version, exports } = JSON.parse(readFileSync(at('package.json'), 'utf8'));

const typesFolder = 'js/dist/types';
/** The declarations of the entries that have types, as paths in that folder. @type {string[]} */
const entryTypes = Object.values(exports)
  .filter(({ types }) => types !== undefined)
  .map(({ types }) => relative(at(typesFolder), at(types)));

/** Builds js/dist/, the module and what is generated around it. */
export async function buildModule() {
  const emscripten = await findEmscripten();
  if (typeof emscripten === 'string') throw new StepError(emscripten);
  await step(
    'WebAssembly module',
    async () => {
      const { status, output } = await run(process.execPath, [at('js/scripts/build-wasm.js')]);
      if (status !== 0) throw new StepError(`The WebAssembly module does not build:\n${output}`);
    },
    {
      digest: digest(
        [...sources, 'bindings', 'js/scripts/build-wasm.js'],
        emscripten.folder,
        emscripten.version,
        version,
      ),
      results: [
        'js/dist/core.wasm',
        ...['glue.js', 'glue.d.ts', 'bytes.js', 'bytes.d.ts'].map((name) => `js/dist/${name}`),
      ],
    },
  );
}

/**
 * Builds js/dist/types/, the declarations that tsc makes of the JSDoc comments, for users of TypeScript and editors. It
 * checks nothing there: the types of Node.js, which one entry uses, are installed for tests alone, and `lint/types` checks.
 */
export async function buildTypes() {
  const project = 'js/tsconfig.declarations.json';
  const compiler = 'node_modules/.bin/tsc';
  await step(
    'types',
    async () => {
      rmSync(at(typesFolder), { recursive: true, force: true });
      const args = ['--pretty', 'false', '--project', at(project)];
      const { status, output } = await run(at(compiler), args);
      if (status !== 0) throw new StepError(`The declarations cannot be made:\n${output}`);
      tidyDeclarations(at(typesFolder), entryTypes);
    },
    {
      digest: digest(
        [
          ...['js/src', 'js/tsconfig.json', project, 'js/scripts/declarations.js'],
          ...['tests/tools/wasm.d.ts', 'package-lock.json'],
        ],
        version,
        entryTypes,
      ),
      results: [
        ...entryTypes,
        ...['client', 'core-types', 'errors', 'limiter', 'types'].map((name) => `${name}.d.ts`),
      ].map((path) => `${typesFolder}/${path}`),
    },
  );
}

/** The tarball of a release, as `npm publish` would make it. */
export const tarball = at('.build/package/tierlimit.tgz');

/** Packs the package into `tarball`. It needs the module and the types. */
export async function buildTarball() {
  const { files } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const dist = readdirSync(at('js/dist'), { recursive: true, encoding: 'utf8' })
    .map((name) => `js/dist/${name}`)
    .filter((path) => statSync(at(path)).isFile());
  await step(
    'tarball',
    async () => {
      const folder = dirname(tarball);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      // The scripts of npm pack would build once more, and wait for this step to end.
      const args = ['pack', '--ignore-scripts', '--loglevel=error', `--pack-destination=${folder}`];
      const { status, output } = await run('npm', args);
      if (status !== 0) throw new StepError(`npm pack failed:\n${output}`);
      const [name] = readdirSync(folder);
      renameSync(join(folder, name), tarball);
    },
    {
      // npm packs README and LICENSE unasked.
      digest: digest(
        [...files.filter((/** @type {string} */ path) => !/^!|dist$/.test(path)), ...dist].concat([
          'package.json',
          'README.md',
          'LICENSE',
        ]),
      ),
      results: ['.build/package/tierlimit.tgz'],
    },
  );
}

/** The native build trees and what CMake is told for each. */
const trees = {
  native: ['-DTIERLIMIT_WERROR=ON', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON'],
  // Instrumented code takes more than twice as long to compile at -O3, and its tests run no faster for it.
  asan: ['-DTIERLIMIT_WERROR=ON', '-DTIERLIMIT_SANITIZE=ON', '-DCMAKE_CXX_FLAGS_RELEASE=-O1'],
};

/**
 * Builds the native library and its tests in .build/<tree>.
 * @param {keyof typeof trees} tree
 */
export async function buildNative(tree) {
  await step(`native build, ${tree}`, () => makeTree(at('.build', tree), at(), trees[tree]), {
    digest: digest([...sources, 'tests/core'], trees[tree], process.env.CXX, version, root),
    results: [`.build/${tree}/tests/core/tierlimit_tests`],
  });
}

/** Builds the fuzz targets in .build/fuzz, where there is a compiler for them. */
export async function buildFuzz() {
  const compiler = await findFuzzCompiler();
  if (typeof compiler === 'string') return;
  const options = [
    ...['-DTIERLIMIT_TESTS=OFF', '-DTIERLIMIT_FUZZ=ON', '-DTIERLIMIT_SANITIZE=ON'],
    ...['-DTIERLIMIT_WERROR=ON', '-DCMAKE_CXX_FLAGS_RELEASE=-O1'],
    `-DCMAKE_CXX_COMPILER=${compiler.path}`,
  ];
  await step(
    'native build, fuzz',
    async () => {
      await makeTree(fuzzTree, at(), options);
      await makeSeeds();
    },
    {
      digest: digest(
        [
          ...[...sources, 'tests/fuzz', 'js/scripts/fuzz-targets.js'],
          'tests/vectors/policy-documents.json',
        ],
        options,
        compiler.version,
        version,
        root,
      ),
      results: fuzzTargets.map((target) => relative(root, fuzzProgram(target))),
    },
  );
}

/** Builds the native side of the benchmark in .build/bench. */
export async function buildBench() {
  const source = 'tests/bench/native';
  await step('native build, bench', () => makeTree(at('.build/bench'), at(source), []), {
    digest: digest([...sources, source], process.env.CXX, version, root),
    results: ['.build/bench/tierlimit_bench'],
  });
}

/**
 * @param {string} folder
 * @param {string} source
 * @param {string[]} options
 */
async function makeTree(folder, source, options) {
  // A clone that was moved: CMake refuses a tree that was made elsewhere.
  const cache = join(folder, 'CMakeCache.txt');
  if (existsSync(cache) && !readFileSync(cache, 'utf8').includes(`=${source}\n`)) {
    rmSync(folder, { recursive: true });
  }
  const configure = ['-S', source, '-B', folder, '-G', 'Ninja', ...options];
  for (const args of [configure, ['--build', folder, '-j', String(availableParallelism())]]) {
    const { status, output } = await run('cmake', args);
    if (status !== 0) throw new StepError(`cmake ${args.join(' ')} failed:\n${output}`);
  }
}
