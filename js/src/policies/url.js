/**
 * Policies at a URL.
 * @module
 */

import { check } from '../errors.js';
import { Ledger, checkFunction } from './ledger.js';
import { PolledSource } from './poll.js';
import { checkMaxBytes, tooLarge } from './size.js';

/** @import { PollSchedule } from './poll.js' */
/** @import { SourceOptions } from './types.js' */

/**
 * A URL, and how it is asked.
 *
 * @typedef {object} PollUrlOwnOptions
 * @property {string | URL} url An http or https URL. Credentials belong into `headers`.
 * @property {ConstructorParameters<typeof Headers>[0]} [headers] Sent with each request. `Accept` and `If-None-Match` are set
 *   unless they are here.
 * @property {(url: string, init: RequestInit) => Promise<Response>} [fetch] What asks: a service binding, or a `fetch` with
 *   credentials that change. It should heed `init.signal` and send `init.headers`. Default: the runtime's own.
 * @property {number} [maxBytes] A larger document is not read to its end, and not put in force. Default 1,048,576.
 */

/**
 * What `pollUrl` may be told.
 *
 * @typedef {SourceOptions & PollSchedule & PollUrlOwnOptions} PollUrlOptions
 */

/**
 * Policies at a URL, asked for with the ETag of the document that came last: an answer of 304 costs no body, and changes
 * nothing. Any other than 200 and 304, a network error, a document that is too large or late leave the policies as they
 * are, and `status().unreadable` tells since when. Redirects are followed. It is asked from within requests, at most once
 * in `intervalMs` and once at a time, and never by a timer.
 *
 * A change is in force for requests that begin `intervalMs` and one request to the URL after it was made, where there is
 * one to begin with; each isolate asks for itself. A request that calls `refresh` is itself judged by what is in force
 * then, unless it awaits it.
 *
 * @param {PollUrlOptions} options `limiter` and `url` are required
 * @returns {PolledSource}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const source = pollUrl({ limiter, url: 'https://config.example/policies.json', intervalMs: 10_000 });
 */
export function pollUrl(options) {
  const { url: given, headers, maxBytes } = Object(options);
  const url = checkUrl(given);
  const from = `${url.origin}${url.pathname}`;
  const own = ['url', 'headers', 'fetch', 'maxBytes'];
  const ledger = new Ledger(options, [...own, 'intervalMs', 'now'], from);
  checkFunction('fetch', options.fetch);
  const most = checkMaxBytes(maxBytes);
  const fixed = new Headers(headers);
  if (!fixed.has('accept')) fixed.set('accept', 'application/json');

  /** @type {import('./poll.js').PollOwnOptions['read']} */
  const read = async ({ signal, version }) => {
    // Looked up at each request, for others may have put their own in its place by then.
    const { fetch: ask = globalThis.fetch } = options;
    const sent = new Headers(fixed);
    if (typeof version === 'string' && !sent.has('if-none-match'))
      sent.set('if-none-match', version);
    const response = await ask(url.href, { headers: sent, signal });
    if (response.status === 200) {
      const document = await bytesOf(response, from, most);
      return { document, version: response.headers.get('etag') };
    }
    await response.body?.cancel();
    if (response.status === 304 && version !== null) return null;
    throw new Error(`${from} answered with status ${response.status}`);
  };
  return new PolledSource({ ...options, read }, ledger);
}

/**
 * @param {unknown} given
 * @returns {URL}
 */
function checkUrl(given) {
  const rule = 'an http or https URL without credentials';
  let url;
  try {
    url = new URL(/** @type {string} */ (given));
  } catch {
    check(false, 'url', rule, given);
  }
  // A password is not for error messages.
  check(url.username === '' && url.password === '', 'url', rule, `${url.protocol}//…@${url.host}`);
  check(/^https?:$/.test(url.protocol), 'url', rule, given);
  return url;
}

/**
 * The bytes of a body, which is left when there are too many.
 * @param {Response} response
 * @param {string} from
 * @param {number} most
 * @returns {Promise<Uint8Array>}
 */
async function bytesOf(response, from, most) {
  const reader = response.body?.getReader();
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw tooLarge(from, most);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
