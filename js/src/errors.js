/**
 * The errors that tierlimit throws, and how they say what is wrong.
 * @module
 */

/** @import { PolicyProblem } from './types.js' */

/**
 * A policy document that was refused whole. The policies that were in force stay in force.
 *
 * @example
 * try {
 *   limiter.setPolicies(text);
 * } catch (error) {
 *   if (error instanceof PolicyError) console.error(`${error.path} line ${error.line}: ${error.message}`);
 * }
 */
export class PolicyError extends Error {
  /**
   * Made by the limiter; of use to others in tests of what they do with it.
   *
   * @param {readonly PolicyProblem[]} problems what was found, at least one
   */
  constructor(problems) {
    const [{ code, path, message, line, column }] = problems;
    const place = line === null ? '' : ` (line ${line}, column ${column})`;
    super(`policies refused: ${path && `${path}: `}${message}${place}`);
    this.name = 'PolicyError';
    /** What the first problem is, in kebab case: `duplicate-member`. `PolicyProblem` lists them. */
    this.code = code;
    /** Where it is, as a JSON Pointer: `/default/capacity`; empty for the document itself. */
    this.path = path;
    /** Its line in the text, from 1; null when the policies were given as an object. */
    this.line = line;
    /** Its column in the line, from 1, in UTF-16 code units; null when the policies were given as an object. */
    this.column = column;
    /** Everything that was found, in the order of the text. */
    this.problems = problems;
  }
}

/**
 * A clock reading earlier than the client's last decision. Nothing was decided and nothing changed. Only a supplied `now`
 * without `onClockBackward: 'hold'` leads to it.
 */
export class ClockError extends Error {
  /**
   * Made by the limiter; of use to others in tests of what they do with it.
   *
   * @param {number} nowMs the reading, in milliseconds
   * @param {number} touchedMs the reading at the client's last decision, in milliseconds
   */
  constructor(nowMs, touchedMs) {
    super(
      `now() is ${nowMs} ms, earlier than the client's last decision, or than full buckets were forgotten or policies ` +
        `changed, at ${touchedMs} ms (see onClockBackward)`,
    );
    this.name = 'ClockError';
    /** Always `'clock'`. */
    this.code = 'clock';
    /** The reading, in milliseconds. */
    this.nowMs = nowMs;
    /** The reading at the client's last decision, in milliseconds, to the microsecond. */
    this.touchedMs = touchedMs;
  }
}

/**
 * Throws unless an argument is as it should be.
 * @internal
 * @param {unknown} isSo
 * @param {string} name
 * @param {string} rule
 * @param {unknown} value
 * @param {ErrorConstructor} [Kind]
 * @returns {asserts isSo}
 */
export function check(isSo, name, rule, value, Kind = TypeError) {
  if (!isSo) throw new Kind(`${name} must be ${rule}; got ${show(value)}`);
}

/**
 * `check` of what is wrong by its type or, where it is a number, by its value.
 * @internal
 * @param {unknown} isSo
 * @param {string} name
 * @param {string} rule
 * @param {unknown} value
 */
export function checkNumber(isSo, name, rule, value) {
  check(isSo, name, rule, value, typeof value === 'number' ? RangeError : TypeError);
}

/**
 * What kind of object a value is: `Map`, `Promise`. By its tag, since what is of another realm (an iframe, a test
 * runner's context) is no instance of this one's classes.
 * @internal
 * @param {unknown} value
 * @returns {string}
 */
export function kindOf(value) {
  try {
    return Object.prototype.toString.call(value).slice(8, -1);
  } catch {
    // The tag may be whatever the caller's code makes of it, even an error.
    return 'Object';
  }
}

/**
 * A value as an error message shows it: short, and told apart from others that print alike.
 * @internal
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (value === Object(value)) {
    const tag = kindOf(value);
    const kind = /^[A-Z][\w. ]{0,40}$/.test(tag) ? tag : 'Object';
    return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
  }
  if (typeof value === 'bigint') return `${value}n`;
  return Object.is(value, -0) ? '-0' : String(value);
}
