// Programs that run until they are told to end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

/** Process groups that are running now, by the process id of their leader. */
const groups = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    groups.forEach(end);
    process.exit(1);
  });
}

/** @param {number} pid */
function end(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
}

/** A program, and what started it and what it started, in a process group of their own. */
export class Program {
  #child;
  #closed;
  #output = '';
  #ended = '';
  /** Told when there is more output, or will be no more. */
  #listeners = new Set();

  /**
   * @param {string} command
   * @param {string[]} args
   * @param {{ cwd: string, env?: Record<string, string | undefined> }} options `env` is added to this process's
   */
  constructor(command, args, { cwd, env = {} }) {
    this.#child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid, stdout, stderr } = this.#child;
    if (pid !== undefined) groups.add(pid);
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.#output += text;
        this.#tell();
      });
    }
    this.#closed = new Promise((resolve) => {
      const over = (/** @type {string} */ how) => {
        this.#ended ||= how;
        if (pid !== undefined) {
          end(pid);
          groups.delete(pid);
        }
        this.#tell();
        resolve(undefined);
      };
      this.#child.once('error', (error) => over(error.message));
      this.#child.once('close', (status, signal) => over(`exit status ${status ?? signal}`));
    });
  }

  /** What it has written so far. */
  get output() {
    return this.#output;
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Waits until the output has it; fails when the program ends before that, or goes on for too long without it.
   * @param {RegExp} pattern
   * @returns {Promise<RegExpExecArray>}
   */
  async says(pattern) {
    const signal = AbortSignal.timeout(120_000);
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found !== null) return found;
      assert.equal(this.#ended, '', `the program ended without ${pattern}:\n${this.#output}`);
      assert.ok(!signal.aborted, `the program does not say ${pattern}:\n${this.#output}`);
      await new Promise((resolve) => {
        const listener = () => {
          this.#listeners.delete(listener);
          signal.removeEventListener('abort', listener);
          resolve(undefined);
        };
        this.#listeners.add(listener);
        signal.addEventListener('abort', listener);
      });
    }
  }

  /** Ends it, wherever it is. */
  async stop() {
    if (this.#child.pid !== undefined && this.#ended === '') end(this.#child.pid);
    await this.#closed;
  }
}
