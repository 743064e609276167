/**
 * The shapes that cross the API.
 * @module
 */

/**
 * What a tier allows: a bucket of `capacity` tokens that refills at a steady rate. Numbers are taken as the decimals that
 * they are written as, 0.1 as one tenth.
 *
 * @example
 * const policy = { capacity: 100, refill: { tokens: 100, seconds: 60 } };
 *
 * @typedef {object} Policy
 * @property {number} capacity Tokens in a full bucket, at least 1; fractions allowed.
 * @property {number} [refillPerSecond] Tokens per second, at least 0. Either this or `refill` is required.
 * @property {Refill} [refill] Tokens every so many seconds: `{ tokens: 10, seconds: 13 }`.
 * @property {'token-bucket'} [algorithm] How requests are counted. Default, and all there is: a token bucket.
 * @property {'keep'} [onRaise] What a raised capacity does to a balance. Default, and all there is: it stays.
 * @property {'at-next'} [accrual] At which rate time accrues in which the policy changed. Default, and all there is: at
 *   the one that is in force at the client's next decision.
 */

/**
 * A rate as an exact fraction: so many tokens every so many seconds, a steady drip and not all at once.
 *
 * @typedef {object} Refill
 * @property {number} tokens Tokens, at least 0; fractions allowed.
 * @property {number} seconds Seconds, above 0; fractions allowed.
 */

/**
 * A policy document.
 *
 * @example
 * const policies = {
 *   default: { capacity: 5, refillPerSecond: 1 },
 *   tiers: { pro: { capacity: 100, refill: { tokens: 100, seconds: 60 } } },
 *   clients: { acme: 'pro' },
 * };
 *
 * @typedef {object} Policies
 * @property {Policy} default What judges every client without a valid tier of its own.
 * @property {Record<string, Policy>} [tiers] Policies by name. Default: none.
 * @property {Record<string, string>} [clients] The tier of each client, before which `setTier` and a tier given with a
 *   call go. Default: none.
 */

/**
 * Something about a policy document that is not as it should be.
 *
 * @typedef {object} PolicyProblem
 * @property {string} path A JSON Pointer (RFC 6901): `/tiers/free/capacity`; empty for the document itself.
 * @property {string} code In kebab case: `syntax`, `too-deep`, `lone-surrogate`, `number-out-of-range`, `duplicate-member`,
 *   `unknown-member`, `missing-member`, `conflicting-members`, `wrong-type`, `invalid-value`, `not-representable`,
 *   `unsupported`, `unknown-tier`, `rate-rounded`, `out-of-memory`.
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
 * @property {boolean} allowed Whether the request may proceed.
 * @property {number} limit The capacity that judged, in tokens, as configured.
 * @property {number} remaining Whole tokens in the bucket: after this decision, or as it is when peeked at.
 * @property {number | null} retryAfterMs Milliseconds until the same request is admitted if nothing else touches the
 *   bucket: 0 when allowed, null when never.
 * @property {number | null} resetMs Milliseconds until the bucket is full if nothing else touches it; null when never.
 * @property {string | null} tier The tier asked for, by the call, `setTier` or the document, whether or not the document
 *   has it; null when there is none.
 * @property {string} limitName The limit that binds. A policy with one limit calls it `main`.
 * @property {'ok' | 'exhausted' | 'cost-exceeds-capacity' | 'never-refills' | 'table-full'} reason Why it
 *   was allowed (`ok`) or denied: too few tokens for now, a cost above the capacity, too few tokens and a rate of 0, no
 *   room for a new client (with `onFull: 'deny'`).
 * @property {null | 'no-tier' | 'unknown-tier' | 'invalid-tier-policy'} fallback Why the default policy judged; null
 *   when the client's own tier did.
 */

/**
 * What `check` and `peek` of a limiter may be told.
 *
 * @typedef {object} CheckOptions
 * @property {number} [cost] Whole tokens, from 1 to 2^53-1. Default 1.
 * @property {string | null} [tier] The tier for this call alone; otherwise the client's own.
 */

/**
 * What `check` and `peek` of a `Client` may be told.
 *
 * @typedef {object} ClientCheckOptions
 * @property {number} [cost] Whole tokens, from 1 to 2^53-1. Default 1.
 */

/**
 * What a limiter is made with. An option that is undefined has its default; one of another name is a TypeError.
 *
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
 *   the buckets, a row of 32 places at a time. Default true.
 * @property {Uint8Array} [seed] 16 bytes in place of random ones, for tests: whoever knows them can make names that
 *   fall together.
 */

/**
 * What a limiter holds and has done since it was made.
 *
 * @typedef {object} TierLimiterStats
 * @property {number} buckets Buckets remembered.
 * @property {number} maxClients The bound on them.
 * @property {number} bytes Memory that they take, in bytes.
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
