/**
 * A server that workers ask, for tests that decide when it answers: at once under `/at-once` only.
 * @module
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

/** @import { ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @import { Server } from './server.js' */

export class Upstream {
  #server = createServer((request, response) => {
    if (request.url === '/at-once') {
      response.end();
      return;
    }
    const taker = this.#takers.shift();
    if (taker === undefined) this.#held.push(response);
    else taker(response);
  });
  /** Requests that nobody has asked for. @type {ServerResponse[]} */
  #held = [];
  /** Those who wait for one. @type {((response: ServerResponse) => void)[]} */
  #takers = [];

  /** Host and port. */
  address = '';

  async start() {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = /** @type {AddressInfo} */ (this.#server.address());
    this.address = `127.0.0.1:${port}`;
  }

  /**
   * Waits for the next request, and gives what it can be answered with.
   * @param {Server} worker that sends it
   * @returns {Promise<ServerResponse>}
   */
  next(worker) {
    const held = this.#held.shift();
    if (held !== undefined) return Promise.resolve(held);
    /** @type {Promise<ServerResponse>} */
    const request = new Promise((resolve) => {
      this.#takers.push(resolve);
    });
    return worker.until(request, 'a request to the server behind it');
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
