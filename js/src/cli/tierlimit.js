#!/usr/bin/env node
/** The command line tool `tierlimit`. */

import { readFileSync } from 'node:fs';
import { check } from './check.js';
import { ReadError, UsageError } from './errors.js';
import { HELP } from './help.js';
import { simulate } from './simulate.js';

const COMMANDS = new Map([
  ['check', check],
  ['simulate', simulate],
]);

// A reader that has seen enough, such as head, closes the pipe: no reason for a trace.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error;
    process.exit();
  });
}

process.exitCode = await main(process.argv.slice(2));

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit status
 */
async function main(args) {
  const [name, ...rest] = args;
  try {
    if (name === '--version' || name === '-V') return print(version());
    if (name === '--help' || name === '-h') return print(helpOf(undefined));
    if (name === 'help') return print(helpOf(rest[0]));
    if (name === undefined) throw new UsageError('a command is needed');
    const command = COMMANDS.get(name);
    if (command === undefined) {
      throw new UsageError(`unknown ${name.startsWith('-') ? 'option' : 'command'} '${name}'`);
    }
    if (rest.includes('--help') || rest.includes('-h')) return print(helpOf(name));
    return await command(rest);
  } catch (error) {
    console.error(`tierlimit: ${complaint(error, name)}`);
    return 2;
  }
}

/**
 * @param {unknown} error
 * @param {string} command
 */
function complaint(error, command) {
  if (error instanceof UsageError) {
    return `${error.message} (see tierlimit ${COMMANDS.has(command) ? `${command} ` : ''}--help)`;
  }
  return error instanceof ReadError ? error.message : `internal error: ${error}`;
}

/** @param {string} text */
function print(text) {
  process.stdout.write(`${text}\n`);
  return 0;
}

/** @param {string | undefined} command */
function helpOf(command) {
  const text = HELP.get(command);
  if (text === undefined) throw new UsageError(`unknown command '${command}'`);
  return text;
}

function version() {
  const file = new URL('../../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
