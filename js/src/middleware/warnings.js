/**
 * Troubles that break nothing, of which somebody should know.
 * @module
 */

import { show } from '../errors.js';

/**
 * Tells once of each kind.
 * @internal
 */
export class Warnings {
  #onWarning;
  #told = new Set();

  /** @param {(message: string, cause?: unknown) => void} [onWarning] default: `console.warn` */
  constructor(onWarning = warn) {
    this.#onWarning = onWarning;
  }

  /**
   * @param {string} kind
   * @param {string} message
   * @param {unknown} [cause]
   */
  once(kind, message, cause) {
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#onWarning(`tierlimit: ${message}`, cause);
  }

  /**
   * Who asks is not known.
   * @param {'request' | 'connection'} thing
   * @param {'reject' | 'skip' | { client: string }} noClient
   * @param {string} refused what becomes of it by `'reject'`
   */
  noClient(thing, noClient, refused) {
    let outcome = `counts for ${show(Object(noClient).client)}, whom all such ${thing}s share`;
    if (noClient === 'reject') outcome = refused;
    if (noClient === 'skip') outcome = 'passes unlimited';
    this.once('client', `a ${thing} of which the client is not known ${outcome} (see noClient)`);
  }
}

/**
 * @param {string} message
 * @param {unknown} [cause]
 */
const warn = (message, cause) =>
  console.warn(...(cause === undefined ? [message] : [message, cause]));
