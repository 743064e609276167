// ESLint over all JavaScript. Formatting is prettier's, types are tsc's; this is for mistakes and for the rules of the
// place a file runs in.
import js from '@eslint/js';
import globals from 'globals';

/** What the wrapper must not use: it runs in every runtime, starts no timers and reads no clock but its own. */
const notInEveryRuntime = [
  'Buffer',
  'process',
  'global',
  'setTimeout',
  'setInterval',
  'queueMicrotask',
  'fetch',
];

export default [
  // bindings/ holds pieces of Emscripten's own output, in its dialect.
  { ignores: ['**/node_modules/', '.build/', 'js/dist/', 'bindings/'] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: globals.node },
    rules: {
      'array-callback-return': 'error',
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-unused-vars': ['error', { args: 'after-used', caughtErrors: 'all' }],
      'no-useless-return': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  {
    name: 'the wrapper',
    files: ['js/src/**/*.js'],
    // A watched file is for runtimes with Node's API, and an entry of its own.
    ignores: ['js/src/cli/**', 'js/src/demo/**', 'js/src/policies/watched-file.js'],
    languageOptions: { globals: globals['shared-node-browser'] },
    rules: {
      'no-restricted-globals': ['error', ...notInEveryRuntime],
      'no-restricted-imports': ['error', { patterns: ['node:*'] }],
    },
  },
  {
    name: 'the demo: a page, a worker and what starts them',
    files: ['js/src/demo/**/*.js', 'tests/runtime/**/*.js'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  {
    name: 'the examples: each is for a runtime of its own',
    files: ['js/examples/**/*.js'],
    languageOptions: { ecmaVersion: 2025, globals: { Bun: 'readonly', Deno: 'readonly' } },
  },
  {
    name: 'the page of an example',
    files: ['js/examples/browser/page.js'],
    languageOptions: { globals: globals.browser },
  },
  {
    name: 'tests of what a terminal is sent',
    files: ['tests/**/*.js'],
    rules: { 'no-control-regex': 'off' },
  },
  {
    name: 'the proof that code cannot be made from strings tries to',
    files: ['tests/tools/no-eval.test.js'],
    rules: { 'no-new-func': 'off' },
  },
];
