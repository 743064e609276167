/**
 * The types that policy sources share.
 * @module
 */

/** @import { Policies, PolicyProblem, PolicyReport } from '../types.js' */

/**
 * What a source puts its documents into: a `TierLimiter`, or anything that takes a document, refuses it by throwing (or
 * rejecting) and then keeps the one before.
 *
 * @typedef {object} PolicyTarget
 * @property {(policies: Policies | string) => PolicyReport | PromiseLike<PolicyReport>} setPolicies As of `TierLimiter`; it
 *   may answer later.
 */

/**
 * A policy document as sources take it: its text, the bytes of that in UTF-8, or an object.
 *
 * @typedef {string | Uint8Array | Policies} PolicyDocument
 */

/**
 * What became of one look at a source. `applied`: a document is in force that was not before. `unchanged`: it has the one
 * that it had. `refused`: it has one that the limiter refuses, and the one before stays in force. `unreadable`: it
 * cannot be read now. `outdated`: what came was older than what had come before it, and is not put in force. `not-due`: the last look
 * was less than `intervalMs` ago. `under-way`: another look is not over yet. `closed`: the source is closed.
 *
 * @typedef {'applied' | 'unchanged' | 'refused' | 'unreadable' | 'outdated' | 'not-due' | 'under-way' | 'closed'} LookOutcome
 */

/**
 * Something that has gone wrong since a time, and has not gone well since.
 *
 * @typedef {object} SourceTrouble
 * @property {Error} error What went wrong the last time: of a document that is refused a `PolicyError`, which tells where.
 * @property {number} sinceMs When it went wrong for the first time since it went well, in milliseconds since 1970.
 * @property {number} times How often it has gone wrong since then.
 */

/**
 * Where a source stands. Times are by the wall clock, in milliseconds since 1970.
 *
 * @typedef {object} SourceStatus
 * @property {string} from What is read: the file's path, the URL without its query, the key.
 * @property {'open' | 'ended' | 'failed' | 'closed'} state `open`: more may come. `ended`, `failed`: an iterator is at its
 *   end, or has thrown. `closed`: by `close` or its signal.
 * @property {number | null} revision The limiter's own number of the last document that this source has put in force; null:
 *   none yet.
 * @property {string | number | null} version The source's own mark of that document: an ETag, or a number; null where it has
 *   none.
 * @property {number | null} appliedAtMs When that was.
 * @property {number | null} readAtMs When the source was last read; the document that it had then is in force, or `refused`.
 * @property {readonly PolicyProblem[]} rejected What of the document in force is judged by the default.
 * @property {readonly PolicyProblem[]} warnings What of it is not exactly as written.
 * @property {Readonly<SourceTrouble> | null} refused Since when the source has had documents that were not put in force;
 *   null: the last one was.
 * @property {Readonly<SourceTrouble> | null} unreadable Since when it cannot be read; null: the last time it could.
 */

/**
 * What all sources may be told.
 *
 * @typedef {object} SourceOptions
 * @property {PolicyTarget} limiter What the documents are for: a `TierLimiter`.
 * @property {(report: PolicyReport, status: SourceStatus) => void} [onApplied] Called when a document has come into force.
 *   What it throws is dropped. Default: `console.warn` for each tier and client of it that is judged by the default.
 * @property {(error: Error, status: SourceStatus) => void} [onRefused] Called when a document was refused
 *   (`status.refused`), once for each, and each time when the source cannot be read (`status.unreadable`); the policies
 *   stay as they are. What it throws is dropped. Default: `console.warn` at the first of them, and anew when it has gone
 *   well in between.
 * @property {number} [timeoutMs] How long one look may take, the limiter's answer included, in milliseconds. Default
 *   10,000.
 * @property {AbortSignal} [signal] Closes the source when it aborts.
 * @property {() => number} [wallNow] The wall clock that `status` tells times by, in milliseconds since 1970. Default
 *   `Date.now`.
 */

export {};
