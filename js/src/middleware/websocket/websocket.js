/**
 * Rate limiting for the messages of WebSockets: who is at the other end is found once for each connection.
 * @module
 */

import { checkNames, checkWhole } from '../../arguments.js';
import { address } from '../../clients/address.js';
import { check, checkNumber } from '../../errors.js';
import { checkShared } from '../options.js';
import { Warnings } from '../warnings.js';
import { MessageConnection as Connection } from './connection.js';
import { messageBytes } from './message-size.js';
import { sourceOf } from './upgrade-source.js';

/**
 * @typedef {import('../types.js').RequestSource} RequestSource
 * @typedef {import('./connection.js').MessageConnection} MessageConnection
 * @typedef {import('./types.js').AnySocket} AnySocket
 * @typedef {import('./types.js').EmitterSocket} EmitterSocket
 * @typedef {import('./types.js').MessageCost} MessageCost
 * @typedef {import('./types.js').MessageDecisionAbout} MessageDecisionAbout
 * @typedef {import('./types.js').MessageHandle} MessageHandle
 * @typedef {import('./types.js').MessageLimiter} MessageLimiter
 * @typedef {import('./types.js').MessageRefusal} MessageRefusal
 * @typedef {import('./types.js').MessageVerdict} MessageVerdict
 * @typedef {import('./types.js').TargetSocket} TargetSocket
 */

/**
 * @template Request
 * @typedef {import('./types.js').ConnectionExtractor<Request>} ConnectionExtractor
 */

/**
 * @template [Request=unknown]
 * @typedef {import('./types.js').MessageLimitOptions<Request>} MessageLimitOptions
 */

/**
 * @template Socket
 * @typedef {import('./types.js').MessageListener<Socket>} MessageListener
 */

const names = [
  ...['limiter', 'client', 'noClient', 'tier', 'cost', 'onRefusal', 'closeCode', 'onDecision'],
  ...['shadow', 'onWarning'],
];

/**
 * Limits the messages of connections. What it returns is called once for each of them, with the request that became it,
 * and what the runtime passes on beside that (of Deno's or Bun's `fetch`), or with whatever else `client` knows it by.
 *
 * The client's bucket is that of the limiter: all connections of a client share it, and requests count there too where
 * they are given the same limiter. What is refused costs nothing.
 *
 * @template [Request=unknown]
 * @param {MessageLimitOptions<Request>} options `limiter` is required
 * @returns {(request: Request, about?: unknown) => MessageConnection}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const limit = messageLimit({ limiter, onRefusal: 'close' });
 * server.on('connection', (socket, request) => {
 *   limit(request).wrap(socket, (data) => socket.send(`got ${data}`));
 * });
 */
export function messageLimit(options) {
  checkNames(options, names);
  const { limiter, client = address(), noClient = 'reject', tier, cost = 1 } = options;
  const { onRefusal = 'drop', closeCode, onDecision, shadow = false, onWarning } = options;
  checkShared({ limiter, client, noClient, tier, cost, onDecision, onWarning, shadow });
  check(
    typeof onRefusal === 'function' || ['drop', 'close', 'answer'].includes(onRefusal),
    'onRefusal',
    '"drop", "close", "answer" or a function',
    onRefusal,
  );
  const isCode = closeCode === undefined || mayBeSent(closeCode);
  checkNumber(isCode, 'closeCode', '1000 to 1003, 1007 to 1014 or 3000 to 4999', closeCode);
  const warnings = new Warnings(onWarning);
  /** @type {import('./connection.js').Settings} */
  const settings = {
    ...{ limiter, cost, onRefusal, closeCode, onDecision, shadow },
    warn: (kind, message, cause) => warnings.once(kind, message, cause),
  };

  return function limit(request, about) {
    const source = sourceOf(request, about);
    const found = client(request, source) ?? '';
    const asked = typeof tier === 'function' ? (tier(request, source) ?? null) : (tier ?? null);
    if (found !== '') return new Connection(settings, found, asked, false);
    warnings.noClient('connection', noClient, 'is refused each message');
    return typeof noClient === 'string'
      ? new Connection(settings, null, asked, noClient === 'skip')
      : new Connection(settings, noClient.client, asked, false);
  };
}

/**
 * Codes that a connection may be closed with (RFC 6455, section 7.4, and IANA's registry): the others are never sent.
 * @param {number} code
 */
const mayBeSent = (code) =>
  Number.isInteger(code) &&
  ((code >= 1000 && code <= 1003) ||
    (code >= 1007 && code <= 1014) ||
    (code >= 3000 && code <= 4999));

/**
 * A cost by the size of a message: one token for each so many bytes that it has begun, and at least one.
 *
 * @param {number} bytes for a token, from 1
 * @returns {(message: unknown) => number}
 * @throws {TypeError | RangeError} when it is no whole number from 1
 * @example
 * const limit = messageLimit({ limiter, cost: byBytes(1024) }); // 1 up to 1 KiB, 2 up to 2 KiB
 */
export function byBytes(bytes) {
  checkWhole('bytes', bytes, 1, Number.MAX_SAFE_INTEGER);
  return function byBytes(message) {
    return Math.max(Math.ceil(messageBytes(message) / bytes), 1);
  };
}
