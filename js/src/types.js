/**
 * The shapes that cross the API.
 * @module
 */

/**
 * A bucket of `capacity` tokens that refills at a steady rate. Numbers are taken as the decimals that they are written
 * as, 0.1 as one tenth.
 *
 * @example
 * const policy = { capacity: 100, refill: { tokens: 100, seconds: 60 }, onRaise: 'fill' };
 *
 * @typedef {object} TokenBucket
 * @property {number} capacity Tokens in a full bucket, at least 1; fractions allowed.
 * @property {number} [refillPerSecond] Tokens per second, at least 0. Either this or `refill` is required.
 * @property {Refill} [refill] Tokens every so many seconds: `{ tokens: 10, seconds: 13 }`.
 * @property {'token-bucket'} [algorithm] How requests are counted. Default: a token bucket.
 * @property {OnRaise} [onRaise] What a raised capacity does to a balance. Default: it stays.
 * @property {Accrual} [accrual] At which rate time accrues in which the policy changed. Default: at the one that is in
 *   force at the client's next decision.
 */

/**
 * At most so many tokens in a window. `sliding-window`: in any window of that length, [t, t + W), exactly; it remembers
 * each charge, 8 bytes for each microsecond that had one. `fixed-window`: in windows one after the other, of which one
 * begins with the client's first charge after the last one ended; up to twice as many may then be spent within W.
 *
 * @example
 * const policy = { algorithm: 'sliding-window', limit: 100, windowSeconds: 60 };
 *
 * @typedef {object} Window
 * @property {'sliding-window' | 'fixed-window'} algorithm How requests are counted. Required, unless it stands beside
 *   `limits`.
 * @property {number} limit Whole tokens: 1 to 10,000 of a sliding window, 1 to 2^53-1 of a fixed one.
 * @property {number} windowSeconds The window's length W in seconds: whole microseconds, above 0, at most 5e8.
 */

/**
 * What a raised capacity does to the balance of a token bucket: once for each raise of it, at the client's next decision
 * by the same tier. `keep`: the balance stays. `fill`: the bucket is full. `proportional`: the balance grows as the
 * capacity does, rounded down. `add`: what was spent stays spent, and the balance grows by as much as the capacity. A
 * lowered capacity clamps the balance under all four, and rounding never creates a token.
 *
 * @typedef {'keep' | 'fill' | 'proportional' | 'add'} OnRaise
 */

/**
 * At which rate time accrues in which the policy changed. `at-next`: all of it at the rate in force at the client's next
 * decision. `prorated`: each part of it at the rate that was in force then, as if the bucket had been looked at whenever
 * a document came into force. For time before the oldest of the last 64 documents the lower of two rates counts.
 *
 * @typedef {'at-next' | 'prorated'} Accrual
 */

/**
 * What one of several limits is called. Tiers that share a name share a client's balance of it.
 *
 * @typedef {object} LimitName
 * @property {string} name 1 to 64 printable ASCII characters, each name once in a policy.
 */

/**
 * One of several limits: its name, and a token bucket or a window.
 *
 * @example
 * const limit = { name: 'daily', capacity: 1e6, refill: { tokens: 1e6, seconds: 86400 } };
 *
 * @typedef {LimitName & (TokenBucket | (Omit<Window, 'algorithm'> & Partial<Pick<Window, 'algorithm'>>))} Limit
 */

/**
 * Several limits that judge together: all admit and all are charged, or none is. Their order matters only for
 * `decision.limits`, and for which one binds where two are equal.
 *
 * @example
 * const policy = {
 *   limits: [
 *     { name: 'burst', capacity: 1000, refillPerSecond: 200 },
 *     { name: 'daily', capacity: 1e6, refill: { tokens: 1e6, seconds: 86400 } },
 *   ],
 * };
 *
 * @typedef {object} SeveralLimits
 * @property {readonly Limit[]} limits 1 to 8 of them.
 * @property {'token-bucket' | 'sliding-window' | 'fixed-window'} [algorithm] Of those that have none of their own.
 *   Default: a token bucket.
 * @property {OnRaise} [onRaise] Of those that have none of their own; only where all are token buckets.
 * @property {Accrual} [accrual] Of those that have none of their own; only where all are token buckets.
 */

/**
 * What a tier allows: one limit, which is then called `main`, or several. A member of another name is refused.
 *
 * @example
 * const policy = { capacity: 100, refill: { tokens: 100, seconds: 60 } };
 *
 * @typedef {TokenBucket | Window | SeveralLimits} Policy
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
 * @property {number | null} line From 1; null when the policies were given as an object, or restored.
 * @property {number | null} column From 1, in UTF-16 code units; null as `line`.
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
 * What one limit says to one request.
 *
 * @typedef {object} LimitDecision
 * @property {string} name Its name; `main` where a policy has one limit without a name.
 * @property {number} limit Its capacity, in tokens, as configured; of a window its limit.
 * @property {number} remaining Whole tokens in its bucket, or left in its window: after this decision, or as it is when
 *   peeked at.
 * @property {number | null} retryAfterMs Milliseconds until it admits the same request if nothing else touches it: 0 when
 *   it does now, though others may deny; null when never.
 * @property {number | null} resetMs Milliseconds until it is full, or its window counts nothing any more, if nothing else
 *   touches it; null when never.
 * @property {number | null} windowMs Milliseconds in which all of it comes back, whatever is left now: of a window its
 *   length, of a token bucket the time in which an empty one fills, capacity by rate, rounded up to whole microseconds;
 *   null for one that never refills.
 * @property {number | null} moreAfterMs Milliseconds within which no more than `remaining` can be used, whenever it is, if
 *   nothing is put back: until a bucket has one token more, until the oldest charge leaves a sliding window, until a fixed
 *   window ends. Where nothing is missing, as if the next request came now; null for one that never refills.
 */

/**
 * The answer to one request. Of several limits that judge together the members are those of the one that binds: of a
 * denied request the one with the longest wait, of an admitted one that with the fewest whole tokens left for its
 * capacity; of equals the first.
 *
 * @typedef {object} Decision
 * @property {boolean} allowed Whether the request may proceed.
 * @property {number} limit The capacity that judged, in tokens, as configured; of a window its limit.
 * @property {number} remaining Whole tokens in the bucket: after this decision, or as it is when peeked at.
 * @property {number | null} retryAfterMs Milliseconds until the same request is admitted if nothing else touches the
 *   bucket: 0 when allowed, null when never.
 * @property {number | null} resetMs Milliseconds until the bucket is full if nothing else touches it; null when never.
 * @property {number | null} windowMs Milliseconds in which all of the limit comes back, whatever is left now: of a window
 *   its length, of a token bucket the time in which an empty one fills, capacity by rate, rounded up to whole
 *   microseconds; null for one that never refills.
 * @property {string | null} tier The tier asked for, by the call, `setTier` or the document, whether or not the document
 *   has it; null when there is none.
 * @property {string} limitName The limit that binds; `main` where a policy has one limit without a name.
 * @property {'ok' | 'exhausted' | 'cost-exceeds-capacity' | 'never-refills' | 'table-full'} reason Why it
 *   was allowed (`ok`) or denied: too few tokens for now, a cost above the capacity, too few tokens and a rate of 0, no
 *   room: for a new client with `onFull: 'deny'`, or, with either `onFull` and of known clients too, for a longer log of a
 *   sliding window.
 * @property {null | 'no-tier' | 'unknown-tier' | 'invalid-tier-policy'} fallback Why the default policy judged; null
 *   when the client's own tier did.
 * @property {LimitDecision[]} limits Each limit that judged, in the order of the document; of a policy with one limit
 *   that one.
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
 * What `reserve` of a limiter may be told.
 *
 * @typedef {object} ReserveOptions
 * @property {number} [cost] The estimate, which is spent at once: whole tokens, from 1 to 2^53-1. Default 1.
 * @property {number} [ttlMs] For how long it can be settled, in milliseconds, above 0; afterwards the estimate stays
 *   spent. Default 60,000.
 * @property {string | null} [tier] The tier for this reservation alone, its settling included; otherwise the client's own
 *   at each time.
 */

/**
 * What `reserve` of a `Client` may be told.
 *
 * @typedef {object} ClientReserveOptions
 * @property {number} [cost] The estimate, which is spent at once: whole tokens, from 1 to 2^53-1. Default 1.
 * @property {number} [ttlMs] For how long it can be settled, in milliseconds, above 0; afterwards the estimate stays
 *   spent. Default 60,000.
 */

/**
 * What became of a reservation that was to be settled or cancelled.
 *
 * @typedef {object} Settlement
 * @property {'settled' | 'cancelled' | 'expired' | 'denied' | 'already-settled' | 'already-cancelled'} outcome Done
 *   (`settled`, `cancelled`), or why nothing has changed: its time to live is over, it was denied, it has ended before.
 * @property {number} returned Tokens by which the actual cost was below the estimate, to be put back as `refund` does: never
 *   above a capacity, and not into a window that the charge has left; else 0. Also 0 where none of the limits that were
 *   charged judges the client any more: then there is nowhere to put them.
 * @property {number} debt Tokens above the estimate that were not there to be charged; of several limits the most, and 0
 *   where none that was charged judges any more.
 */

/**
 * What `setTier` may be told.
 *
 * @typedef {object} SetTierOptions
 * @property {OnRaise} [onRaise] What a larger capacity does to the client's balances, once, at its next decision, refund
 *   or settlement by its own tier, and only if that becomes another one by this call. Default `'keep'`.
 */

/**
 * How often a candidate decided as the policies in force did, and how often otherwise.
 *
 * @typedef {object} ShadowCount
 * @property {string | null} tier The tier that was asked for; null: none, or one that neither document knows.
 * @property {'call' | 'assigned' | 'document' | 'none'} clientClass Where it came from: the call, `setTier`, the
 *   document's `clients`, or nowhere.
 * @property {number} bothAllow Requests that both admit.
 * @property {number} bothDeny Requests that both deny.
 * @property {number} onlyLiveAllows Requests that the policies in force admit and the candidate denies.
 * @property {number} onlyShadowAllows Requests that the policies in force deny and the candidate admits.
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
 * @property {number} [maxClients] Buckets remembered at the same time, at least 8; each takes some 57 bytes, and a client
 *   has one for each of its limits. Default 262144.
 * @property {number} [maxBytes] Memory for buckets in bytes, the logs of sliding windows included, at least 1024. Default
 *   48 MiB, which hold some 900,000 buckets. Whichever bound comes first.
 * @property {'evict' | 'deny'} [onFull] What a new client does where there is no room: it takes the place of the bucket
 *   that would be full soonest of a sample of at least eight (`'evict'`, the default; of windows and of several limits
 *   the one of which the smallest part is spent; those that never refill go last),
 *   or is refused as `table-full` unless one of them is full (`'deny'`). With either a request is refused so where a
 *   sliding window's log finds no memory to grow and no log of others may go.
 * @property {boolean} [strict] Refuse a document for what would otherwise be listed as rejected. Default false.
 * @property {boolean} [sweep] Forget buckets that are full again while their clients stay away. Decisions look through
 *   the buckets, a row of 32 places at a time. Default true.
 * @property {Uint8Array} [seed] 16 bytes in place of random ones, for tests: whoever knows them can make names that
 *   fall together.
 */

/**
 * What a limiter is restored with: the options of one that is made, but for `policies` and `seed`, which a snapshot
 * holds.
 *
 * @typedef {Omit<TierLimiterOptions, 'policies' | 'seed'>} RestoreOptions
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
