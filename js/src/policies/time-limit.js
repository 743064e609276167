/**
 * Work that may take only so long.
 * @module
 */

/** A limit of time for one piece of work, which may be ended before. It begins with being made. */
export class TimeLimit {
  #controller = new AbortController();
  #timer;
  #onTimer;

  /**
   * @param {number} ms
   * @param {string} what is late, for the error
   */
  constructor(ms, what) {
    // The runtime's own keeps no process alive. It ends with the request where it was begun in a worker.
    this.#timer = AbortSignal.timeout(ms);
    this.#onTimer = () => this.end(new Error(`${what} took longer than ${ms} ms`));
    this.#timer.addEventListener('abort', this.#onTimer, { once: true });
  }

  get signal() {
    return this.#controller.signal;
  }

  /**
   * Ends the work before its time.
   * @param {unknown} reason
   */
  end(reason) {
    this.done();
    this.#controller.abort(reason);
  }

  /** The work is over. */
  done() {
    this.#timer.removeEventListener('abort', this.#onTimer);
  }

  /**
   * What a promise gives; rejects when the work is ended before that, whether or not it takes notice of the signal.
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  race(work) {
    const { signal } = this.#controller;
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }
}
