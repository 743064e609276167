/**
 * A file that is watched, by Node's API.
 * @module
 */

import { watch } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';

import { checkWhole } from '../arguments.js';
import { check } from '../errors.js';
import { Ledger } from './ledger.js';
import { checkMaxBytes, tooLarge } from './size.js';
import { PolicySource } from './source.js';
import { TimeLimit } from './time-limit.js';

/** @import { FSWatcher } from 'node:fs' */
/** @import { LookOutcome, SourceOptions } from './types.js' */

const longestTimerMs = 2 ** 31 - 1;

/**
 * A file, and how it is watched.
 *
 * @typedef {object} WatchFileOwnOptions
 * @property {string | URL} path The file, or a symbolic link to it; relative to the working directory as it is now. It need
 *   not be there yet.
 * @property {boolean} [persistent] Whether watching keeps the process alive. Default false.
 * @property {number} [settleMs] How long a change is left alone, in milliseconds, so that a file that is being written is
 *   complete; changes in between are looked at together. Default 50.
 * @property {number | null} [pollMs] The file is read that often too, in milliseconds, for file systems that tell of no
 *   changes (network shares, some containers) and for folders that vanish and return; null: never. Default 5,000.
 * @property {number} [maxBytes] A larger document is not put in force. Default 1,048,576.
 */

/**
 * What `watchFile` may be told.
 *
 * @typedef {SourceOptions & WatchFileOwnOptions} WatchFileOptions
 */

/**
 * A file that is watched. `watchFile` makes it.
 *
 * @example
 * await source.refresh(); // looks now
 */
export class WatchedFile extends PolicySource {
  #ledger;
  #path;
  #persistent;
  #settleMs;
  #maxBytes;
  /** By folder, and which folder that was. @type {Map<string, { watcher: FSWatcher, identity: string }>} */
  #watchers = new Map();
  /** What the file is called in them. @type {Set<string>} */
  #names = new Set();
  /** The look that events have asked for. @type {NodeJS.Timeout | null} */
  #settling = null;
  /** Whether one of them is about the file by its name. */
  #always = false;
  /** @type {NodeJS.Timeout | null} */
  #polling = null;
  /** What the file was when it was read; empty: it was not. */
  #seen = '';
  /** The looks, one after the other. @type {Promise<LookOutcome>} */
  #looks;
  /** @type {TimeLimit | null} */
  #limit = null;

  /**
   * @internal
   * @param {WatchFileOptions} options
   * @param {Ledger} ledger
   * @param {string} path
   */
  constructor(options, ledger, path) {
    const { persistent = false, settleMs = 50, pollMs = 5000, maxBytes } = options;
    check(typeof persistent === 'boolean', 'persistent', 'true or false', persistent);
    checkWhole('settleMs', settleMs, 0, longestTimerMs);
    if (pollMs !== null) checkWhole('pollMs', pollMs, 1, longestTimerMs);
    const most = checkMaxBytes(maxBytes);
    super(ledger, options);
    this.#ledger = ledger;
    this.#path = path;
    this.#persistent = persistent;
    this.#settleMs = settleMs;
    this.#maxBytes = most;
    if (pollMs !== null && ledger.state === 'open') {
      this.#polling = this.#kept(setInterval(() => this.#soon(true), pollMs));
    }
    this.#looks = this.#look(true);
  }

  /**
   * Reads the file now, after whatever look is under way.
   *
   * @returns {Promise<LookOutcome>} It never rejects.
   * @example
   * process.on('SIGHUP', () => source.refresh());
   */
  refresh() {
    this.#looks = this.#looks.then(() => this.#look(true));
    return this.#looks;
  }

  /** @internal */
  stop() {
    if (this.#settling !== null) clearTimeout(this.#settling);
    if (this.#polling !== null) clearInterval(this.#polling);
    for (const folder of this.#watchers.keys()) this.#unwatch(folder);
    this.#limit?.end(new Error('the source is closed'));
  }

  #isClosed() {
    return this.#ledger.state !== 'open';
  }

  /**
   * Keeps the process alive only if that is asked for.
   * @template {{ unref(): unknown }} T
   * @param {T} handle
   */
  #kept(handle) {
    if (!this.#persistent) handle.unref();
    return handle;
  }

  /**
   * Looks when the file has had time to become complete.
   * @param {boolean} always read it, even if it seems to be what it was
   */
  #soon(always) {
    this.#always ||= always;
    this.#settling ??= this.#kept(
      setTimeout(() => {
        const isAlways = this.#always;
        this.#settling = null;
        this.#always = false;
        this.#looks = this.#looks.then(() => this.#look(isAlways));
      }, this.#settleMs),
    );
  }

  /**
   * @param {boolean} always read it, even if it seems to be what it was
   * @returns {Promise<LookOutcome>}
   */
  async #look(always) {
    const ledger = this.#ledger;
    if (this.#isClosed()) return 'closed';
    const limit = new TimeLimit(ledger.timeoutMs, `a look at ${ledger.from}`);
    this.#limit = limit;
    try {
      const bytes = await limit.race(this.#read(always));
      if (this.#isClosed()) return 'closed';
      if (bytes === null) return ledger.unchanged();
      const applied = limit.race(ledger.apply(bytes));
      return await applied.catch((error) => (this.#isClosed() ? 'closed' : ledger.refuse(error)));
    } catch (error) {
      return this.#isClosed() ? 'closed' : ledger.unreadable(error);
    } finally {
      limit.done();
    }
  }

  /**
   * The file's bytes; null when it seems to be what it was.
   * @param {boolean} always
   */
  async #read(always) {
    const seen = this.#seen;
    this.#seen = '';
    // Before it is read, so that no change falls in between.
    await this.#watchFolders();
    const found = await stat(this.#path, { bigint: true });
    // To open a pipe would wait for somebody to write to it.
    if (!found.isFile()) throw new Error(`${this.#path} is not a file`);
    if (!always && seen === signature(found)) {
      this.#seen = seen;
      return null;
    }
    const file = await open(this.#path, 'r');
    try {
      const { size } = await file.stat();
      const bytes = size > this.#maxBytes ? null : await file.readFile();
      if (bytes === null || bytes.length > this.#maxBytes) {
        throw tooLarge(this.#path, this.#maxBytes);
      }
      this.#seen = signature(await file.stat({ bigint: true }));
      return bytes;
    } finally {
      await file.close();
    }
  }

  /** Watches the folder, not the file: editors put another file in its place. Where it is a link there are two folders. */
  async #watchFolders() {
    const target = await realpath(this.#path).catch(() => this.#path);
    const folders = new Set([dirname(this.#path), dirname(target)]);
    const identities = new Map();
    for (const folder of folders) identities.set(folder, await identityOf(folder));
    if (this.#isClosed()) return;
    this.#names = new Set([basename(this.#path), basename(target)]);
    // In the place of a folder that has gone or has another name there may be one of which nothing is told.
    for (const [folder, { identity }] of this.#watchers) {
      if (identities.get(folder) !== identity) this.#unwatch(folder);
    }
    for (const [folder, identity] of identities) {
      if (identity !== '' && !this.#watchers.has(folder)) this.#watch(folder, identity);
    }
  }

  /**
   * @param {string} folder
   * @param {string} identity
   */
  #watch(folder, identity) {
    try {
      const watcher = this.#kept(watch(folder, { persistent: this.#persistent }));
      this.#watchers.set(folder, { watcher, identity });
      watcher.on('change', (_, name) => {
        this.#soon(typeof name !== 'string' || this.#names.has(name));
      });
      watcher.on('error', () => {
        this.#unwatch(folder);
        this.#soon(true);
      });
    } catch (error) {
      // The system may have no more watchers to give. Then it is left to polling.
      if (this.#polling === null) throw error;
    }
  }

  /** @param {string} folder */
  #unwatch(folder) {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}

/** @param {import('node:fs').BigIntStats} stats */
const signature = ({ dev, ino, size, mtimeNs, ctimeNs }) =>
  [dev, ino, size, mtimeNs, ctimeNs].join();

/**
 * Which folder it is, whatever its path; empty: it is not there.
 * @param {string} folder
 */
const identityOf = async (folder) => {
  const stats = await stat(folder, { bigint: true }).catch(() => null);
  return stats === null ? '' : [stats.dev, stats.ino, stats.birthtimeNs].join();
};

/**
 * Policies in a file that is watched: for Node.js, Deno (with permission to read its folder) and Bun. Editors may write into
 * it or put another file in its place; a link to it may be pointed elsewhere; it may vanish and come back. A file that is
 * half written is refused as any other document that is not one (`status().refused`), and a vanished one is told
 * (`status().unreadable`); the last good document stays in force until there is another.
 *
 * A change is in force `settleMs`, and the time that reading takes, after it was made; where the system does not tell of
 * it, up to `pollMs` later.
 *
 * @param {WatchFileOptions} options `limiter` and `path` are required
 * @returns {WatchedFile} at its first look already
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * import { watchFile } from 'tierlimit/policies/file';
 *
 * const source = watchFile({ limiter, path: 'policies.json' });
 */
export function watchFile(options) {
  const { path: given } = Object(options);
  const path = pathOf(given);
  const own = ['path', 'persistent', 'settleMs', 'pollMs', 'maxBytes'];
  return new WatchedFile(options, new Ledger(options, own, path), path);
}

/**
 * @param {unknown} given
 * @returns {string} absolute
 */
function pathOf(given) {
  const isUrl = given instanceof URL && given.protocol === 'file:';
  const isPath = isUrl || (typeof given === 'string' && given !== '' && !given.includes('\0'));
  check(isPath, 'path', 'a path or a file: URL', given instanceof URL ? given.href : given);
  return isUrl ? fileURLToPath(/** @type {URL} */ (given)) : resolve(/** @type {string} */ (given));
}
