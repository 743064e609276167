/**
 * The shapes that cross the API.
 * @module
 */

/**
 * What a tier allows: a bucket of `capacity` tokens that refills at a steady rate.
 *
 * @typedef {object} Policy
 * @property {number} capacity Tokens in a full bucket, at least 1; fractions allowed.
 * @property {number} [refillPerSecond] Tokens per second, at least 0. This or `refill`.
 * @property {{ tokens: number, seconds: number }} [refill] Tokens (at least 0) every so many seconds (above 0), as an
 *   exact fraction: `{ tokens: 10, seconds: 13 }`.
 * @property {'token-bucket'} [algorithm]
 * @property {'keep'} [onRaise]
 * @property {'at-next'} [accrual]
 */

/**
 * A policy document.
 *
 * @typedef {object} Policies
 * @property {Policy} default What judges every client without a valid tier of its own.
 * @property {Record<string, Policy>} [tiers] By name.
 * @property {Record<string, string>} [clients] The tier of each client.
 */

/**
 * Something about a policy document that is not as it should be.
 *
 * @typedef {object} PolicyProblem
 * @property {string} path A JSON Pointer (RFC 6901): `/tiers/free/capacity`; empty for the document itself.
 * @property {string} code In kebab case: `unknown-member`.
 * @property {string} message One sentence that names the value and the rule.
 * @property {number | null} line From 1; null when the policies were given as an object.
 * @property {number | null} column From 1, in UTF-16 code units; null when the policies were given as an object.
 */

/**
 * What loading a policy document found.
 *
 * @typedef {object} PolicyReport
 * @property {number} revision How many documents have been accepted, this one included.
 * @property {readonly PolicyProblem[]} rejected Tiers that are invalid and clients of tiers that are not there: the
 *   default judges them.
 * @property {readonly PolicyProblem[]} warnings What is in force though not exactly as written (`rate-rounded`).
 */

/**
 * The answer to one request.
 *
 * @typedef {object} Decision
 * @property {boolean} allowed
 * @property {number} limit The capacity that judged, as configured.
 * @property {number} remaining Whole tokens in the bucket: after this decision, or as it is when peeked at.
 * @property {number | null} retryAfterMs Milliseconds until the same request is admitted if nothing else touches the
 *   bucket: 0 when allowed, null when never.
 * @property {number | null} resetMs Milliseconds until the bucket is full; null when never.
 * @property {string | null} tier The tier asked for, whether or not the document has it.
 * @property {string} limitName The limit that binds.
 * @property {'ok' | 'exhausted' | 'cost-exceeds-capacity' | 'never-refills' | 'table-full'} reason
 * @property {null | 'no-tier' | 'unknown-tier' | 'invalid-tier-policy'} fallback Why the default policy judged; null
 *   when the client's own tier did.
 */

/**
 * @typedef {object} CheckOptions
 * @property {number} [cost] Whole tokens, from 1 to 2^53-1. Default 1.
 * @property {string | null} [tier] The tier for this call alone; otherwise the client's own.
 */

/**
 * @typedef {object} ClientCheckOptions
 * @property {number} [cost] Whole tokens, from 1 to 2^53-1. Default 1.
 */

/**
 * @typedef {object} TierLimiterOptions
 * @property {Policies | string} policies The policy document, as an object or as JSON text.
 * @property {() => number} [now] A monotonic clock in milliseconds. Default: the runtime's own, held so that it never
 *   steps back.
 * @property {'throw' | 'hold'} [onClockBackward] What a supplied `now` that steps back does: a ClockError for clients
 *   that were decided later (`'throw'`, the default), or the highest reading so far is used in its place (`'hold'`).
 * @property {number} [maxClients] Buckets remembered at the same time, at least 8; each takes some 57 bytes. Default
 *   262144.
 * @property {number} [maxBytes] Memory for buckets in bytes, at least 1024. Default 48 MiB, which hold some 900,000.
 *   Whichever bound comes first.
 * @property {'evict' | 'deny'} [onFull] What a new client does where there is no room: it takes the place of the bucket
 *   that would be full soonest of a sample of at least eight (`'evict'`, the default; those that never refill go last),
 *   or is refused as `table-full` unless one of them is full (`'deny'`).
 * @property {boolean} [strict] Refuse a document for what would otherwise be listed as rejected. Default false.
 * @property {boolean} [sweep] Forget buckets that are full again while their clients stay away. Decisions look through
 *   the buckets, a row of 32 places at a time.
 *   Default true.
 * @property {Uint8Array} [seed] 16 bytes in place of random ones, for tests: whoever knows them can make names that
 *   fall together.
 */

/**
 * @typedef {object} TierLimiterStats
 * @property {number} buckets Buckets remembered.
 * @property {number} maxClients The bound on them.
 * @property {number} bytes Memory that they take.
 * @property {number} assignments Clients that setTier has put into a tier.
 * @property {number} allowed Requests admitted.
 * @property {number} denied Requests denied.
 * @property {number} evictions Buckets forgotten for want of room before they were full; without sweeping, full ones
 *   too.
 * @property {number} evictedTokens Tokens that their clients have got back by it at the most, by whichever limits may
 *   judge them next.
 * @property {number} swept Buckets forgotten because they were full.
 * @property {number} tableFull Requests denied for want of room; also counted in `denied`.
 * @property {number} clockRegressions Readings that were lower than one before and were held.
 * @property {number} revision How many policy documents have been accepted.
 */

export {};
