/** What a command has to say, on standard output. */

import { fstatSync, writeFileSync } from 'node:fs';
import { FileError } from './errors.js';

/**
 * @param {string} text - without its last line end
 */
export function print(text) {
  const { fd } = process.stdout;
  try {
    // Node's stream of a plain file takes what a full disk has cut short for written.
    if (fstatSync(fd).isFile()) writeFileSync(fd, `${text}\n`);
    else process.stdout.write(`${text}\n`);
  } catch (error) {
    throw new FileError('<stdout>', error);
  }
}
