/**
 * The shapes that all adapters share.
 * @module
 */

/** @import { Decision } from '../types.js' */

/**
 * What decides: a `TierLimiter`, or anything else that answers as it does, at once or by a promise.
 *
 * @typedef {object} RequestLimiter
 * @property {(client: string, options?: { cost?: number, tier?: string | null }) => Decision | Promise<Decision>} check
 *   Spends and answers.
 * @property {(client: string, cost?: number, tier?: string | null) => unknown} [refund] Puts tokens back. Required where
 *   anything is refunded: with `counts` and `refundAborted`.
 */

/**
 * What an adapter knows about a request, whatever the framework. It is good for as long as the request is.
 *
 * @typedef {object} RequestSource
 * @property {(name: string) => string | null} header A header field by its name in lower case; of several fields of that
 *   name the values joined by `, `; null where there is none.
 * @property {string | null} address The peer's address, as the runtime tells it; null where it tells none.
 * @property {string} method The request's method: `GET`.
 * @property {string} url As the framework has it: with or without its origin.
 */

/**
 * Finds something in a request, at once: null or undefined where it is not there.
 *
 * @template Request
 * @typedef {(request: Request, source: RequestSource) => string | null | undefined} Extractor
 */

/**
 * Which header fields are sent, and how.
 *
 * @typedef {object} HeaderOptions
 * @property {11 | 12} [version] The revision of draft-ietf-httpapi-ratelimit-headers: 12 says `a`, `w` and `c` in
 *   `RateLimit` where 11 says `r` and `t`. Default 11.
 * @property {string} [name] What the limit of a policy with one limit is called there, in place of `main`: 1 to 64
 *   printable ASCII characters.
 * @property {string} [unit] What tokens are: `qu` of `RateLimit-Policy`, where it is not the default, `requests`.
 * @property {boolean | ((client: string) => string | Uint8Array)} [partitionKey] Whether the fields tell the clients'
 *   buckets apart, by `pk`: true for the first 12 bytes of the SHA-256 of the client's name, or what a function makes of
 *   it. Whoever knows which names there may be finds the name to such a hash. Default false.
 * @property {false | 'delta-seconds' | 'epoch-seconds'} [legacy] Whether `X-RateLimit-Limit`, `-Remaining` and `-Reset`
 *   are sent too, and what the last of them says: in how many seconds the bucket is full, or at which second since 1970.
 *   Default false.
 * @property {() => number} [wallNow] The time of day in milliseconds since 1970, for `epoch-seconds`. Default `Date.now`.
 */

/**
 * What every adapter is told. `Request` is the framework's own request, `Response` its own response.
 *
 * @template Request, Response
 * @typedef {object} RateLimitOptions
 * @property {RequestLimiter} limiter What decides.
 * @property {Extractor<Request>} [client] Who asks. Default: the peer's address, IPv6 by its /64.
 * @property {'reject' | 'skip' | { client: string }} [noClient] What becomes of a request of which that is not known:
 *   it is refused with status 400, it passes unlimited, or it is counted for one client whom all of them share. Default
 *   `'reject'`.
 * @property {string | Extractor<Request>} [tier] The tier of this request. Default: the client's own.
 * @property {number | ((request: Request, source: RequestSource) => number)} [cost] Whole tokens; a request of cost 0 is
 *   not limited. Default 1.
 * @property {(request: Request, source: RequestSource) => boolean} [skip] Whether this request is not limited.
 * @property {'count' | 'free'} [preflight] What becomes of a CORS preflight. Default `'count'`.
 * @property {'all' | 'failed' | 'successful'} [counts] Which requests count: the tokens of others are put back when their
 *   response is known. Default `'all'`.
 * @property {(status: number, response: Response | null) => boolean} [isFailure] Whether that was a failure; the response
 *   is null where the handler threw. Default: a status of 400 or more.
 * @property {boolean} [refundAborted] Whether tokens are put back where the client went away before the response had
 *   ended. Default false.
 * @property {boolean | HeaderOptions} [headers] Which header fields are sent. Default true; false in shadow mode.
 * @property {number} [status] Of a refusal. Default 429.
 * @property {(decision: Decision, request: Request) => string | object} [body] Of a refusal, in place of the problem
 *   document: text, or what is then sent as JSON.
 * @property {string} [contentType] Of that body. Default `text/plain; charset=utf-8`, or `application/json`.
 * @property {(decision: Decision, about: DecisionAbout<Request>) => unknown} [onDecision] Is told each decision. What it
 *   throws is given to `onWarning`.
 * @property {boolean} [shadow] Decide, tell and spend, and refuse nobody. Default false.
 * @property {(message: string, cause?: unknown) => void} [onWarning] Is told once of each kind of trouble that breaks no
 *   request: no client, a refund that failed, an `onDecision` that threw. Default `console.warn`.
 */

/**
 * What a decision was about.
 *
 * @template Request
 * @typedef {object} DecisionAbout
 * @property {string} client Who asks.
 * @property {string | null} tier The tier asked for, by the call, `setTier` or the document.
 * @property {number} cost Tokens that the request costs.
 * @property {Request} request The framework's request.
 * @property {boolean} refused Whether the request is refused; in shadow mode none is.
 */

/**
 * What is sent in place of a response.
 *
 * @typedef {object} Refusal
 * @property {number} status The status of the response.
 * @property {string} contentType Its Content-Type.
 * @property {string} body Its body.
 */

export {};
