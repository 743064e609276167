/** The options of a command. */

import { parseArgs } from 'node:util';
import { UsageError } from './errors.js';

/**
 * Node's parseArgs, strict, with its complaints cut to their first sentence.
 *
 * @template {import('node:util').ParseArgsConfig} T
 * @param {T} config
 */
export function parseOptions(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error;
    const [sentence] = error.message.split(/\.\s|\n/);
    throw new UsageError(sentence.charAt(0).toLowerCase() + sentence.slice(1));
  }
}

/**
 * An option's value as a whole number.
 *
 * @param {string} option - as it is spelled, for the message
 * @param {string} text
 * @param {number} least
 * @param {number} most
 */
export function wholeNumber(option, text, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} takes a whole number from ${least} to ${most}, not '${text}'`);
}
