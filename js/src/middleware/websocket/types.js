/**
 * The shapes of the limiting of messages.
 * @module
 */

/** @import { Decision } from '../../types.js' */
/** @import { RequestSource } from '../types.js' */
/** @import { MessageConnection } from './connection.js' */

/**
 * What decides: a `TierLimiter`, or anything else that answers as it does, at once or by a promise.
 *
 * @typedef {object} MessageLimiter
 * @property {(client: string, options?: { cost?: number, tier?: string | null }) => Decision | Promise<Decision>} check
 *   Spends and answers.
 * @property {(id: string, tier?: string | null) => MessageHandle} [client] A handle of one client: each connection has
 *   one, where the limiter has them.
 */

/**
 * A client of a limiter: see `TierLimiter.client`.
 *
 * @typedef {object} MessageHandle
 * @property {(options?: { cost?: number }) => Decision | Promise<Decision>} check Spends and answers.
 */

/**
 * Finds something about who is at the other end, at once: null or undefined where it is not there.
 *
 * @template Request
 * @typedef {(request: Request, source: RequestSource) => string | null | undefined} ConnectionExtractor
 */

/**
 * The cost of a message, in whole tokens.
 *
 * @typedef {{ of(message: unknown, connection: MessageConnection): number }['of']} MessageCost
 */

/**
 * Does what is done where a message is refused.
 *
 * @typedef {{ of(verdict: MessageVerdict, socket: AnySocket): unknown }['of']} MessageRefusal
 */

/**
 * How messages are limited. `Request` is what a connection is known by.
 *
 * @template [Request=unknown]
 * @typedef {object} MessageLimitOptions
 * @property {MessageLimiter} limiter What decides.
 * @property {ConnectionExtractor<Request>} [client] Who is at the other end. Default: the peer's address, IPv6 by its /64.
 * @property {'reject' | 'skip' | { client: string }} [noClient] What becomes of a connection of which that is not known:
 *   each of its messages is refused, it is not limited, or it counts for one client whom all of them share. Default
 *   `'reject'`.
 * @property {string | ConnectionExtractor<Request>} [tier] The tier of all messages of a connection. Default: the client's
 *   own, at the time of each message.
 * @property {number | MessageCost} [cost] Whole tokens; a message of cost 0 is not limited. Default 1.
 * @property {'drop' | 'close' | 'answer' | MessageRefusal} [onRefusal] What is done where a message is refused, beside not
 *   handing it on: nothing more, the connection is closed, or it is answered with JSON that says the reason and when to
 *   try again. Default `'drop'`.
 * @property {number} [closeCode] With what a connection is closed. Default: 1013 (try again later) where waiting helps,
 *   1008 (policy violation) where it never does.
 * @property {(decision: Decision, about: MessageDecisionAbout) => unknown} [onDecision] Is told each decision. What it
 *   throws is given to `onWarning`.
 * @property {boolean} [shadow] Decide, tell and spend, and refuse nothing. Default false.
 * @property {(message: string, cause?: unknown) => void} [onWarning] Is told once of each kind of trouble: no client, an
 *   `onDecision` that threw, a limiter that threw. Default `console.warn`.
 */

/**
 * What was decided about one message.
 *
 * @typedef {object} MessageVerdict
 * @property {boolean} allowed Whether the message may be handed on: in shadow mode each may.
 * @property {Decision | null} decision Null where nothing was asked: the message is not limited, its client is not known,
 *   or too many messages of the connection wait for a decision.
 * @property {'denied' | 'no-client' | 'waiting' | null} reason Why it is refused: by the limits, because nobody knows whose
 *   it is, or because too many wait. Null where it is allowed.
 * @property {number | null} retryAfterMs How long to wait until it would be admitted: 0 where it is allowed, null where
 *   that is never or not known.
 * @property {string | null} client Who sent it; null where that is not known.
 * @property {number} cost What it costs, in whole tokens.
 */

/**
 * What a decision was about.
 *
 * @typedef {object} MessageDecisionAbout
 * @property {string} client Who sent it.
 * @property {string | null} tier The tier that decided.
 * @property {number} cost What it costs, in whole tokens.
 * @property {unknown} message The message, as it was given to `check`.
 * @property {boolean} refused Whether the message is refused; in shadow mode none is.
 */

/**
 * What is used of a socket, of whatever kind, to tell of a refusal.
 *
 * @typedef {object} AnySocket
 * @property {(text: string) => unknown} send Sends a message.
 * @property {(code: number, reason: string) => unknown} close Closes the connection.
 * @property {number} [bufferedAmount] Bytes that wait to be sent.
 */

/**
 * How a listener is put on a socket and taken off again.
 *
 * @typedef {object} EmitterListening
 * @property {Function} on Adds a listener.
 * @property {Function} off Takes a listener off.
 */

/**
 * How a listener is put on a socket and taken off again.
 *
 * @typedef {object} TargetListening
 * @property {Function} addEventListener Adds a listener.
 * @property {Function} removeEventListener Takes a listener off.
 */

/**
 * A socket of the library `ws`, or of another that has its listeners as Node's EventEmitter has.
 *
 * @typedef {AnySocket & EmitterListening} EmitterSocket
 */

/**
 * A `WebSocket` as the web has it: of Deno, of Workers, of Node itself.
 *
 * @typedef {AnySocket & TargetListening} TargetSocket
 */

/**
 * What is called with each message that is admitted: as listeners of that socket are.
 *
 * @template Socket
 * @typedef {Socket extends EmitterSocket
 *   ? { of(data: unknown, isBinary: boolean): unknown }['of']
 *   : { of(event: { readonly data: unknown }): unknown }['of']} MessageListener
 */

export {};
