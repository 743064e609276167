/**
 * Requests of Node's http module, as the adapters whose frameworks are built on it see them.
 * @module
 */

/** @import { RequestSource } from './types.js' */

/**
 * What is used of an `IncomingMessage`, or of an `Http2ServerRequest`.
 *
 * @typedef {object} Incoming
 * @property {string | undefined} [method] In upper case.
 * @property {string | undefined} [url] As it came, mostly without an origin.
 * @property {Record<string, string | string[] | undefined>} headers By their names in lower case.
 * @property {{ readonly remoteAddress?: string | undefined }} socket The connection, which knows its peer.
 */

/**
 * What is known of such a request.
 * @implements {RequestSource}
 */
export class IncomingSource {
  /** @protected */
  incoming;

  /** @param {Incoming} incoming */
  constructor(incoming) {
    this.incoming = incoming;
  }

  /** @param {string} name */
  header(name) {
    const { headers } = this.incoming;
    // What every object has, as `constructor`, is neither.
    const value = headers[name] ?? headers[name.toLowerCase()];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : null;
  }

  get address() {
    return this.incoming.socket.remoteAddress ?? null;
  }

  get method() {
    return this.incoming.method ?? '';
  }

  get url() {
    return this.incoming.url ?? '';
  }
}
