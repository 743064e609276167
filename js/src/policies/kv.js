/**
 * Policies in a KV namespace.
 * @module
 */

import { check } from '../errors.js';
import { Ledger } from './ledger.js';
import { PolledSource } from './poll.js';
import { checkMaxBytes, tooLarge } from './size.js';

/** @import { PollSchedule } from './poll.js' */
/** @import { SourceOptions } from './types.js' */

/**
 * What of a KV namespace is used: of a binding of Cloudflare Workers, or of what looks like one.
 *
 * @typedef {object} KvNamespace
 * @property {(key: string, type: 'text') => Promise<string | null>} get The text under a key; null: there is none.
 * @property {(key: string, type: 'text') => Promise<{ value: string | null, metadata: unknown }>} [getWithMetadata] The same
 *   with what was put beside it. Used where there is one.
 */

/**
 * A key of a KV namespace.
 *
 * @typedef {object} PollKvOwnOptions
 * @property {KvNamespace} namespace The binding: `env.POLICIES`.
 * @property {string} key Under which the document is.
 * @property {number} [maxBytes] A larger document is not put in force. Default 1,048,576.
 */

/**
 * What `pollKv` may be told.
 *
 * @typedef {SourceOptions & PollSchedule & PollKvOwnOptions} PollKvOptions
 */

/**
 * Policies under a key of a KV namespace, asked for from within requests, at most once in `intervalMs` and once at a
 * time, and never by a timer. Where the value has metadata with a number called `version`, a document with a lower one
 * than that of the last is dropped: KV may give an older value after a newer one. No value, an error, or a document
 * that is too large or late leave the policies as they are, and `status().unreadable` tells since when.
 *
 * A change is in force when KV gives it here (with Cloudflare up to a minute after it was made, or more), for requests
 * that begin `intervalMs` and one read after that; each isolate asks for itself.
 *
 * @param {PollKvOptions} options `limiter`, `namespace` and `key` are required
 * @returns {PolledSource}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * source ??= pollKv({ limiter, namespace: env.POLICIES, key: 'policies' });
 * source.refresh(ctx);
 */
export function pollKv(options) {
  const { namespace, key, maxBytes } = Object(options);
  const from = `key ${JSON.stringify(key)}`;
  const ledger = new Ledger(options, ['namespace', 'key', 'maxBytes', 'intervalMs', 'now'], from);
  check(
    typeof namespace?.get === 'function',
    'namespace',
    'a KV namespace, which has get()',
    namespace,
  );
  check(typeof key === 'string' && key !== '', 'key', 'a string that is not empty', key);
  const most = checkMaxBytes(maxBytes);
  const hasMetadata = typeof namespace.getWithMetadata === 'function';

  const read = async () => {
    const { value, metadata } = hasMetadata
      ? await namespace.getWithMetadata(key, 'text')
      : { value: await namespace.get(key, 'text'), metadata: null };
    check(value === null || typeof value === 'string', 'what get() gives', 'a text or null', value);
    if (value === null) throw new Error(`there is no ${from}`);
    // Each code unit is at least a byte, and at most three.
    const isLarge =
      value.length > most ||
      (value.length * 3 > most && new TextEncoder().encode(value).length > most);
    if (isLarge) throw tooLarge(from, most);
    const { version } = Object(metadata);
    return { document: value, version: Number.isFinite(version) ? version : null };
  };
  return new PolledSource({ ...options, read }, ledger);
}
