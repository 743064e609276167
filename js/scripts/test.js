// npm test: sets up, builds, runs the suites and sums them up. `npm test -- core lint` runs the suites so named.
import { buildFuzz, buildModule, buildNative, buildTarball, buildTypes } from './builds.js';
import { contractTable } from './contract-table.js';
import { setUp } from './setup.js';
import { StepError, prepared } from './step.js';
import { lanes, suites } from './suites.js';

/** @typedef {import('./suites.js').Suite} Suite */
/** @typedef {import('./suites.js').Result} Result */

const builds = {
  module: buildModule,
  types: buildTypes,
  tarball: buildTarball,
  native: () => buildNative('native'),
  asan: () => buildNative('asan'),
  fuzz: buildFuzz,
};

const names = process.argv.slice(2);
/** @type {Suite[]} */
let chosen = [];
/** Builds that failed; what needs them cannot run. */
const broken = new Set();
/** @type {import('./contract-table.js').ContractRow[]} */
const contracts = [];
const total = { passed: 0, failed: 0, skipped: 0 };

await prepared(async () => {
  await setUp('test');
  chosen = choose(suites(), names);
  for (const build of /** @type {(keyof typeof builds)[]} */ (Object.keys(builds))) {
    if (!chosen.some(({ needs }) => needs.includes(build))) continue;
    try {
      await builds[build]();
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      console.log(`\n${error.message}`);
      broken.add(build);
      total.failed += 1;
    }
  }
});

console.log('');
const waiting = chosen.filter((suite) => {
  const missing = suite.needs.filter((build) => broken.has(build));
  if (missing.length > 0) console.log(row('NOT RUN', suite.name, `needs the build ${missing[0]}`));
  return missing.length === 0;
});
await Promise.all(Array.from({ length: lanes }, work));

if (contracts.length > 0) console.log(`\n${contractTable(contracts)}`);

const parts = [`${total.passed} passed`, `${total.failed} failed`];
if (total.skipped > 0) parts.push(`${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
// The last line; programs read it.
console.log(`\n${parts.join(', ')}`);

/**
 * The suites that are called so, or whose name starts with that and a slash; all of them without a name.
 * @param {Suite[]} all
 * @param {string[]} wanted
 */
function choose(all, wanted) {
  /** @type {(suite: Suite, name: string) => boolean} */
  const called = (suite, name) => suite.name === name || suite.name.startsWith(`${name}/`);
  for (const name of wanted) {
    if (!all.some((suite) => called(suite, name))) {
      const known = all.map((suite) => suite.name).join(', ');
      throw new StepError(`There is no suite ${name}. There are: ${known}`);
    }
  }
  return wanted.length === 0 ? all : all.filter((suite) => wanted.some((n) => called(suite, n)));
}

/** One lane: takes a suite after the other until none is left. */
async function work() {
  for (let suite = waiting.shift(); suite; suite = waiting.shift()) {
    const start = performance.now();
    const result = await suite.run();
    report(suite, result, (performance.now() - start) / 1000);
  }
}

/**
 * @param {Suite} suite
 * @param {Result} result
 * @param {number} seconds
 */
function report(suite, result, seconds) {
  const counts = /** @type {const} */ (['passed', 'failed', 'skipped']);
  for (const key of counts) total[key] += result[key];
  const text = counts.filter((key) => result[key] > 0).map((key) => `${result[key]} ${key}`);
  const failed = result.failed > 0;
  console.log(row(failed ? 'FAILED' : 'ok', suite.name, text.join(', '), seconds));
  contracts.push(...result.contracts);
  for (const note of result.notes) console.log(`            ${note}`);
  if (failed) console.log(`\n${result.output.trimEnd()}\n--- end of ${suite.name}\n`);
}

/**
 * @param {string} verdict
 * @param {string} name
 * @param {string} text
 * @param {number} [seconds]
 */
function row(verdict, name, text, seconds) {
  const time = seconds === undefined ? '' : `${seconds.toFixed(1)} s`.padStart(9);
  return `${verdict.padEnd(8)} ${name.padEnd(20)} ${text.padEnd(30)} ${time}`.trimEnd();
}
