// Steps of the set-up and the build: each says its name and its time, and is left out while it is up to date.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { at } from './project.js';

/** What stands in the way of a step, in words for whoever runs it: shown without a stack. */
export class StepError extends Error {}

/**
 * Carries out a step unless its last success had the same digest and its results are still there.
 * Progress goes to stderr: stdout belongs to the results (`npm pack --json` runs these steps too).
 * @param {string} name
 * @param {() => Promise<void>} action throws what went wrong
 * @param {{ digest?: string, results?: string[] }} [options] without a digest the step is carried out every time
 */
export async function step(name, action, { digest, results = [] } = {}) {
  const stamp = at('.build/stamps', name.replace(/[^\w.-]+/g, '-'));
  const upToDate =
    digest !== undefined &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === digest &&
    results.every((path) => existsSync(at(path)));
  if (upToDate) {
    process.stderr.write(`${name}: up to date\n`);
    return;
  }

  process.stderr.write(`${name} ... `);
  rmSync(stamp, { force: true });
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    await action();
  } catch (error) {
    process.stderr.write(`failed after ${seconds()}\n`);
    throw error;
  }
  if (digest !== undefined) {
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, digest);
  }
  process.stderr.write(`${seconds()}\n`);
}

/**
 * The frame of every command: one at a time in this clone while `prepare` runs, errors as text, exit status 1.
 * @template T
 * @param {() => Promise<T>} prepare
 * @returns {Promise<T>} does not return when `prepare` throws
 */
export async function prepared(prepare) {
  try {
    return await alone(prepare);
  } catch (error) {
    const text = error instanceof StepError ? error.message : error.stack;
    process.stderr.write(`\n${text}\n`);
    process.exit(1);
  }
}

/**
 * Two set-ups in one clone would tread on each other: `npm start` beside `npm test`, or a test that runs `npm pack`.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function alone(action) {
  const lock = at('.build/lock');
  mkdirSync(dirname(lock), { recursive: true });
  for (let told = false; ;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = lockOwner(lock);
    if (owner === null) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!told) {
      process.stderr.write(
        `waiting for process ${owner}, which is setting up this clone (if it is not: delete ${lock})\n`,
      );
    }
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    return await action();
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * The process that holds the lock; null when it is gone.
 * @param {string} lock
 */
function lockOwner(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // EPERM: a process of another user, and so alive.
    return error.code === 'EPERM' ? 'of another user' : null;
  }
}
