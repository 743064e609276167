// What the build and the tests need from the operating system, how to see that it is there, and how to bring it.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { findEmscripten } from './emscripten.js';
import { findFuzzCompiler } from './fuzz-targets.js';
import { run, which } from './run.js';
import { StepError, step } from './step.js';

/**
 * @typedef {'build' | 'compile' | 'native' | 'browser' | 'lint' | 'fuzz' | 'toolchains' | 'load'} Use
 */

/**
 * @typedef {object} Requirement
 * @property {string} name
 * @property {Use[]} uses
 * @property {() => string | null | Promise<string | null>} lacking the reason when it is not there
 * @property {string} apt package of Debian and Ubuntu
 * @property {string} dnf package of Fedora
 * @property {string} brew package of Homebrew
 * @property {boolean} [optional] work goes on without it where it cannot be installed
 */

/** @type {Requirement[]} */
const requirements = [
  {
    name: 'Emscripten',
    uses: ['build'],
    lacking: async () => {
      const found = await findEmscripten();
      return typeof found === 'string' ? found : null;
    },
    apt: 'emscripten',
    dnf: 'emscripten',
    brew: 'emscripten',
  },
  {
    name: 'RapidJSON',
    uses: ['build', 'native'],
    lacking: () => header('rapidjson/reader.h'),
    apt: 'rapidjson-dev',
    dnf: 'rapidjson-devel',
    brew: 'rapidjson',
  },
  {
    name: 'CMake',
    uses: ['build', 'native'],
    lacking: () => program('cmake') ?? program('ctest'),
    apt: 'cmake',
    dnf: 'cmake',
    brew: 'cmake',
  },
  {
    name: 'Ninja',
    uses: ['build', 'native'],
    lacking: () => program('ninja'),
    apt: 'ninja-build',
    dnf: 'ninja-build',
    brew: 'ninja',
  },
  {
    name: 'a C++ compiler',
    uses: ['compile', 'native'],
    // CXX may carry arguments, and a ccache before them.
    lacking: () => program(process.env.CXX?.split(' ')[0] || 'c++', 'g++', 'clang++'),
    apt: 'g++',
    dnf: 'gcc-c++ libasan libubsan',
    brew: 'llvm',
  },
  {
    name: 'Catch2',
    uses: ['native'],
    lacking: () => header('catch2/catch.hpp', 'catch2/catch_all.hpp'),
    apt: 'catch2',
    dnf: 'catch-devel',
    brew: 'catch2',
  },
  {
    name: 'wrk',
    uses: ['load'],
    lacking: () => program('wrk'),
    apt: 'wrk',
    dnf: 'wrk',
    brew: 'wrk',
  },
  {
    name: 'Chromium',
    uses: ['browser'],
    lacking: () => program('chromium', 'chromium-browser', 'google-chrome'),
    apt: 'chromium',
    dnf: 'chromium',
    brew: 'chromium',
    optional: true,
  },
  {
    name: 'clang-format',
    uses: ['lint'],
    lacking: () => program('clang-format'),
    apt: 'clang-format',
    dnf: 'clang-tools-extra',
    brew: 'llvm',
    optional: true,
  },
  {
    name: 'clang-tidy',
    uses: ['lint'],
    lacking: () => program('clang-tidy'),
    apt: 'clang-tidy',
    dnf: 'clang-tools-extra',
    brew: 'llvm',
    optional: true,
  },
  {
    name: 'clang',
    uses: ['fuzz'],
    lacking: () => program('clang++-14', 'clang++'),
    apt: 'clang',
    dnf: 'clang',
    brew: 'llvm',
    optional: true,
  },
  {
    name: 'libFuzzer',
    uses: ['fuzz'],
    lacking: async () => {
      const found = await findFuzzCompiler();
      return typeof found === 'string' ? found : null;
    },
    // That of the version that the package clang is of: libclang-rt-14-dev in Debian 12.
    apt: 'libclang-rt-dev',
    dnf: 'compiler-rt',
    brew: 'llvm',
    optional: true,
  },
  {
    name: 'debootstrap',
    uses: ['toolchains'],
    lacking: () => program('debootstrap'),
    apt: 'debootstrap',
    dnf: 'debootstrap',
    brew: 'debootstrap',
  },
];

/**
 * Installs what is missing, where that needs no password; otherwise says what to install.
 * @param {Use[]} uses
 */
export async function bringSystemPackages(uses) {
  const missing = await missingFor(uses);
  if (missing.length === 0) return;

  const asRoot = await rootCommand();
  if (which('apt-get') !== null && asRoot !== null) {
    const names = missing.map(({ requirement }) => requirement.apt).join(' ');
    await step(`installing ${names} with apt-get`, () => aptInstall(asRoot, missing));
    const still = await missingFor(uses);
    if (still.some(({ requirement }) => !requirement.optional)) throw new StepError(explain(still));
  } else {
    if (missing.some(({ requirement }) => !requirement.optional)) {
      throw new StepError(explain(missing));
    }
  }
}

/**
 * @typedef {{ requirement: Requirement, reason: string }} Missing
 */

/**
 * @param {Use[]} uses
 * @returns {Promise<Missing[]>}
 */
async function missingFor(uses) {
  const wanted = requirements.filter((requirement) =>
    requirement.uses.some((u) => uses.includes(u)),
  );
  const checked = wanted.map(async (requirement) => ({
    requirement,
    reason: await requirement.lacking(),
  }));
  return /** @type {Missing[]} */ ((await Promise.all(checked)).filter((c) => c.reason !== null));
}

/**
 * What goes before a command for it to run as root; null when that would ask for a password.
 * @returns {Promise<string[] | null>}
 */
async function rootCommand() {
  if (process.getuid?.() === 0) return [];
  if (which('sudo') === null) return null;
  return (await run('sudo', ['-n', 'true'])).status === 0 ? ['sudo', '-n'] : null;
}

/**
 * @param {string[]} asRoot
 * @param {Missing[]} missing
 */
async function aptInstall(asRoot, missing) {
  // sudo drops the environment, so what must be in it is put there by env.
  const [command, ...args] = [
    ...[...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive'],
    ...['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300'],
  ];
  const install = (/** @type {Missing[]} */ some) =>
    run(command, [
      ...[...args, 'install', '--yes', '--no-install-recommends'],
      ...some.map(({ requirement }) => requirement.apt),
    ]);
  // A repository that cannot be reached need not be the one that has the packages.
  const update = await run(command, [...args, 'update']);
  const all = await install(missing);
  if (all.status === 0) return;
  // Another version of the system may not have all of what is optional, and then nothing is installed.
  const [optional, needed] = [true, false].map((which) =>
    missing.filter(({ requirement }) => (requirement.optional ?? false) === which),
  );
  const rest = needed.length > 0 ? await install(needed) : { status: 0, output: '' };
  if (rest.status !== 0) throw new StepError(`apt-get failed:\n${update.output}${rest.output}`);
  for (const one of optional) {
    const { status, output } = await install([one]);
    if (status !== 0) process.stderr.write(`\n${one.requirement.name} is left out:\n${output}`);
  }
}

/** @param {Missing[]} missing */
function explain(missing) {
  /** @param {'apt' | 'dnf' | 'brew'} system */
  const names = (system) =>
    [...new Set(missing.flatMap(({ requirement }) => requirement[system].split(' ')))].join(' ');
  const lines = [
    'tierlimit needs what this machine does not have:',
    ...missing.map(({ requirement, reason }) => `  ${requirement.name}: ${reason}`),
    '',
    'Install it and run the command again:',
    `  Debian, Ubuntu:  sudo apt-get install ${names('apt')}`,
    `  Fedora:          sudo dnf install ${names('dnf')}`,
    `  macOS:           brew install ${names('brew')}`,
  ];
  if (missing.some(({ requirement }) => requirement.name === 'Emscripten')) {
    lines.push(
      'Emscripten can also come from its own SDK (any system, and the newest version):',
      '  https://emscripten.org/docs/getting_started/downloads.html',
      '  then `source emsdk_env.sh`, which puts emcc on PATH.',
    );
  }
  return lines.join('\n');
}

/**
 * The reason when none of the programs is on PATH.
 * @param {...string} names
 */
function program(...names) {
  return names.some((name) => which(name) !== null) ? null : `${names.join(' or ')} is not on PATH`;
}

/**
 * The reason when none of the headers is in a folder where CMake looks too.
 * @param {...string} names
 */
function header(...names) {
  const prefixes = [
    ...(process.env.CMAKE_PREFIX_PATH ?? '').split(delimiter).filter(Boolean),
    '/usr',
    '/usr/local',
    '/opt/homebrew',
  ];
  const found = names.some((name) => prefixes.some((p) => existsSync(join(p, 'include', name))));
  return found ? null : `${names.join(' or ')} is in no include folder of ${prefixes.join(', ')}`;
}
