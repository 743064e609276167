/**
 * The shapes of the module's own API, which bindings/README.md documents.
 * @module
 */

/** @import { ShadowCount, TierLimiterStats } from './types.js' */

/**
 * Something about a policy document, or about a decision, that is not as it should be.
 *
 * @typedef {object} CoreProblem
 * @property {string} code In kebab case: `unknown-member`.
 * @property {string} message One sentence that names the value and the rule.
 * @property {string} path A JSON Pointer (RFC 6901) into the document; empty for the document itself.
 * @property {number} line From 1; 0 where there is no place.
 * @property {number} column From 1, in UTF-16 code units; 0 where there is no place.
 */

/**
 * Why there is no decision: nothing was decided and nothing changed.
 *
 * @typedef {object} CoreDecisionProblem
 * @property {string} code `invalid-cost`, `invalid-time`, `clock`, `not-seeded` or `no-policies`.
 * @property {string} message One sentence that names the value and the rule.
 * @property {string} path Empty: it is about no document.
 * @property {number} line 0: it is about no document.
 * @property {number} column 0: it is about no document.
 * @property {number | null} value The number that breaks the rule; null when there is none.
 */

/**
 * What is in force, and why the document that was last given is not.
 *
 * @typedef {object} CoreReport
 * @property {number} revision How many documents have been accepted.
 * @property {CoreProblem[]} errors Why the document that was last given was refused; empty when it was accepted.
 * @property {CoreProblem[]} rejected Tiers that are invalid and clients of tiers that are not there: the default judges
 *   them.
 * @property {CoreProblem[]} warnings What is in force though not exactly as written (`rate-rounded`).
 * @property {number | null} changedMs The time of the change by which the document in force came; null where no time
 *   counts, for no limit is prorated.
 */

/**
 * What one limit says to one request.
 *
 * @typedef {object} CoreLimitDecision
 * @property {string} name Its name; `main` where a policy has one limit without a name.
 * @property {number} limit Its capacity, in tokens, as configured.
 * @property {number} remaining Whole tokens in its bucket.
 * @property {number | null} retryAfterMs Milliseconds until it admits the same request; 0 when it does now, null when
 *   never.
 * @property {number | null} resetMs Milliseconds until its bucket is full; null when never.
 * @property {number | null} windowMs Milliseconds in which an empty one fills, rounded up to whole microseconds, or the
 *   length of a window; null when never.
 * @property {number | null} moreAfterMs Milliseconds within which no more than `remaining` can be used; null: for ever.
 */

/**
 * The answer to one request; with an `error` there is none, and all other members but `allowed` are absent.
 *
 * @typedef {object} CoreDecision
 * @property {boolean} allowed Whether the request may proceed; false with an error.
 * @property {CoreDecisionProblem | null} error Why there is no decision; null when there is one.
 * @property {number} [limit] The capacity that judged, in tokens, as configured.
 * @property {number} [remaining] Whole tokens in the bucket.
 * @property {number | null} [retryAfterMs] Milliseconds until the same request is admitted; 0 when allowed, null when
 *   never.
 * @property {number | null} [resetMs] Milliseconds until the bucket is full; null when never.
 * @property {number | null} [windowMs] Milliseconds in which an empty bucket fills, rounded up to whole microseconds, or
 *   the length of the window; null when never.
 * @property {string | null} [tier] The tier asked for, whether or not the document has it.
 * @property {string} [limitName] The limit that binds.
 * @property {'ok' | 'exhausted' | 'cost-exceeds-capacity' | 'never-refills' | 'table-full'} [reason] Why it was allowed or
 *   denied.
 * @property {null | 'no-tier' | 'unknown-tier' | 'invalid-tier-policy'} [fallback] Why the default policy judged; null
 *   when the client's own tier did.
 * @property {CoreLimitDecision[]} [limits] Each limit that judged, in the order of the document.
 */

/**
 * What a limiter of the module holds and has done.
 *
 * @typedef {Omit<TierLimiterStats, 'maxClients' | 'clockRegressions' | 'revision'>} CoreStats
 */

/**
 * What larger capacities do to the client's balances at its next decision (0 keep, 1 fill, 2 proportional, 3 add; default
 * 0), and the time, which is needed where limits of the new tier are prorated (`NaN`, and by default: none).
 *
 * @typedef {{
 *   (client: string, tier: string): CoreProblem | null,
 *   (client: string, tier: string, onRaise: number, nowMs: number): CoreProblem | null,
 * }} CoreSetTier
 */

/**
 * As of `setTier`.
 *
 * @typedef {{
 *   (client: string): CoreProblem | null,
 *   (client: string, onRaise: number, nowMs: number): CoreProblem | null,
 * }} CoreClearTier
 */

/**
 * A limiter of the module. It knows no clock and draws no randomness: `seed` it once before the first decision, and give
 * each decision the time. It lies in the instance's memory until `delete`. An argument of another type, a wrong number of
 * arguments and a call after `delete` are a TypeError.
 *
 * @typedef {object} CoreLimiter
 * @property {() => CoreReport} report About the document that was last given.
 * @property {(policies: string, nowMs?: number) => CoreReport} setPolicies Puts a document, as JSON text, in force if it
 *   is accepted. Where it, or the one in force, has a limit that is prorated, it needs the time: else it is refused as
 *   `invalid-time`, and as `clock` where the time is earlier than `changedMs`.
 * @property {(policies: string) => CoreReport} setShadowPolicies Judges by this document too, if it is accepted, beside
 *   the one in force. The report is on the candidate that there is then, `revision` and `changedMs` on what is in force.
 * @property {() => null} clearShadow Ends that.
 * @property {() => ShadowCount[]} shadowStats What was counted meanwhile.
 * @property {(a: number, b: number, c: number, d: number) => boolean} seed Gives the limiter its secret: four random
 *   numbers of 32 bits, from `crypto.getRandomValues`. False, with nothing changed, where there is no memory for the
 *   assignments. Later calls do nothing.
 * @property {(client: string, cost: number, nowMs: number, tier?: string) => boolean | null} allow Whether the client may
 *   spend `cost` tokens at `nowMs` milliseconds, by its own tier or for this call by that one; they are spent if so. Null
 *   on an error, which `check` would tell.
 * @property {(client: string, cost: number, nowMs: number, tier?: string) => CoreDecision} check Like `allow`, with the
 *   whole answer. It spends, too.
 * @property {(client: string, cost: number, nowMs: number, tier?: string) => CoreDecision} peek Whether `check` would
 *   admit it. Nothing is spent and nothing is stored.
 * @property {CoreSetTier} setTier Puts a client into a tier until it is set anew. Null, or the problem `out-of-memory`,
 *   `invalid-time` or `clock`.
 * @property {CoreClearTier} clearTier Takes what `setTier` did back. Null, or such a problem.
 * @property {(nowMs: number) => Uint8Array[]} snapshot All that the limiter knows, in pieces to be joined; none before it
 *   is seeded and has policies.
 * @property {(size: number, nowMs: number) => string | null} restore Takes in the snapshot of so many bytes that the module
 *   has been given as `snapshot`, into a limiter that has neither policies nor a seed. Null, or what is wrong with it, to
 *   follow “the snapshot”: then the limiter is good for nothing but `delete`.
 * @property {() => CoreStats} stats What the limiter holds and has done.
 * @property {(name: string) => number} tier The number of one of the document's tiers, from 0, as the hot path takes it;
 *   -2 for any other name.
 * @property {(tier: number) => string | null} tierName The name of a tier by its number; null when no tier has it.
 * @property {() => number} handle The limiter as the hot path takes it: an address.
 * @property {() => void} delete Gives the limiter's memory back.
 * @property {() => boolean} isDeleted Whether it has been given back.
 */

/**
 * The class of an instance's limiters. All options are given, in this order, or none: `maxClients` (default 262144),
 * `maxBytes` (default 48 MiB), `denyWhenFull`, `strict` (default false both), `sweep` (default true). A constructor never
 * fails for what the document says: look at `report()`.
 *
 * @typedef {{
 *   new (policies: string): CoreLimiter,
 *   new (policies: string, maxClients: number, maxBytes: number, denyWhenFull: boolean, strict: boolean,
 *     sweep: boolean): CoreLimiter,
 * }} CoreLimiterClass
 */

/**
 * Which client: seven numbers, of which the first is the length of a name that the others hold, or says what they are.
 *
 * @typedef {[length: number, w0: number, w1: number, w2: number, w3: number, w4: number, w5: number]} CoreClient
 */

/**
 * A decision of the hot path: 1 when it is admitted, 0 when it is denied, below 0 why there is no decision.
 *
 * @typedef {(...request: [limiter: number, ...client: CoreClient, tier: number, cost: number, nowMs: number]) => number
 * } CoreAsk
 */

/**
 * An instance of the module: its class over policy JSON and, for those who count nanoseconds, plain exports over a buffer
 * for keys and one for answers. What goes into those is checked by nobody: bindings/README.md says what may.
 *
 * @typedef {object} CoreModule
 * @property {CoreLimiterClass} TierLimiter The class of this instance's limiters, which share its memory.
 * @property {Uint8Array} HEAPU8 Linear memory as it is now; another view after it has grown.
 * @property {Uint8Array} [snapshot] The bytes for `restore`.
 * @property {unknown} broken What ended a call by an exception: a trap, or the caller's stack running over in the midst of
 *   it. Then every further call throws. Otherwise undefined.
 * @property {(bytes: number) => boolean} _tierlimit_memory Whether that much memory can be had now.
 * @property {() => number} _tierlimit_answer Address of the answer, behind which is the buffer for pieces of a text.
 * @property {(limiter: number, w0: number, w1: number, w2: number, w3: number, w4: number, w5: number) => void
 *   } _tierlimit_begin Takes in the first 24 bytes of a name of 25 to 48.
 * @property {(limiter: number, bytes: number, first: number, last: number) => number} _tierlimit_text Takes in a piece of a
 *   text; how many bytes of it are left for the next.
 * @property {(limiter: number, tier: number, cost: number, nowMs: number) => number} _tierlimit_allow_many 0, with the
 *   batch judged, or a status below 0.
 * @property {() => void} _tierlimit_batch_end Empties the batch, and gives its memory back where that is much.
 * @property {CoreAsk} _tierlimit_allow Judges and spends.
 * @property {(question: number, ...request: Parameters<CoreAsk>) => number} _tierlimit_ask Whatever else there is to be
 *   done for a client: 0 check, 1 peek, 2 reserve, 3 settle, 4 refund, 5 its fingerprint, 6 one more of a batch.
 */

export {};
