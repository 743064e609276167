/**
 * What is known of the request that became a WebSocket.
 * @module
 */

import { IncomingSource } from '../incoming.js';
import { peerOf } from '../peer.js';

/** @import { RequestSource } from '../types.js' */

/**
 * Of a Request, of what Node's http module calls one, or of whatever else a connection is known by: of that nothing.
 * @param {any} request
 * @param {any} about what the runtime passes on beside the request
 * @returns {RequestSource}
 */
export function sourceOf(request, about) {
  const headers = request?.headers;
  if (typeof headers?.get === 'function') return new UpgradeSource(request, about);
  return headers && request.socket ? new IncomingSource(request) : nothingKnown;
}

/** @implements {RequestSource} */
class UpgradeSource {
  #request;
  #about;

  /**
   * @param {Request} request
   * @param {unknown} about
   */
  constructor(request, about) {
    this.#request = request;
    this.#about = about;
  }

  /** @param {string} name */
  header(name) {
    return this.#request.headers.get(name);
  }

  get address() {
    return peerOf(this.#request, this.#about);
  }

  get method() {
    return this.#request.method;
  }

  get url() {
    return this.#request.url;
  }
}

/** @type {RequestSource} */
const nothingKnown = Object.freeze({ header: () => null, address: null, method: '', url: '' });
