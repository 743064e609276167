/**
 * The errors that tierlimit throws beside TypeError and RangeError.
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
  /** @param {readonly PolicyProblem[]} problems at least one */
  constructor(problems) {
    const [first] = problems;
    const place = first.line === null ? '' : ` (line ${first.line}, column ${first.column})`;
    super(
      `policies refused: ${first.path === '' ? '' : `${first.path}: `}${first.message}${place}`,
    );
    this.name = 'PolicyError';
    /** What the first problem is, in kebab case: `duplicate-member`. */
    this.code = first.code;
    /** Where it is, as a JSON Pointer: `/default/capacity`; empty for the document itself. */
    this.path = first.path;
    /** Its line in the text, from 1; null when the policies were given as an object. */
    this.line = first.line;
    /** Its column in the line, from 1, in UTF-16 code units; null when the policies were given as an object. */
    this.column = first.column;
    /** Everything that was found. */
    this.problems = problems;
  }
}

/** A clock reading earlier than the client's last decision. Nothing was decided and nothing changed. */
export class ClockError extends Error {
  /**
   * @param {number} nowMs the reading
   * @param {number} touchedMs the reading at the client's last decision
   */
  constructor(nowMs, touchedMs) {
    super(
      `now() is ${nowMs} ms, earlier than the client's last decision (or, without a bucket, than full buckets were ` +
        `forgotten) at ${touchedMs} ms; ` +
        `time must not step back (onClockBackward: 'hold' keeps the highest reading instead)`,
    );
    this.name = 'ClockError';
    this.code = 'clock';
    /** The reading, in milliseconds. */
    this.nowMs = nowMs;
    /** The reading at the client's last decision, in milliseconds, to the microsecond. */
    this.touchedMs = touchedMs;
  }
}

/**
 * A value as an error message shows it: short, and told apart from others that print alike.
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
    case 'bigint':
      return `${value}n`;
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'function':
      return 'a function';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'an array' : 'an object';
    default:
      return String(value);
  }
}
