/**
 * The shapes of the limiting of messages.
 * @module
 */

/** @import { Decision } from '../../types.js' */

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
 * How messages are limited.
 *
 * @typedef {object} MessageLimitOptions
 * @property {MessageLimiter} limiter What decides.
 * @property {(request: any, source: import('../types.js').RequestSource) => string | null | undefined} [client] Who is at
 *   the other end. Default: the peer's address, IPv6 by its /64.
 * @property {'reject' | 'skip' | { client: string }} [noClient] What becomes of a connection of which that is not known:
 *   each of its messages is refused, it is not limited, or it counts for one client whom all of them share. Default
 *   `'reject'`.
 * @property {string | ((request: any, source: import('../types.js').RequestSource) => string | null | undefined)} [tier]
 *   The tier of all messages of a connection. Default: the client's own, at the time of each message.
 * @property {number | ((message: any, connection: import('./connection.js').Connection) => number)} [cost] Whole tokens; a
 *   message of cost 0 is not limited. Default 1.
 * @property {'drop' | 'close' | 'answer' | ((verdict: MessageVerdict, socket: any) => unknown)} [onRefusal] What is done
 *   with a message that is refused, beside not handing it on: nothing more, the connection is closed, or it is answered
 *   with JSON that says the reason and when to try again. Default `'drop'`.
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
 * @property {string | null} client
 * @property {number} cost
 */

/**
 * What a decision was about.
 *
 * @typedef {object} MessageDecisionAbout
 * @property {string} client
 * @property {string | null} tier The tier that decided.
 * @property {number} cost
 * @property {unknown} message
 * @property {boolean} refused Whether the message is refused; in shadow mode none is.
 */

/**
 * What is used of a socket: of one of the library `ws`, of a `WebSocket` as the web has it (Deno, Workers, Node's own), of
 * Bun's, or of Hono's.
 *
 * @typedef {object} AnySocket
 * @property {(text: string) => unknown} send
 * @property {(code: number, reason: string) => unknown} close
 * @property {number} [bufferedAmount]
 */

export {};
