// The suites of `npm test`: where each finds its tests, how they run and how they are counted.
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';

import { checkTree } from './check-tree.js';
import { findClangTool } from './clang.js';
import { contractRow, isContractRow } from './contract-table.js';
import { findFuzzCompiler, fuzz, fuzzTargets } from './fuzz-targets.js';
import { at, filesIn } from './project.js';
import { run } from './run.js';

/**
 * @typedef {object} Result
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} notes what a reader of a passing run should see: counts of operations, why something is skipped
 * @property {ContractRow[]} contracts what the runtimes did that the suite tried
 * @property {string} output shown when something failed
 */

/** @typedef {import('./contract-table.js').ContractRow} ContractRow */

/** @typedef {'module' | 'types' | 'tarball' | 'native' | 'asan' | 'fuzz'} Build */

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {Build[]} needs in the order of their making
 * @property {() => Promise<Result>} run
 */

// No suite comes near it; a test that hangs is ended by it and reported.
const seconds = 900;

/** The C++ files, as paths from the top folder. */
export const cppSources = () =>
  ['core', 'bindings', 'tests'].flatMap(filesIn).filter((path) => /\.(cpp|hpp)$/.test(path));

/**
 * The suites, those that take longest first.
 * @returns {Suite[]}
 */
export function suites() {
  const tests = filesIn('tests').filter((path) => path.endsWith('.test.js'));
  const differential = tests.filter((path) => /^differential\b/.test(basename(path)));
  const noEval = 'tests/tools/no-eval.test.js';

  // tests/js/ is the suite js, tests/runtime/browser/ runtime/browser, tests/http/fetch/ http/fetch, and so on.
  /** @type {Map<string, string[]>} */
  const folders = new Map();
  for (const path of tests) {
    if (path === noEval || differential.includes(path)) continue;
    const name = /^tests\/((?:runtime|http)\/[^/]+|[^/]+)\//.exec(path)?.[1] ?? 'other';
    folders.set(name, [...(folders.get(name) ?? []), path]);
  }
  const js = folders.get('js') ?? [];
  folders.delete('js');

  /** @type {Build[]} */
  const packed = ['module', 'types', 'tarball'];

  return [
    nodeSuite('differential', differential, ['module', 'native']),
    ...[...folders].map(([name, files]) =>
      nodeSuite(name, files, /^(examples|http|package|runtime)\b/.test(name) ? packed : ['module']),
    ),
    nodeSuite('js', js, ['module']),
    // Through NODE_OPTIONS it reaches the processes that `node --test` starts, and theirs; no-eval.test.js proves it.
    nodeSuite('js/no-eval', [...js, noEval], ['module'], {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --disallow-code-generation-from-strings`,
    }),
    coreSuite('core/asan', 'asan'),
    coreSuite('core', 'native'),
    ...fuzzTargets.map(fuzzSuite),
    clangTidy,
    checkSuite('lint/prettier', tool('prettier'), ['--check', '--log-level=warn', '.']),
    checkSuite('lint/eslint', tool('eslint'), [
      '--config=tests/tools/eslint.config.js',
      '--max-warnings=0',
      '.',
    ]),
    checkSuite(
      'lint/types',
      at('node_modules/.bin/tsc'),
      ['--pretty', 'false', '--project', 'js/tsconfig.json'],
      // The demo imports the package by its name, and so by its types.
      ['module', 'types'],
    ),
    clangFormat,
    { name: 'lint/tree', needs: [], run: checkTree },
  ];
}

/** @param {string} name */
const tool = (name) => at('tests/tools/node_modules/.bin', name);

/**
 * Tests of Node's test runner.
 * @param {string} name
 * @param {string[]} files
 * @param {Suite['needs']} needs
 * @param {Record<string, string>} [env]
 * @returns {Suite}
 */
function nodeSuite(name, files, needs, env = {}) {
  return {
    name,
    needs,
    run: async () => {
      const args = ['--test', '--test-reporter=spec', ...files.map((path) => at(path))];
      const { status, output } = await run(process.execPath, args, { env, seconds });
      /** @type {Record<string, number>} */
      const count = {};
      const notes = [];
      /** @type {ContractRow[]} */
      const contracts = [];
      for (const [, text] of output.matchAll(/^\s*ℹ (.*)$/gm)) {
        const [, what, number] =
          /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/.exec(text) ?? [];
        if (what !== undefined) count[what] = Number(number);
        else if (isContractRow(text)) contracts.push(contractRow(text));
        else notes.push(text);
      }
      // The reporter tells all failures once more at the end.
      const failures = output.indexOf('\n✖ failing tests:');
      return result(status, output.slice(Math.max(failures, 0)), {
        passed: count.pass,
        failed: count.fail + count.cancelled,
        skipped: count.skipped + count.todo,
        notes,
        contracts,
      });
    },
  };
}

/**
 * The C++ tests of a build tree.
 * @param {string} name
 * @param {'native' | 'asan'} tree
 * @returns {Suite}
 */
function coreSuite(name, tree) {
  return {
    name,
    needs: [tree],
    run: async () => {
      const { status, output } = await run(
        'ctest',
        [
          '--test-dir',
          at('.build', tree),
          '--output-on-failure',
          '--no-tests=error',
          '--timeout',
          '300',
        ],
        { seconds },
      );
      const [, failed, all] = /(\d+) tests? failed out of (\d+)/.exec(output) ?? [];
      const failures = output.replace(/^ +Start .*\n|^.* Passed +[\d.]+ sec\n/gm, '');
      return result(status, failures, {
        passed: Number(all) - Number(failed),
        failed: Number(failed),
      });
    },
  };
}

/**
 * A fuzz target, for a number of executions that are the same each time: one test.
 * @param {import('./fuzz-targets.js').FuzzTarget} target
 * @returns {Suite}
 */
function fuzzSuite(target) {
  return {
    name: `fuzz/${target.name}`,
    needs: ['fuzz'],
    run: async () => {
      const compiler = await findFuzzCompiler();
      if (typeof compiler === 'string') return { ...nothing, skipped: 1, notes: [compiler] };
      const { passed, figures, output } = await fuzz(target, {
        corpus: 'short',
        fresh: true,
        options: ['-seed=1', `-runs=${target.runs}`],
        seconds,
      });
      return {
        ...nothing,
        ...(passed ? { passed: 1 } : { failed: 1 }),
        notes: passed ? [figures] : [],
        output,
      };
    },
  };
}

/**
 * A checker: one test, which passes when the exit status is 0.
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 * @param {Suite['needs']} [needs]
 * @returns {Suite}
 */
function checkSuite(name, command, args, needs = []) {
  return {
    name,
    needs,
    run: async () => {
      const { status, output } = await run(command, args, { seconds });
      return result(status, output, status === 0 ? { passed: 1 } : { failed: 1 });
    },
  };
}

/** @type {Suite} */
const clangFormat = {
  name: 'lint/clang-format',
  needs: [],
  run: () => clang('clang-format', ['--dry-run', '-Werror', ...cppSources()]),
};

/** @type {Suite} */
const clangTidy = {
  name: 'lint/clang-tidy',
  needs: ['native'],
  run: () =>
    clang('clang-tidy', [
      '--quiet',
      '-p',
      at('.build/native'),
      ...cppSources().filter((path) => /^core\/.*\.cpp$/.test(path)),
    ]),
};

/**
 * @param {'clang-format' | 'clang-tidy'} name
 * @param {string[]} args
 * @returns {Promise<Result>}
 */
async function clang(name, args) {
  const path = await findClangTool(name);
  if (path === null) return { ...nothing, skipped: 1, notes: ['version 14 is not installed'] };
  return checkSuite(name, path, args).run();
}

const nothing = {
  passed: 0,
  failed: 0,
  skipped: 0,
  notes: /** @type {string[]} */ ([]),
  contracts: /** @type {ContractRow[]} */ ([]),
  output: '',
};

/**
 * A result that cannot look better than the exit status: a run that failed or ran nothing counts at least one failure.
 * @param {number} status
 * @param {string} output
 * @param {Partial<Result>} counts
 * @returns {Result}
 */
function result(status, output, counts) {
  const known = { ...nothing, ...counts, output };
  for (const key of /** @type {const} */ (['passed', 'failed', 'skipped'])) {
    if (!Number.isInteger(known[key])) known[key] = 0;
  }
  const ran = known.passed + known.failed;
  if (known.failed === 0 && (status !== 0 || ran === 0)) {
    known.failed = 1;
    known.output += `\n(exit status ${status}, ${ran} tests ran)\n`;
  }
  return known;
}

/** How many suites run at a time. */
export const lanes = Math.min(4, availableParallelism());
