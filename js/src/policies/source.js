/**
 * What all policy sources have in common.
 * @module
 */

/// <reference lib="esnext.disposable" preserve="true" />

/** @import { Ledger } from './ledger.js' */
/** @import { SourceOptions, SourceStatus } from './types.js' */

/**
 * Some runtimes know no `using`, and have nothing of that name.
 * @type {typeof Symbol.dispose}
 */
const disposeSymbol = Symbol.dispose ?? Symbol('dispose');

/**
 * Where new policies come from while a service runs. Documents are put in force whole or not at all, the last good one
 * stays, and the same text is not put in force twice.
 *
 * @example
 * const { refused, unreadable } = source.status();
 * if (refused) console.warn(`refused since ${new Date(refused.sinceMs).toISOString()}: ${refused.error.message}`);
 */
export class PolicySource {
  #ledger;
  #signal;
  #onAbort = () => this.close();

  /**
   * @internal
   * @param {Ledger} ledger
   * @param {SourceOptions} options
   */
  constructor(ledger, { signal }) {
    this.#ledger = ledger;
    this.#signal = signal;
    if (signal?.aborted) ledger.end('closed');
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Where the source stands: what is in force, since when, and what was refused.
   *
   * @returns {SourceStatus} as it is now; it does not change afterwards
   * @example
   * app.get('/health', (request, response) => response.json(source.status()));
   */
  status() {
    return this.#ledger.status();
  }

  /**
   * Ends the source: nothing is read and no document is put in force any more. The policies stay as they are. Closing
   * again does nothing.
   *
   * @returns {void}
   * @example
   * source.close();
   */
  close() {
    if (this.#ledger.state !== 'open') return;
    this.#ledger.end('closed');
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.stop();
  }

  /**
   * The same as `close`, for `using`. In a runtime without `Symbol.dispose` it is not there.
   *
   * @returns {void}
   * @example
   * using source = watchFile({ limiter, path: 'policies.json' });
   */
  [disposeSymbol]() {
    this.close();
  }

  /**
   * Ends what is under way.
   * @internal
   */
  stop() {}
}
