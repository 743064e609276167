// Checks what no formatter sees: what is in the tree, and what must not be left in a file.
import { existsSync, readFileSync } from 'node:fs';

import { at, root } from './project.js';
import { run } from './run.js';

const topLevel = new Set([
  ...['core', 'bindings', 'js', 'tests'],
  ...['CMakeLists.txt', 'package.json', 'package-lock.json'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE'],
]);

/** What must not be left in a line of a file, by what is said of it. */
const leftOver = new Map([
  ['trailing white space', /[ \t\r]$/],
  ['a tab', /\t/],
  ['unfinished', /\b(TODO|FIXME|XXX)\b/],
  ['a test that is left out or singled out', /\b(test|it|describe|suite|t)\.(only|skip|todo)\(/],
  ['a type check that is switched off', /^\s*(\/\/|\/\*) *@ts-(ignore|nocheck)/],
  ['the address of a registry', /"resolved": "https?:/],
]);

/** @returns {Promise<import('./suites.js').Result>} */
export async function checkTree() {
  const problems = [
    ...(await files('--cached', '--ignored', '--exclude-standard')).map(
      (path) => `${path}: is ignored and yet in git`,
    ),
  ];
  // Files that are not yet committed count too.
  for (const path of await files('--cached', '--others', '--exclude-standard')) {
    const [top] = path.split('/');
    if (!top.startsWith('.') && !topLevel.has(top)) {
      problems.push(`${path}: does not belong at the top level`);
    }
    if (existsSync(at(path))) problems.push(...problemsIn(path));
  }
  return {
    passed: problems.length === 0 ? 1 : 0,
    failed: problems.length === 0 ? 0 : 1,
    skipped: 0,
    notes: [],
    contracts: [],
    output: problems.join('\n'),
  };
}

/** @param {string} path */
function problemsIn(path) {
  const text = readFileSync(at(path), 'utf8');
  if (text.includes('\0')) return [`${path}: is binary`];
  const problems =
    text === '' || text.endsWith('\n') ? [] : [`${path}: does not end with a newline`];
  // This file spells out what it looks for.
  if (path === 'js/scripts/check-tree.js') return problems;
  for (const [index, line] of text.split('\n').entries()) {
    for (const [what, pattern] of leftOver) {
      // Go's own formatter indents with them.
      if (what === 'a tab' && path.endsWith('.go')) continue;
      if (pattern.test(line)) problems.push(`${path}:${index + 1}: ${what}`);
    }
  }
  return problems;
}

/**
 * Files that git knows.
 * @param {...string} options of git ls-files
 */
async function files(...options) {
  // A clone that belongs to another user (a mounted folder in a container) is refused by git unless it is named.
  const { status, output } = await run('git', [
    '-c',
    `safe.directory=${root}`,
    'ls-files',
    '-z',
    ...options,
  ]);
  if (status !== 0) throw new Error(`git ls-files failed: ${output}`);
  return output.split('\0').filter(Boolean);
}
