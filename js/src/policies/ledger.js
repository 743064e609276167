/**
 * The documents of a source on their way into a limiter, and what became of them.
 * @module
 */

import { checkNames, checkWhole } from '../arguments.js';
import { check, show } from '../errors.js';
import { policyText } from '../policy-text.js';

/** @import { Policies, PolicyReport } from '../types.js' */
/** @import { LookOutcome, SourceOptions, SourceStatus, SourceTrouble } from './types.js' */

/** A mark by which a source tells its documents apart; numbers grow. @typedef {string | number | null} Version */

const sharedOptions = ['limiter', 'onApplied', 'onRefused', 'timeoutMs', 'signal', 'wallNow'];

// Setting a timer for longer than that sets it for at once.
const longestTimerMs = 2 ** 31 - 1;

/** Puts the documents of one source in force, one after the other, and remembers what became of them. */
export class Ledger {
  #limiter;
  #onApplied;
  #onRefused;
  #wallNow;
  /** @type {SourceStatus['state']} */
  #state = 'open';
  /** @type {PolicyReport | null} */
  #report = null;
  /** @type {number | null} */
  #appliedAtMs = null;
  /** @type {number | null} */
  #readAtMs = null;
  /** @type {Version} */
  #appliedVersion = null;
  /** @type {SourceTrouble | null} */
  #refused = null;
  /** @type {SourceTrouble | null} */
  #unreadable = null;
  /** The document in force, and its text. @type {{ document: Policies | string, text: string } | null} */
  #applied = null;
  /** The document that was refused since. @type {string | null} */
  #refusedText = null;
  /** Which version of the source is dealt with: in force, or refused for what it is. @type {Version} */
  #version = null;
  // Whose turn it was to be put in force last, and the one that is in force.
  #turn = 0;
  #appliedTurn = 0;

  /**
   * @param {SourceOptions} options checked here, with those of the source
   * @param {string[]} names of options that only this kind of source has
   * @param {string} from
   */
  constructor(options, names, from) {
    checkNames(options, [...sharedOptions, ...names]);
    const {
      limiter,
      onApplied,
      onRefused,
      timeoutMs = 10_000,
      signal,
      wallNow = Date.now,
    } = options;
    const isLimiter = typeof (/** @type {any} */ (limiter)?.setPolicies) === 'function';
    check(isLimiter, 'limiter', 'a TierLimiter, or what has setPolicies()', limiter);
    checkFunction('onApplied', onApplied);
    checkFunction('onRefused', onRefused);
    checkFunction('wallNow', wallNow);
    checkWhole('timeoutMs', timeoutMs, 1, longestTimerMs);
    if (signal !== undefined) {
      check(
        typeof (/** @type {any} */ (signal)?.aborted) === 'boolean',
        'signal',
        'an AbortSignal',
        signal,
      );
    }
    this.#limiter = limiter;
    this.#onApplied = onApplied ?? warnOfRejected;
    this.#onRefused = onRefused ?? warnAtFirst;
    this.#wallNow = wallNow;
    /** What is read. */
    this.from = from;
    /** How long one look may take. */
    this.timeoutMs = timeoutMs;
  }

  /** What a source that can tell need not send again. */
  get version() {
    return this.#version;
  }

  /** @returns {SourceStatus['state']} */
  get state() {
    return this.#state;
  }

  /** @param {'ended' | 'failed' | 'closed'} state */
  end(state) {
    this.#state = state;
  }

  /**
   * Puts a document in force unless it is already, or was refused before, or is older than one that came before it. With
   * a limiter that answers at once that is all done when this returns.
   *
   * @param {unknown} document
   * @param {Version} version
   * @returns {Promise<LookOutcome>}
   */
  async apply(document, version = null) {
    this.#wasRead();
    const last = this.#version;
    if (typeof version === 'number' && typeof last === 'number' && version < last) {
      this.refuse(new RangeError(`version ${version} is older than ${last}, which came before it`));
      return 'outdated';
    }
    let policies;
    let text;
    try {
      policies = /** @type {Policies | string} */ (
        document instanceof Uint8Array ? decoded(document) : document
      );
      ({ text } = policyText(policies));
    } catch (error) {
      this.#version = version;
      return this.refuse(error);
    }
    if (text === this.#applied?.text) {
      this.#version = version;
      this.#refused = null;
      this.#refusedText = null;
      return 'unchanged';
    }
    if (text === this.#refusedText) {
      this.#version = version;
      return 'unchanged';
    }
    this.#turn += 1;
    const turn = this.#turn;
    let report;
    try {
      const answer = this.#limiter.setPolicies(policies);
      // To wait for what is here already would let others come in between.
      report = isThenable(answer) ? await answer : answer;
    } catch (error) {
      if (turn < this.#appliedTurn) return 'outdated';
      if (isFinal(error)) {
        this.#version = version;
        this.#refusedText = text;
      }
      return this.refuse(error);
    }
    if (turn < this.#appliedTurn) {
      // A limiter that answers later was slow with this one, and a newer one has come into force before it.
      await this.#putAgain();
      return 'outdated';
    }
    this.#appliedTurn = turn;
    this.#applied = { document: policies, text };
    this.#report = report;
    this.#appliedAtMs = this.#wallNow();
    this.#appliedVersion = version;
    this.#version = version;
    this.#refused = null;
    this.#refusedText = null;
    quietly(() => this.#onApplied(report, this.status()));
    return 'applied';
  }

  /** Puts the document that is to be in force there once more. */
  async #putAgain() {
    try {
      await this.#limiter.setPolicies(/** @type {any} */ (this.#applied).document);
    } catch (error) {
      // Nobody knows what is in force now: the next document is read whole and put there, though it be the same.
      this.#applied = null;
      this.#version = null;
      this.refuse(error);
    }
  }

  /**
   * The source says that it has what it had.
   * @returns {LookOutcome}
   */
  unchanged() {
    this.#wasRead();
    return 'unchanged';
  }

  /**
   * The source cannot be read.
   * @param {unknown} error
   * @returns {LookOutcome}
   */
  unreadable(error) {
    this.#unreadable = this.#trouble(this.#unreadable, error);
    this.#tell(this.#unreadable);
    return 'unreadable';
  }

  /** @returns {SourceStatus} */
  status() {
    return Object.freeze({
      from: this.from,
      state: this.#state,
      revision: this.#report?.revision ?? null,
      version: this.#appliedVersion,
      appliedAtMs: this.#appliedAtMs,
      readAtMs: this.#readAtMs,
      rejected: this.#report?.rejected ?? [],
      warnings: this.#report?.warnings ?? [],
      refused: this.#refused,
      unreadable: this.#unreadable,
    });
  }

  /**
   * A document is not put in force.
   * @param {unknown} error
   * @returns {LookOutcome}
   */
  refuse(error) {
    this.#refused = this.#trouble(this.#refused, error);
    this.#tell(this.#refused);
    return 'refused';
  }

  #wasRead() {
    this.#readAtMs = this.#wallNow();
    this.#unreadable = null;
  }

  /**
   * @param {SourceTrouble | null} before
   * @param {unknown} error
   * @returns {SourceTrouble}
   */
  #trouble(before, error) {
    return Object.freeze({
      error: error instanceof Error ? error : new Error(`thrown: ${show(error)}`, { cause: error }),
      sinceMs: before?.sinceMs ?? this.#wallNow(),
      times: (before?.times ?? 0) + 1,
    });
  }

  /** @param {SourceTrouble} trouble */
  #tell({ error }) {
    quietly(() => this.#onRefused(error, this.status()));
  }
}

/**
 * The text of bytes. A byte order mark stays: it is the limiter's to judge.
 * @param {Uint8Array} bytes
 */
function decoded(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new TypeError('the document is not UTF-8', { cause: error });
  }
}

/**
 * Whether the limiter would say the same of the same text again.
 * @param {any} error
 */
const isFinal = (error) => error?.name === 'PolicyError' && error.code !== 'out-of-memory';

/**
 * @param {any} value
 * @returns {value is PromiseLike<unknown>}
 */
const isThenable = (value) => typeof value?.then === 'function';

/**
 * What the caller's functions throw must not end a watcher's process, nor a request.
 * @param {() => unknown} call
 */
function quietly(call) {
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, () => {});
  } catch {
    // The caller was told that it is dropped.
  }
}

/**
 * @param {PolicyReport} report
 * @param {SourceStatus} status
 */
function warnOfRejected({ rejected }, { from }) {
  for (const { path, message } of rejected ?? []) {
    console.warn(`tierlimit: policies of ${from}: ${path}: ${message}`);
  }
}

/**
 * @param {Error} error
 * @param {SourceStatus} status
 */
function warnAtFirst(error, { from, unreadable, refused }) {
  const trouble = unreadable?.error === error ? unreadable : refused;
  if (trouble?.times === 1) console.warn(`tierlimit: ${from}: ${error.message}`);
}

/**
 * @param {string} name
 * @param {unknown} value
 */
export function checkFunction(name, value) {
  check(value === undefined || typeof value === 'function', name, 'a function', value);
}
