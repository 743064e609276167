// What the tests of a runtime do with the outcome of the contract there.
import assert from 'node:assert/strict';

import { contractNote } from '../../js/scripts/contract-table.js';
import { clauseNames } from './limiter.js';

/**
 * Puts a row into the table that `npm test` ends with, and fails unless every clause was kept.
 * @param {import('node:test').TestContext} t
 * @param {import('../../js/scripts/contract-table.js').ContractRow} row
 */
export function conclude(t, { runtime, version, outcomes }) {
  t.diagnostic(contractNote({ runtime, version, outcomes }));
  const expected = Object.fromEntries(clauseNames.map((name) => [name, 'ok']));
  assert.deepEqual(outcomes, expected);
  assert.match(version, /\d/, `the version of ${runtime}`);
}

const mark = '\nCONTRACT ';

/**
 * A line of output that `outcomesIn` finds among others. It is source text for a program that has the outcomes in a
 * variable of that name, and something to print with.
 * @param {string} variable
 * @param {string} [print]
 */
export const saying = (variable, print = 'console.log') =>
  `${print}(${JSON.stringify(mark)} + JSON.stringify(${variable}));`;

/**
 * @param {string} output of a program that said its outcomes
 * @returns {any}
 */
export function outcomesIn(output) {
  const line = `\n${output}`.split(mark)[1]?.split('\n')[0];
  assert.notEqual(line, undefined, `no outcome in:\n${output}`);
  return JSON.parse(line);
}
