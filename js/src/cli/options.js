/** The options of a command. */

import { parseArgs } from 'node:util';
import { UsageError } from './errors.js';

/**
 * Node's parseArgs, strict, with its complaints cut to their first sentence. A negative number is
 * the value of the option before it, not options of its own: whoever wants the value says what is
 * wrong with it.
 *
 * @template {import('node:util').ParseArgsConfig} T
 * @param {T} config
 */
export function parseOptions(config) {
  try {
    return parseArgs({
      ...config,
      args: withValuesJoined(config.args ?? [], config.options ?? {}),
    });
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error;
    const [sentence] = error.message.split(/\.\s|\n/);
    throw new UsageError(sentence.charAt(0).toLowerCase() + sentence.slice(1));
  }
}

/**
 * The arguments with `--option -1` written as `--option=-1`, which parseArgs does not find ambiguous.
 *
 * @param {readonly string[]} args
 * @param {NonNullable<import('node:util').ParseArgsConfig['options']>} options
 */
function withValuesJoined(args, options) {
  /** @type {string[]} */
  const joined = [];
  for (const arg of args) {
    const last = joined.at(-1) ?? '';
    const takesValue = last.startsWith('--') && options[last.slice(2)]?.type === 'string';
    if (takesValue && /^-\d/.test(arg) && !joined.includes('--'))
      joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
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
