/** A policy document from a file, and what the limiter says of it. */

import { createReadStream } from 'node:fs';
import { PolicyError, TierLimiter } from '../index.js';
import { FileError } from './errors.js';
import { displayName, printable } from './text.js';

/** @import { TierLimiterOptions, PolicyProblem } from '../types.js' */

/** A document is decoded, parsed and copied whole, so it has to fit into memory several times. */
const MAX_POLICY_MIB = 64;

/**
 * @typedef {object} Verdict
 * @property {TierLimiter | null} limiter - null when the document is refused whole
 * @property {readonly PolicyProblem[]} problems - why it is refused, or which parts of it are judged by the default
 * @property {readonly PolicyProblem[]} warnings
 */

/**
 * @param {string} path - `-` is standard input
 * @returns {Promise<Buffer>}
 */
export async function readPolicies(path) {
  /** @type {Buffer[]} */
  const chunks = [];
  let bytes = 0;
  try {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) {
      bytes += chunk.length;
      if (bytes > MAX_POLICY_MIB * 1024 * 1024) {
        throw new Error(`larger than ${MAX_POLICY_MIB} MiB, the most a policy document may have`);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw new FileError(displayName(path), error);
  }
  return Buffer.concat(chunks);
}

/**
 * Makes a limiter of the document, or says why that is refused.
 *
 * @param {Buffer} bytes
 * @param {Omit<TierLimiterOptions, 'policies'>} options
 * @returns {Verdict}
 */
export function loadPolicies(bytes, options) {
  const text = bytes.toString('utf8');
  const invalid = firstInvalidByte(bytes, text);
  if (invalid !== null) return { limiter: null, problems: [invalid], warnings: [] };
  try {
    const limiter = new TierLimiter({ ...options, policies: text });
    return { limiter, problems: limiter.rejected, warnings: limiter.warnings };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { limiter: null, problems: error.problems, warnings: [] };
  }
}

/**
 * A problem in one line, in the form that editors jump to: `file:line:column: error: …`.
 *
 * @param {string} path
 * @param {'error' | 'warning'} severity
 * @param {PolicyProblem} problem
 */
export function describe(path, severity, { line, column, path: pointer, message, code }) {
  const position = line === null ? '' : `:${line}:${column}`;
  const where = pointer === '' ? '' : `${printable(pointer)}: `;
  return `${displayName(path)}${position}: ${severity}: ${where}${printable(message)} [${code}]`;
}

/**
 * The limiter takes text, in which decoding has put U+FFFD for every byte that is not UTF-8.
 *
 * @param {Buffer} bytes
 * @param {string} text - `bytes` decoded
 * @returns {PolicyProblem | null}
 */
function firstInvalidByte(bytes, text) {
  const replacement = '\ufffd';
  let offset = 0;
  let index = 0;
  for (;;) {
    const next = text.indexOf(replacement, index);
    if (next === -1) return null;
    // Up to its first invalid byte a text takes as many bytes again as it was read from.
    offset += Buffer.byteLength(text.slice(index, next));
    if (!bytes.subarray(offset, offset + 3).equals(Buffer.from(replacement))) {
      const lines = text.slice(0, next).split('\n');
      const byte = bytes[offset].toString(16).padStart(2, '0');
      return {
        path: '',
        code: 'invalid-utf8',
        message: `byte ${byte} (hexadecimal) at offset ${offset} is not UTF-8`,
        line: lines.length,
        column: lines[lines.length - 1].length + 1,
      };
    }
    offset += 3;
    index = next + 1;
  }
}
