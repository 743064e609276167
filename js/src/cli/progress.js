/** A line on the terminal that says how far a long replay has come. */

import { grouped } from './text.js';

const FIRST_AFTER_MS = 500;
const EVERY_MS = 200;

export class Progress {
  #terminal;
  #totalBytes;
  #now;
  #nextMs;
  #shown = false;

  /**
   * @param {import('node:tty').WriteStream} terminal - nothing is shown where it is none
   * @param {number | null} totalBytes - null when it is not known, as for a pipe
   * @param {() => number} [now] - milliseconds
   */
  constructor(terminal, totalBytes, now = () => performance.now()) {
    this.#terminal = terminal;
    this.#totalBytes = totalBytes;
    this.#now = now;
    this.#nextMs = now() + FIRST_AFTER_MS;
  }

  /** @param {{ lines: number, bytes: number }} read */
  update({ lines, bytes }) {
    if (!this.#terminal.isTTY) return;
    const nowMs = this.#now();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + EVERY_MS;
    const share =
      this.#totalBytes === null ? '' : `, ${Math.floor((bytes / this.#totalBytes) * 100)} %`;
    this.#terminal.write(`\r${grouped(lines)} lines${share}\x1b[K`);
    this.#shown = true;
  }

  /** Wipes the line, so that it does not stand in the result. */
  end() {
    if (this.#shown) this.#terminal.write('\r\x1b[K');
    this.#shown = false;
  }
}
