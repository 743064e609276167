// The fuzz targets in tests/fuzz/: their compiler, what they begin with, and running them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { at, root } from './project.js';
import { run, which } from './run.js';
import { StepError } from './step.js';

/**
 * @typedef {object} FuzzTarget
 * @property {string} name
 * @property {number} runs executions in `npm test`: some 25 seconds of one processor
 * @property {string[]} options
 */

/** @type {FuzzTarget[]} */
export const fuzzTargets = [
  {
    name: 'policies',
    runs: 20_000,
    options: ['-max_len=2048', `-dict=${at('tests/fuzz/policies.dict')}`],
  },
  { name: 'snapshot', runs: 12_000, options: ['-max_len=4096'] },
  { name: 'operations', runs: 5_000, options: ['-max_len=256'] },
];

/** Where they are built, what they begin with and what they leave. */
export const fuzzFolder = at('.build/fuzz');
export const fuzzTree = join(fuzzFolder, 'tree');
const programs = join(fuzzTree, 'tests/fuzz');

/** @param {FuzzTarget} target */
export const fuzzProgram = ({ name }) => join(programs, `fuzz_${name}`);

/** @typedef {{ path: string, version: string }} FuzzCompiler */

/**
 * What was found: it stays.
 * @type {FuzzCompiler | undefined}
 */
let compiler;

/**
 * A clang++ that has libFuzzer and the sanitizers.
 * @returns {Promise<FuzzCompiler | string>} the reason when there is none
 */
export async function findFuzzCompiler() {
  if (compiler !== undefined) return compiler;
  let reason = 'clang++ is not on PATH';
  for (const name of ['clang++-14', 'clang++']) {
    const path = which(name);
    if (path === null) continue;
    // Often the compiler is there and the library is not.
    const probe = join(tmpdir(), `tierlimit-fuzzer-${process.pid}`);
    const options = ['-fsanitize=fuzzer,address,undefined', '-std=c++20', '-x', 'c++', '-o', probe];
    const source = at('tests/fuzz/probe.cpp');
    const { status, output } = await run(path, [...options, source], { seconds: 120 });
    rmSync(probe, { force: true });
    if (status === 0) {
      const { output: version } = await run(path, ['--version']);
      compiler = { path, version: version.split('\n')[0] };
      return compiler;
    }
    reason = `${name} does not link with libFuzzer: ${output.trim().split('\n')[0]}`;
  }
  return reason;
}

/** What the targets begin with, in a folder for each. */
export async function makeSeeds() {
  for (const { name } of fuzzTargets) {
    rmSync(seedFolder(name), { recursive: true, force: true });
    mkdirSync(seedFolder(name), { recursive: true });
  }
  const documents = JSON.parse(readFileSync(at('tests/vectors/policy-documents.json'), 'utf8'));
  for (const [index, { text }] of documents.entries()) {
    // Some are as large as a document may be.
    if (Buffer.byteLength(text) > 2048) continue;
    writeFileSync(join(seedFolder('policies'), String(index)), text);
  }
  // Random operations: from short inputs it would take long to come to such as have a history.
  for (let index = 0; index < 64; index += 1) {
    const pieces = Array.from({ length: 8 }, (_, piece) =>
      createHash('sha256').update(`${index} ${piece}`).digest(),
    );
    writeFileSync(join(seedFolder('operations'), String(index)), Buffer.concat(pieces));
  }
  const program = join(programs, 'fuzz_snapshot_seeds');
  const { status, output } = await run(program, [seedFolder('snapshot')], { seconds: 120 });
  if (status !== 0) throw new StepError(`Snapshots to begin with cannot be made:\n${output}`);
}

/** @param {string} name */
const seedFolder = (name) => join(fuzzFolder, 'seeds', name);

/**
 * @typedef {object} FuzzResult
 * @property {boolean} passed
 * @property {string} figures executions and coverage, in words
 * @property {string} output what libFuzzer said, shortened, and how to see it again
 */

/**
 * Runs a target. Inputs that reach something new are added to a folder, those that end it are in .build/fuzz/crashes/.
 * @param {FuzzTarget} target
 * @param {{ corpus: string, fresh: boolean, options: string[], seconds: number }} how
 * @returns {Promise<FuzzResult>}
 */
export async function fuzz(target, { corpus, fresh, options, seconds }) {
  const crashes = join(fuzzFolder, 'crashes');
  const found = join(fuzzFolder, corpus, target.name);
  if (fresh) rmSync(found, { recursive: true, force: true });
  for (const folder of [crashes, found]) mkdirSync(folder, { recursive: true });
  const args = [
    ...target.options,
    ...options,
    // Long inputs from the beginning.
    ...['-len_control=0', '-timeout=120'],
    `-artifact_prefix=${join(crashes, `${target.name}-`)}`,
    found,
    seedFolder(target.name),
  ];
  // Freed memory is kept for long by default, which is most of what the time goes into.
  const ASAN_OPTIONS = `quarantine_size_mb=8:${process.env.ASAN_OPTIONS ?? ''}`;
  const program = fuzzProgram(target);
  const { status, output } = await run(program, args, { env: { ASAN_OPTIONS }, seconds });

  const last = [...output.matchAll(/^#(\d+)\s.*\bcov: (\d+) ft: (\d+) corp: (\d+)/gm)].at(-1);
  const [runs, edges, features, inputs] = (last ?? []).slice(1).map(Number);
  const figures = `${runs} executions, ${edges} edges and ${features} features covered by ${inputs} inputs`;
  // Each execution that reached something new is a line.
  const said = output.replace(/^(#\d+\t(INITED|NEW|REDUCE|pulse|RELOAD)\b|\tNEW_FUNC|").*\n/gm, '');
  const input = /Test unit written to (.*)/.exec(output)?.[1];
  const again =
    input === undefined ? '' : `\nOnce more: ${relative(root, program)} ${relative(root, input)}\n`;
  return { passed: status === 0 && last !== undefined, figures, output: `${said}${again}` };
}
