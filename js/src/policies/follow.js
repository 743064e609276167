/**
 * Policies that come one after the other.
 * @module
 */

import { check } from '../errors.js';
import { Ledger } from './ledger.js';
import { PolicySource } from './source.js';
import { TimeLimit } from './time-limit.js';

/** @import { PolicyDocument, SourceOptions } from './types.js' */

/**
 * What documents are taken from.
 *
 * @typedef {object} FollowOwnOptions
 * @property {AsyncIterable<PolicyDocument>} documents Whole documents, the newest last.
 */

/**
 * What `follow` may be told.
 *
 * @typedef {SourceOptions & FollowOwnOptions} FollowOptions
 */

/**
 * A source that takes documents as they come. `follow` makes it.
 *
 * @example
 * const source = follow({ limiter, documents });
 * await source.done;
 */
export class FollowedSource extends PolicySource {
  #ledger;
  /** @type {(value: undefined) => void} */
  #stopped = () => {};
  /** What bounds the document that is being put in force. @type {TimeLimit | null} */
  #limit = null;

  /**
   * @internal
   * @param {FollowOptions} options
   * @param {Ledger} ledger
   */
  constructor(options, ledger) {
    super(ledger, options);
    this.#ledger = ledger;
    /** @type {Promise<undefined>} */
    const stopped = new Promise((resolve) => {
      this.#stopped = resolve;
    });
    /**
     * Resolves when no more documents are taken: at the end of the iterator, when it throws, or when the source is closed;
     * `status().state` tells which. It never rejects.
     * @type {Promise<void>}
     */
    this.done = ledger.state === 'open' ? this.#run(options.documents, stopped) : stopped;
    if (ledger.state !== 'open') this.stop();
  }

  /** @internal */
  stop() {
    this.#stopped(undefined);
    this.#limit?.end(new Error('the source is closed'));
  }

  /**
   * @param {FollowOptions['documents']} documents
   * @param {Promise<undefined>} stopped
   */
  async #run(documents, stopped) {
    const ledger = this.#ledger;
    try {
      const iterator = documents[Symbol.asyncIterator]();
      // `for await` would wait for the next document though the source was closed.
      for (;;) {
        const next = await Promise.race([iterator.next(), stopped]);
        if (next === undefined || ledger.state !== 'open') {
          // Not awaited: it may be busy with a document that is never to come.
          Promise.resolve(iterator.return?.()).catch(() => {});
          return;
        }
        if (next.done) {
          ledger.end('ended');
          return;
        }
        await this.#apply(next.value);
      }
    } catch (error) {
      if (ledger.state !== 'open') return;
      ledger.end('failed');
      ledger.unreadable(error);
    }
  }

  /** @param {PolicyDocument} document */
  async #apply(document) {
    const ledger = this.#ledger;
    const limit = new TimeLimit(ledger.timeoutMs, 'to put a document in force');
    this.#limit = limit;
    try {
      await limit.race(ledger.apply(document));
    } catch (error) {
      if (ledger.state === 'open') ledger.refuse(error);
    } finally {
      limit.done();
    }
  }
}

/**
 * Policies of an async iterator: of a message queue, a database's notifications, a generator of one's own. It is asked for
 * the next document when the one before is in force or refused. Where it ends or throws the last good document stays,
 * and no more are taken.
 *
 * A document is in force for decisions that begin after the iterator has given it: there is no lag but the iterator's own.
 *
 * @param {FollowOptions} options `limiter` and `documents` are required
 * @returns {FollowedSource} at work already
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * async function* documents() {
 *   for await (const message of subscription) yield message.text;
 * }
 * const source = follow({ limiter, documents: documents() });
 */
export function follow(options) {
  const { documents } = Object(options);
  const ledger = new Ledger(options, ['documents'], 'documents');
  const isIterable = typeof documents?.[Symbol.asyncIterator] === 'function';
  check(isIterable, 'documents', 'an async iterator of documents', documents);
  return new FollowedSource(options, ledger);
}
