// Running other programs.
import { spawn } from 'node:child_process';
import { accessSync, constants as access, statSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

import { root } from './project.js';

/**
 * What became of a program: `output` holds what it wrote to stdout and stderr, in order.
 * @typedef {{ status: number, output: string }} Outcome
 */

/** Process groups that are running now, by the process id of their leader. */
const groups = new Set();

const signals = /** @type {const} */ (['SIGINT', 'SIGTERM']);

/** @param {NodeJS.Signals} signal */
function interrupt(signal) {
  for (const pid of groups) killGroup(pid, signal);
  process.exit(128 + constants.signals[signal]);
}

/**
 * Runs a program and collects its output. It gets no input, and a process group of its own, so that what it started
 * ends with it when its time is over or when this process is interrupted.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, seconds?: number }} [options] `env` is added to
 *   this process's environment; after `seconds` the program is ended
 * @returns {Promise<Outcome>} a program that cannot be started has status 127
 */
export function run(command, args, { cwd = root, env = {}, seconds = 3600 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    /** @type {Buffer[]} */
    const chunks = [];
    const output = () => Buffer.concat(chunks).toString();
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.once('error', (error) => resolve({ status: 127, output: `${error.message}\n` }));
    const { pid } = child;
    if (pid === undefined) return;

    if (groups.size === 0) for (const signal of signals) process.on(signal, interrupt);
    groups.add(pid);
    const timer = setTimeout(() => {
      chunks.push(Buffer.from(`\nended: it ran for longer than ${seconds} seconds\n`));
      killGroup(pid, 'SIGKILL');
    }, seconds * 1000);
    // What the program left running must not outlive it, and would keep its pipes open.
    child.once('exit', () => killGroup(pid, 'SIGKILL'));
    child.once('close', (code) => {
      clearTimeout(timer);
      groups.delete(pid);
      if (groups.size === 0) for (const signal of signals) process.off(signal, interrupt);
      resolve({ status: code ?? 1, output: output() });
    });
  });
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function killGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of the group is left.
  }
}

/**
 * The path of a program on PATH, or null.
 * @param {string} name
 */
export function which(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, access.X_OK);
      if (folder && statSync(path).isFile()) return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
