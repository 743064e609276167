/**
 * Policies on their way into the core, and what it says of them.
 * @module
 */

import { PolicyError, show } from './errors.js';

/** @import { Core } from './core.js' */
/** @import { PolicyProblem, PolicyReport } from './types.js' */

/**
 * @param {unknown} policies
 * @returns {{ text: string, isText: boolean }}
 */
export function policyText(policies) {
  if (typeof policies === 'string') return { text: policies, isText: true };
  if (typeof policies !== 'object' || policies === null) {
    throw new TypeError(`policies must be an object or JSON text; got ${show(policies)}`);
  }
  // JSON would make something of these, or nothing: of bytes a list of numbers, of a promise an empty document.
  if (!kindsOfJson.has(kindOf(policies))) {
    throw new TypeError(`policies must be a plain object or JSON text; got a ${kindOf(policies)}`);
  }
  let text;
  try {
    text = JSON.stringify(policies, asItIs);
  } catch (error) {
    const why = error instanceof Error ? error.message : show(error);
    throw new TypeError(`policies cannot be written as JSON: ${why}`, { cause: error });
  }
  if (text === undefined) throw new TypeError('policies cannot be written as JSON');
  return { text, isText: false };
}

/** @param {object} value */
const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/** What JSON writes as it is. */
const kindsOfJson = new Set(['Object', 'Array', 'String', 'Number', 'Boolean']);

/**
 * Refuses what JSON would silently leave out or write as something else: a map or a promise as an empty object, NaN
 * as null.
 * @param {string} name
 * @param {unknown} value
 */
function asItIs(name, value) {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`${show(name)} is ${show(value)}; JSON has none`);
  }
  if (typeof value === 'object' && value !== null && !kindsOfJson.has(kindOf(value))) {
    throw new TypeError(`${show(name)} is a ${kindOf(value)}; it must be a plain object`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`${show(name)} is ${value}; a number must be finite`);
  }
  return value;
}

/**
 * Whether there is memory for embind's copies of a text: embind does not ask.
 * @param {Core} core
 * @param {number} length in code units
 */
export function fits(core, length) {
  // Two copies of up to three bytes a code unit, and what is small.
  const bytes = length * 7 + 2 ** 16;
  return bytes < 2 ** 31 && core.module._tierlimit_memory(bytes);
}

/** @param {number} length */
export const doesNotFit = (length) =>
  `a text of ${length} code units does not fit the memory that can be had`;

/**
 * @param {Core} core
 * @param {string} text
 */
export function checkPoliciesFit(core, { length }) {
  if (fits(core, length)) return;
  const message = doesNotFit(length);
  throw new PolicyError([{ path: '', code: 'out-of-memory', message, line: null, column: null }]);
}

/**
 * @param {import('./core.js').RawReport} raw
 * @param {boolean} isText whether lines and columns mean something to the caller
 * @returns {PolicyReport}
 */
export function readReport(raw, isText) {
  const problems = (/** @type {PolicyProblem[]} */ list) =>
    Object.freeze(
      list.map(({ path, code, message, line, column }) =>
        Object.freeze({
          path,
          code,
          message,
          line: isText && line ? line : null,
          column: isText && column ? column : null,
        }),
      ),
    );
  if (raw.errors.length > 0) throw new PolicyError(problems(raw.errors));
  return Object.freeze({
    revision: raw.revision,
    rejected: problems(raw.rejected),
    warnings: problems(raw.warnings),
  });
}
