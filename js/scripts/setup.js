// What a command needs before it can do its work on a machine that has Node.js, npm, git and a C++ compiler.
import { benchFolder, installNpmPackages, testPackageFolders } from './npm-packages.js';
import { StepError } from './step.js';
import { bringSystemPackages } from './system-packages.js';

/**
 * @typedef {object} Need
 * @property {import('./system-packages.js').Use[]} system
 * @property {() => string[]} npm folders with a lock file
 */

/** @type {Record<'build' | 'start' | 'test' | 'format' | 'bench' | 'fuzz' | 'toolchains' | 'load', Need>} */
const needs = {
  build: { system: ['build'], npm: () => [''] },
  start: { system: ['build'], npm: () => [''] },
  test: {
    system: ['build', 'native', 'browser', 'lint', 'fuzz'],
    npm: () => ['', ...testPackageFolders()],
  },
  bench: { system: ['build', 'compile'], npm: () => [benchFolder] },
  load: { system: ['build', 'load'], npm: () => ['', benchFolder] },
  fuzz: { system: ['native', 'fuzz'], npm: () => [] },
  toolchains: { system: ['toolchains'], npm: () => ['', 'tests/http/packages'] },
  format: { system: ['lint'], npm: () => ['tests/tools'] },
};

/**
 * Brings what is missing for a command.
 * @param {keyof typeof needs} command
 */
export async function setUp(command) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new StepError(`Node.js 20.19 or newer is needed; this is ${process.versions.node}.`);
  }
  await bringSystemPackages(needs[command].system);
  for (const folder of needs[command].npm()) await installNpmPackages(folder);
}
