#!/usr/bin/env node
/** The command line tool `tierlimit`. */

import { readFileSync } from 'node:fs';
import { check } from './check.js';
import { FileError, UsageError } from './errors.js';
import { HELP } from './help.js';
import { print } from './output.js';
import { simulate } from './simulate.js';
import { printable } from './text.js';

const COMMANDS = new Map([
  ['check', check],
  ['simulate', simulate],
]);

const streams = { '<stdout>': process.stdout, '<stderr>': process.stderr };
for (const [name, stream] of Object.entries(streams)) {
  stream.on('error', (error) => {
    // A reader that has seen enough, such as head, closes the pipe: no reason to complain.
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EPIPE') process.exit();
    complain(new FileError(name, error));
    process.exit(2);
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
    if (name === '--version' || name === '-V') return say(version());
    if (name === '--help' || name === '-h') return say(helpOf(undefined));
    if (name === 'help') return say(helpOf(rest[0]));
    if (name === undefined) throw new UsageError('a command is needed');
    const command = COMMANDS.get(name);
    if (command === undefined) {
      throw new UsageError(`unknown ${name.startsWith('-') ? 'option' : 'command'} '${name}'`);
    }
    if (rest.includes('--help') || rest.includes('-h')) return say(helpOf(name));
    return await command(rest);
  } catch (error) {
    complain(error, name);
    return 2;
  }
}

/**
 * Says on standard error, in one line, why a command has ended.
 *
 * @param {unknown} error
 * @param {string} [command]
 */
function complain(error, command = '') {
  // It may hold whatever stands on the command line.
  console.error(`tierlimit: ${printable(complaint(error, command))}`);
}

/**
 * @param {unknown} error
 * @param {string} command
 */
function complaint(error, command) {
  if (error instanceof UsageError) {
    return `${error.message} (see tierlimit ${COMMANDS.has(command) ? `${command} ` : ''}--help)`;
  }
  return error instanceof FileError ? error.message : `internal error: ${error}`;
}

/** @param {string} text */
function say(text) {
  print(text);
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
