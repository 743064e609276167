/**
 * Policies on their way into the core, and what it says of them.
 * @module
 */

import { PolicyError, check, kindOf, show } from './errors.js';

/** @import { CoreModule, CoreReport } from './core-types.js' */
/** @import { PolicyProblem, PolicyReport } from './types.js' */

/**
 * @param {unknown} policies
 * @returns {{ text: string, isText: boolean }}
 */
export function policyText(policies) {
  if (typeof policies === 'string') return { text: policies, isText: true };
  // JSON would make something of others, or nothing: of bytes a list of numbers, of a promise an empty document.
  const isPlain = typeof policies === 'object' && policies && isJson(policies);
  check(isPlain, 'policies', 'a plain object or JSON text', policies);
  let text;
  try {
    text = JSON.stringify(policies, asItIs);
  } catch (error) {
    const why = error instanceof Error ? error.message : show(error);
    throw new TypeError(`policies cannot be written as JSON: ${why}`, { cause: error });
  }
  check(text, 'policies', 'what can be written as JSON', text);
  return { text, isText: false };
}

const jsonKinds = /^(Object|Array|String|Number|Boolean|Null|Undefined)$/;

/**
 * Whether JSON writes a value as it is.
 * @param {unknown} value
 */
const isJson = (value) =>
  typeof value === 'number' ? Number.isFinite(value) : jsonKinds.test(kindOf(value));

/**
 * Refuses what JSON would silently leave out or write as something else: a map or a promise as an empty object, NaN
 * as null.
 * @param {string} name
 * @param {unknown} value
 */
function asItIs(name, value) {
  const rule = typeof value === 'number' ? 'a finite number' : 'a JSON value';
  check(isJson(value), show(name), rule, value);
  return value;
}

/**
 * Whether there is memory for the copies of a text: nobody asks before making them.
 * @param {CoreModule} module
 * @param {number} length in code units
 */
export function fits(module, length) {
  // Two copies of up to three bytes a code unit, embind's and the core's, and what is small.
  const bytes = length * 7 + 2 ** 16;
  return bytes < 2 ** 31 && module._tierlimit_memory(bytes);
}

/** @param {number} length */
export const doesNotFit = (length) => `there is no memory for a text of ${length} code units`;

/**
 * @param {CoreModule} module
 * @param {string} text
 */
export function checkPoliciesFit(module, { length }) {
  if (fits(module, length)) return;
  const message = doesNotFit(length);
  throw new PolicyError([{ path: '', code: 'out-of-memory', message, line: null, column: null }]);
}

/**
 * @param {CoreReport} raw
 * @param {boolean} isText whether lines and columns mean something to the caller
 * @returns {PolicyReport}
 */
export function readReport({ revision, errors, rejected, warnings }, isText) {
  /** @type {(list: readonly import('./core-types.js').CoreProblem[]) => readonly PolicyProblem[]} */
  const problems = (list) =>
    Object.freeze(
      list.map(({ line, column, ...problem }) =>
        Object.freeze({
          ...problem,
          line: (isText && line) || null,
          column: (isText && column) || null,
        }),
      ),
    );
  if (errors.length > 0) throw new PolicyError(problems(errors));
  return Object.freeze({
    revision,
    rejected: problems(rejected),
    warnings: problems(warnings),
  });
}
