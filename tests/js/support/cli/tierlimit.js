/** Runs the command line tool as npm would: the file that package.json names. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Readable, pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../../', import.meta.url);
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

/** A run that takes longer hangs: it is ended, and has no status. */
export const timeout = 120_000;

/** The path of the tool. */
export const tool = fileURLToPath(new URL(bin.tierlimit, root));

/**
 * @param {string[]} args
 * @param {object} [options]
 * @param {string | Buffer | Iterable<string>} [options.input] what it reads on standard input
 * @param {string[]} [options.node] options of Node itself
 */
export async function tierlimit(args, { input = '', node = [] } = {}) {
  const child = spawn(process.execPath, [...node, tool, ...args], { timeout });
  const pieces = typeof input === 'string' || Buffer.isBuffer(input) ? [input] : input;
  // It may end before it has read everything.
  pipeline(Readable.from(pieces, { objectMode: false }), child.stdin, () => {});
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  return { status, stdout, stderr };
}
