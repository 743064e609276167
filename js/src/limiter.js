/**
 * The limiter, over whichever core it is given.
 * @module
 */

import { Clock, systemNow } from './clock.js';
import { ClockError, PolicyError, show } from './errors.js';
import { asAssigned, status, unknownTier } from './hot-path.js';

/** @import { Core } from './core.js' */
/** @import { CheckOptions, Decision, LimiterOptions, LimiterStats } from './types.js' */
/** @import { Policies, PolicyProblem, PolicyReport } from './types.js' */

const defaults = Object.freeze({
  maxClients: 262_144,
  maxBytes: 48 * 2 ** 20,
  onFull: 'evict',
  strict: false,
  sweep: true,
});

const optionNames = new Set([
  'policies',
  'now',
  'onClockBackward',
  'seed',
  ...Object.keys(defaults),
]);

const largestMaxClients = 2 ** 27;
const largestMaxBytes = 2 ** 32;
const seedBytes = 16;

/**
 * Whether a limiter has been disposed of, or lost with its core. A limiter of another copy of the package is for that
 * copy to say.
 * @type {(limiter: Limiter) => boolean}
 */
export let isGone;

/**
 * Decides for every client whether a request may proceed: a token bucket for each, by tiers whose policies may change
 * while it runs. One limiter keeps the state of one isolate. Nothing is read, drawn or started at construction.
 *
 * @example
 * const limiter = new TierLimiter({
 *   policies: { default: { capacity: 5, refillPerSecond: 1 } },
 * });
 * limiter.allow('acme'); // true, five times; then false for a second
 */
export class Limiter {
  #core;
  #path;
  #bound;
  #handle;
  #clock;
  #seeded = false;
  #settings;
  /** @type {PolicyReport} */
  #report;
  /** Numbers of the document's tiers by name, as far as they were asked for. @type {Map<string, number>} */
  #tierIds = new Map();
  /** Names by number. @type {(string | null)[]} */
  #tierNames = [];

  static {
    isGone = (limiter) => limiter.#handle === 0 || Boolean(limiter.#core.module.broken);
  }

  /**
   * @param {Core} core
   * @param {LimiterOptions} options
   * @throws {PolicyError} when the policies are refused
   * @throws {TypeError | RangeError} when an option is; the message names it and its value
   */
  constructor(core, options) {
    this.#settings = settings(options);
    const { text, isText } = policyText(options.policies);
    this.#clock = clock(options);
    this.#core = core;
    this.#path = core.hotPath;
    checkPoliciesFit(core, text);
    const { maxClients, maxBytes, onFull, strict, sweep } = this.#settings;
    this.#bound = new core.module.TierLimiter(
      text,
      maxClients,
      maxBytes,
      onFull === 'deny',
      strict,
      sweep,
    );
    try {
      this.#report = readReport(this.#bound.report(), isText);
    } catch (error) {
      this.#bound.delete();
      throw error;
    }
    this.#handle = this.#bound.handle();
    if (options.seed !== undefined) this.#seed(options.seed);
  }

  /**
   * Whether the client may spend `cost` tokens now. They are spent if so.
   *
   * @param {string} client any string; different strings are different clients
   * @param {number} [cost] whole tokens, from 1 to 2^53-1; default 1
   * @param {string | null} [tier] the tier for this call alone; by default the client's own
   * @returns {boolean}
   * @throws {ClockError} when the clock reads earlier than at the client's last decision
   * @throws {TypeError | RangeError} when an argument is not as it should be
   * @example
   * if (!limiter.allow('acme', 5, 'pro')) return new Response(null, { status: 429 });
   */
  allow(client, cost = 1, tier = undefined) {
    const path = Limiter.#ready(this, 'allow');
    checkClient(client);
    checkCost(cost);
    const nowMs = this.#now('allow');
    const tierId = this.#tierId(path, tier);
    const outcome = path.allow(this.#handle, path.writeKey(client), tierId, cost, nowMs);
    if (outcome < 0) throw failure(path, outcome, nowMs);
    return outcome === status.admitted;
  }

  /**
   * Like `allow`, with the whole answer.
   *
   * @param {string} client
   * @param {CheckOptions} [options]
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError} as `allow`
   * @example
   * const decision = limiter.check('acme', { cost: 5 });
   * if (!decision.allowed) console.log(`come back in ${decision.retryAfterMs} ms`);
   */
  check(client, options = undefined) {
    return Limiter.#decide(this, 'check', client, options);
  }

  /**
   * Whether `check` would admit the cost now. Nothing is spent and nothing is stored: `remaining` and `resetMs` are of
   * the bucket as it is at this moment, and the rest is what `check` would answer.
   *
   * @param {string} client
   * @param {CheckOptions} [options]
   * @returns {Decision}
   * @throws {ClockError | TypeError | RangeError} as `allow`
   * @example
   * const { remaining, limit } = limiter.peek('acme');
   */
  peek(client, options = undefined) {
    return Limiter.#decide(this, 'peek', client, options);
  }

  /**
   * Puts a policy document in force. It takes effect for each client at its next decision: no balance changes by
   * itself, time since the client's last decision accrues at the new rate up to the new capacity, and what is above a
   * smaller capacity is lost. `clients` is replaced; what setTier set stays.
   *
   * @param {Policies | string} policies an object or JSON text
   * @returns {PolicyReport}
   * @throws {PolicyError} when the document is refused; the one in force stays
   * @example
   * const { rejected } = limiter.setPolicies(await readFile('policies.json', 'utf8'));
   * for (const { path, message } of rejected) console.warn(path, message);
   */
  setPolicies(policies) {
    const { text, isText } = policyText(policies);
    Limiter.#alive(this, 'setPolicies');
    checkPoliciesFit(this.#core, text);
    // Before anything changes, for whatever happens: a number that stands for another tier must not be used.
    this.#tierIds.clear();
    this.#tierNames.length = 0;
    this.#report = readReport(this.#bound.setPolicies(text), isText);
    return this.#report;
  }

  /**
   * Puts a client into a tier, before whatever the document says of it, until it is set anew. The tier need not be in
   * the document: the default judges until it is.
   *
   * @param {string} client
   * @param {string | null} tier null takes the assignment back
   * @throws {TypeError} when an argument is of another type
   * @throws {RangeError} when there is no memory for one more assignment
   * @example
   * limiter.setTier('acme', 'pro');
   */
  setTier(client, tier) {
    Limiter.#alive(this, 'setTier');
    checkClient(client);
    if (tier !== null) checkTier(tier);
    const length = client.length + (tier?.length ?? 0);
    if (!fits(this.#core, length)) throw new RangeError(doesNotFit(length));
    this.#tierNames.length = 0;
    const error = tier === null ? this.#bound.clearTier(client) : this.#bound.setTier(client, tier);
    if (error !== null) throw new RangeError(error.message);
  }

  /** How many policy documents have been accepted. */
  get revision() {
    Limiter.#alive(this, 'revision');
    return this.#report.revision;
  }

  /** What of the document in force was refused and is judged by the default. */
  get rejected() {
    Limiter.#alive(this, 'rejected');
    return this.#report.rejected;
  }

  /** What of the document in force is not exactly as written. */
  get warnings() {
    Limiter.#alive(this, 'warnings');
    return this.#report.warnings;
  }

  /**
   * What the limiter holds and has done.
   * @returns {LimiterStats}
   * @example
   * const { buckets, evictions, evictedTokens } = limiter.stats();
   */
  stats() {
    Limiter.#alive(this, 'stats');
    return {
      ...this.#bound.stats(),
      maxClients: this.#settings.maxClients,
      clockRegressions: this.#clock.regressions,
      revision: this.#report.revision,
    };
  }

  /** Gives the limiter's memory back. Whatever is asked of it afterwards throws, except to dispose of it again. */
  dispose() {
    if (!(#bound in Object(this))) throw new TypeError('dispose must be called on a TierLimiter');
    if (this.#handle === 0) return;
    this.#handle = 0;
    this.#bound.delete();
  }

  /**
   * @param {Limiter} limiter
   * @param {'check' | 'peek'} method
   * @param {string} client
   * @param {CheckOptions | undefined} options
   * @returns {Decision}
   */
  static #decide(limiter, method, client, options) {
    const path = Limiter.#ready(limiter, method);
    checkClient(client);
    if (options !== undefined) checkOptions(options);
    const cost = options?.cost === undefined ? 1 : options.cost;
    const tier = options?.tier;
    checkCost(cost);
    const nowMs = limiter.#now(method);
    const tierId = limiter.#tierId(path, tier);
    const outcome = path[method](limiter.#handle, path.writeKey(client), tierId, cost, nowMs);
    if (outcome < 0) throw failure(path, outcome, nowMs);
    const answer = path.answer(outcome === status.admitted);
    return {
      allowed: answer.allowed,
      limit: answer.limit,
      remaining: answer.remaining,
      retryAfterMs: answer.retryAfterMs,
      resetMs: answer.resetMs,
      tier: tier ?? limiter.#tierName(answer.tier),
      limitName: 'main',
      reason: answer.reason,
      fallback: answer.fallback,
    };
  }

  /**
   * The number of a tier named by the call.
   * @param {import('./hot-path.js').HotPath} path
   * @param {string | null | undefined} tier
   */
  #tierId(path, tier) {
    if (tier === undefined || tier === null) return asAssigned;
    checkTier(tier);
    const known = this.#tierIds.get(tier);
    if (known !== undefined) return known;
    const id = path.tier(this.#handle, path.writeKey(tier));
    // Only the document's tiers are remembered: names out of requests are as many as somebody likes.
    if (id !== unknownTier) this.#tierIds.set(tier, id);
    return id;
  }

  /** @param {number} id */
  #tierName(id) {
    if (id < 0) return null;
    this.#tierNames[id] ??= this.#bound.tierName(id);
    return this.#tierNames[id];
  }

  /**
   * The time. A clock of the caller's may do anything, even dispose of the limiter.
   * @param {string} method
   */
  #now(method) {
    const nowMs = this.#clock.now();
    Limiter.#alive(this, method);
    return nowMs;
  }

  // Static, for what is called on anything else than a limiter (a method pulled off its object) finds no private methods.

  /**
   * @param {Limiter} limiter
   * @param {string} method
   */
  static #alive(limiter, method) {
    if (!(#bound in Object(limiter)))
      throw new TypeError(`${method} must be called on a TierLimiter`);
    if (limiter.#handle === 0)
      throw new Error(`${method} was called on a TierLimiter that is disposed`);
  }

  /**
   * The hot path, when there may be a decision.
   * @param {Limiter} limiter
   * @param {string} method
   */
  static #ready(limiter, method) {
    Limiter.#alive(limiter, method);
    if (!limiter.#seeded) limiter.#seed(randomBytes());
    return limiter.#path;
  }

  /** @param {Uint8Array} bytes */
  #seed(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const word = (/** @type {number} */ at) => view.getUint32(at, true);
    if (!this.#bound.seed(word(0), word(4), word(8), word(12))) {
      throw new RangeError('there is no memory for the clients that are assigned to tiers');
    }
    this.#seeded = true;
  }
}

// `using limiter = …` where the runtime knows it.
if (Symbol.dispose !== undefined) {
  Object.defineProperty(Limiter.prototype, Symbol.dispose, {
    value: Limiter.prototype.dispose,
    configurable: true,
    writable: true,
  });
}

/**
 * All options checked; returned are those that hold for the limiter's lifetime, with their defaults.
 * @param {LimiterOptions} options
 */
export function settings(options) {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object such as { policies }; got ${show(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`there is no option ${show(name)}`);
  }
  const {
    now,
    onClockBackward,
    onFull = defaults.onFull,
    strict = defaults.strict,
    sweep = defaults.sweep,
    seed,
  } = options;
  if (now !== undefined && typeof now !== 'function') {
    throw new TypeError(`now must be a function that returns milliseconds; got ${show(now)}`);
  }
  if (onClockBackward !== undefined && onClockBackward !== 'throw' && onClockBackward !== 'hold') {
    throw new TypeError(`onClockBackward must be 'throw' or 'hold'; got ${show(onClockBackward)}`);
  }
  if (onFull !== 'evict' && onFull !== 'deny') {
    throw new TypeError(`onFull must be 'evict' or 'deny'; got ${show(onFull)}`);
  }
  for (const [name, value] of Object.entries({ strict, sweep })) {
    if (typeof value !== 'boolean')
      throw new TypeError(`${name} must be a boolean; got ${show(value)}`);
  }
  if (seed !== undefined) {
    if (!(seed instanceof Uint8Array))
      throw new TypeError(`seed must be a Uint8Array; got ${show(seed)}`);
    if (seed.length !== seedBytes) {
      throw new RangeError(`seed must be ${seedBytes} bytes; got ${seed.length}`);
    }
  }
  return Object.freeze({
    maxClients: whole('maxClients', options.maxClients, defaults.maxClients, 8, largestMaxClients),
    maxBytes: whole('maxBytes', options.maxBytes, defaults.maxBytes, 1024, largestMaxBytes),
    onFull,
    strict,
    sweep,
    seed: seed?.join(),
  });
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} fallback
 * @param {number} least
 * @param {number} most
 * @returns {number}
 */
function whole(name, value, fallback, least, most) {
  if (value === undefined) return fallback;
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number; got ${show(value)}`);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(
      `${name} must be a whole number from ${least} to ${most}; got ${show(value)}`,
    );
  }
  return value;
}

/** @param {LimiterOptions} options checked */
function clock({ now, onClockBackward }) {
  // The runtime's clock is the time of day in some workers, and that may be set back.
  return new Clock(now ?? systemNow, now === undefined || onClockBackward === 'hold');
}

/**
 * @param {unknown} policies
 * @returns {{ text: string, isText: boolean }}
 */
export function policyText(policies) {
  if (typeof policies === 'string') return { text: policies, isText: true };
  if (typeof policies !== 'object' || policies === null) {
    throw new TypeError(`policies must be an object or JSON text; got ${show(policies)}`);
  }
  // JSON would make something of these, or nothing: of bytes a list of numbers, of a promise an empty document.
  if (!kindsOfJson.has(kindOf(policies))) {
    throw new TypeError(`policies must be a plain object or JSON text; got a ${kindOf(policies)}`);
  }
  let text;
  try {
    text = JSON.stringify(policies, asItIs);
  } catch (error) {
    const why = error instanceof Error ? error.message : show(error);
    throw new TypeError(`policies cannot be written as JSON: ${why}`, { cause: error });
  }
  if (text === undefined) throw new TypeError('policies cannot be written as JSON');
  return { text, isText: false };
}

/** @param {object} value */
const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/** What JSON writes as it is. */
const kindsOfJson = new Set(['Object', 'Array', 'String', 'Number', 'Boolean']);

/**
 * Refuses what JSON would silently leave out or write as something else: a map or a promise as an empty object, NaN
 * as null.
 * @param {string} name
 * @param {unknown} value
 */
function asItIs(name, value) {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`${show(name)} is ${show(value)}; JSON has none`);
  }
  if (typeof value === 'object' && value !== null && !kindsOfJson.has(kindOf(value))) {
    throw new TypeError(`${show(name)} is a ${kindOf(value)}; it must be a plain object`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`${show(name)} is ${value}; a number must be finite`);
  }
  return value;
}

/**
 * Whether there is memory for embind's copies of a text: embind does not ask.
 * @param {Core} core
 * @param {number} length in code units
 */
function fits(core, length) {
  // Two copies of up to three bytes a code unit, and what is small.
  const bytes = length * 7 + 2 ** 16;
  return bytes < 2 ** 31 && core.module._tierlimit_memory(bytes);
}

/** @param {number} length */
const doesNotFit = (length) =>
  `a text of ${length} code units does not fit the memory that can be had`;

/**
 * @param {Core} core
 * @param {string} text
 */
function checkPoliciesFit(core, { length }) {
  if (fits(core, length)) return;
  const message = doesNotFit(length);
  throw new PolicyError([{ path: '', code: 'out-of-memory', message, line: null, column: null }]);
}

/**
 * @param {import('./core.js').RawReport} raw
 * @param {boolean} isText whether lines and columns mean something to the caller
 * @returns {PolicyReport}
 */
function readReport(raw, isText) {
  const problems = (/** @type {PolicyProblem[]} */ list) =>
    Object.freeze(
      list.map(({ path, code, message, line, column }) =>
        Object.freeze({
          path,
          code,
          message,
          line: isText && line ? line : null,
          column: isText && column ? column : null,
        }),
      ),
    );
  if (raw.errors.length > 0) throw new PolicyError(problems(raw.errors));
  return Object.freeze({
    revision: raw.revision,
    rejected: problems(raw.rejected),
    warnings: problems(raw.warnings),
  });
}

/** @returns {Uint8Array} */
function randomBytes() {
  try {
    return crypto.getRandomValues(new Uint8Array(seedBytes));
  } catch (error) {
    throw new Error(
      'the first decision draws random bytes, which this runtime refuses here; in a worker, decide inside a handler, ' +
        'not at module scope (or pass a seed)',
      { cause: error },
    );
  }
}

/**
 * @param {unknown} client
 * @returns {asserts client is string}
 */
function checkClient(client) {
  if (typeof client !== 'string')
    throw new TypeError(`client must be a string; got ${show(client)}`);
}

/** @param {CheckOptions} options */
function checkOptions(options) {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object such as { cost: 5 }; got ${show(options)}`);
  }
  // A name that is misspelled must not mean the default.
  for (const name of Object.keys(options)) {
    if (name !== 'cost' && name !== 'tier') throw new TypeError(`there is no option ${show(name)}`);
  }
}

/** @param {unknown} cost */
function checkCost(cost) {
  if (typeof cost !== 'number') throw new TypeError(`cost must be a number; got ${show(cost)}`);
  if (!Number.isSafeInteger(cost) || cost < 1) {
    throw new RangeError(
      `cost must be a whole number from 1 to 9007199254740991; got ${show(cost)}`,
    );
  }
}

/** @param {unknown} tier */
function checkTier(tier) {
  if (typeof tier !== 'string')
    throw new TypeError(`tier must be a string or null; got ${show(tier)}`);
}

/**
 * @param {import('./hot-path.js').HotPath} path
 * @param {number} outcome
 * @param {number} nowMs
 */
function failure(path, outcome, nowMs) {
  if (outcome === status.clock) return new ClockError(nowMs, path.touchedMs());
  return new Error(`the core gave no decision (${outcome})`);
}
