/**
 * Puts requests in order by time within a window.
 *
 * A server writes a line when the request ends, with a time in whole seconds: neighbours are out of
 * order by as long as requests take. A request is held back until one that is a window newer has
 * been read. One that comes later than that, after a newer one was let go, cannot be put in its
 * place any more: it is let go at once, at the time of the newest one let go, for a limiter's clock
 * does not step back.
 */

/** @import { LoggedRequest } from './request-stream.js' */

/** Holding back is bounded in lines too: of a busier log the oldest second is let go early. */
const MAX_WAITING = 100_000;

export class TimeOrder {
  late = 0;
  maxLateSeconds = 0;

  #windowSeconds;
  #onRequest;
  /** @type {Map<number, string[]>} The clients waiting, by second, each second in the order read. */
  #waiting = new Map();
  /** @type {number[]} The seconds of #waiting, ascending. */
  #seconds = [];
  #waitingCount = 0;
  #letGoSeconds = -Infinity;

  /**
   * @param {number} windowSeconds
   * @param {(client: string, seconds: number) => void} onRequest - called with times that never decrease;
   *   requests of the same second come in the order in which they were added
   */
  constructor(windowSeconds, onRequest) {
    this.#windowSeconds = windowSeconds;
    this.#onRequest = onRequest;
  }

  /** @param {LoggedRequest} request */
  add({ client, seconds }) {
    if (seconds < this.#letGoSeconds) {
      this.late++;
      this.maxLateSeconds = Math.max(this.maxLateSeconds, this.#letGoSeconds - seconds);
      this.#onRequest(client, this.#letGoSeconds);
      return;
    }
    this.#clientsAt(seconds).push(client);
    this.#waitingCount++;
    const newest = /** @type {number} */ (this.#seconds.at(-1));
    while (this.#waitingCount > 0 && this.#seconds[0] <= newest - this.#windowSeconds)
      this.#letGo();
    if (this.#waitingCount > MAX_WAITING) this.#letGo();
  }

  end() {
    while (this.#waitingCount > 0) this.#letGo();
  }

  /** @param {number} seconds */
  #clientsAt(seconds) {
    let clients = this.#waiting.get(seconds);
    if (clients === undefined) {
      clients = [];
      this.#waiting.set(seconds, clients);
      // Nearly always the last place: logs are nearly in order.
      let place = this.#seconds.length;
      while (place > 0 && this.#seconds[place - 1] > seconds) place--;
      this.#seconds.splice(place, 0, seconds);
    }
    return clients;
  }

  /** Lets the oldest second go. */
  #letGo() {
    const seconds = /** @type {number} */ (this.#seconds.shift());
    const clients = /** @type {string[]} */ (this.#waiting.get(seconds));
    this.#waiting.delete(seconds);
    this.#waitingCount -= clients.length;
    this.#letGoSeconds = seconds;
    for (const client of clients) this.#onRequest(client, seconds);
  }
}
