/**
 * Decisions as header fields: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers, `Retry-After`,
 * and the older `X-RateLimit-*`.
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { serializeItem } from 'structured-headers';

import { checkNames } from '../arguments.js';
import { check } from '../errors.js';

/** @import { BareItem } from 'structured-headers' */
/** @import { Decision, LimitDecision } from '../types.js' */
/** @import { HeaderOptions } from './types.js' */

/**
 * The fields that may be sent, for `Access-Control-Expose-Headers`: a page of another origin reads no others.
 *
 * @example
 * app.use(cors({ exposedHeaders }));
 *
 * @type {readonly string[]}
 */
export const exposedHeaders = Object.freeze([
  ...['RateLimit-Policy', 'RateLimit', 'Retry-After'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
]);

/**
 * A limit's part of a decision, whoever decided.
 * @typedef {Omit<LimitDecision, 'windowMs' | 'moreAfterMs'> & Partial<LimitDecision>} AnyLimit
 */

/** The largest integer of a structured field. */
const most = 999_999_999_999_999;

/** The constant parts of so many policies are kept: they come from documents, but those of another limiter may vary. */
const maxEntries = 1024;

/** So many of them are looked at one after the other before the rest is, by its text. */
const maxRecent = 8;

/** Bytes of a partition key. */
const keyBytes = 12;

const visible = /^[ -~]{1,64}$/;

/**
 * What is the same in every response for a limit that follows on others in the order of its policy.
 *
 * @typedef {object} Entry
 * @property {Entry | null} parent The limit before it.
 * @property {Map<string, Entry>} children Those that were seen after it.
 * @property {Entry[]} recent Those of them that were seen lately.
 * @property {string} name
 * @property {number} limit
 * @property {number | null | undefined} windowMs
 * @property {string} called The name in the fields.
 * @property {string} quoted The same as the fields spell it; in lower case where that makes no difference.
 * @property {string} member Of RateLimit-Policy.
 * @property {string} policy All of RateLimit-Policy, up to this limit.
 * @property {string} service The beginning of its member of RateLimit, up to the number.
 * @property {Member} written Its member of RateLimit, as it was last.
 */

/**
 * A member of RateLimit, and what it was made of.
 *
 * @typedef {object} Member
 * @property {number} remaining
 * @property {number | null} seconds
 * @property {number | null} cost
 * @property {string} text
 */

/**
 * The reader and the writer of a response's header fields, whatever the framework.
 *
 * @template Target
 * @typedef {object} Access
 * @property {(target: Target, name: string) => string | number | readonly string[] | null | undefined} get
 * @property {(target: Target, name: string, value: string) => unknown} set Replaces.
 * @property {(target: Target, name: string) => unknown} [remove] What is not there is no error.
 */

/** Writes the header fields of decisions. */
export class HeaderFields {
  #isNext;
  #name;
  #unit;
  #partitionKey;
  #legacy;
  #wallNow;
  #available;
  #effective;
  #root = entry();
  #entries = 0;

  /** @param {HeaderOptions} [options] */
  constructor(options = {}) {
    checkNames(options, ['version', 'name', 'unit', 'partitionKey', 'legacy', 'wallNow']);
    const { version = 11, name = 'main', unit = 'requests' } = options;
    const { partitionKey = false, legacy = false, wallNow = Date.now } = options;
    check(version === 11 || version === 12, 'version', '11 or 12', version);
    check(isVisible(name), 'name', '1 to 64 printable ASCII characters', name);
    check(isVisible(unit), 'unit', '1 to 64 printable ASCII characters', unit);
    check(
      typeof partitionKey === 'boolean' || typeof partitionKey === 'function',
      'partitionKey',
      'true, false or a function of the client',
      partitionKey,
    );
    check(
      legacy === false || legacy === 'delta-seconds' || legacy === 'epoch-seconds',
      'legacy',
      'false, "delta-seconds" or "epoch-seconds"',
      legacy,
    );
    check(
      typeof wallNow === 'function',
      'wallNow',
      'a function that returns milliseconds',
      wallNow,
    );
    this.#isNext = version === 12;
    this.#name = name;
    this.#unit = unit;
    this.#partitionKey = partitionKey === true ? hashed : partitionKey;
    this.#legacy = legacy;
    this.#wallNow = wallNow;
    this.#available = this.#isNext ? ';a=' : ';r=';
    this.#effective = this.#isNext ? ';w=' : ';t=';
  }

  /**
   * Sets the fields of a decision. Where another limiter has set some already, the lists are joined, the outer limiter's
   * first; where both have a limit of the same name, only the inner one's are sent. Of `X-RateLimit-*`, which have one
   * value, the inner limiter's are sent.
   * @template Target
   * @param {Decision} decision
   * @param {string | null} client null where it is not known: there is no partition key
   * @param {number | null} cost null where it is not known
   * @param {Target} target
   * @param {Access<Target>} access
   * @param {boolean} isOutside whether what is there already is of a limiter inside this one
   */
  write(decision, client, cost, target, access, isOutside) {
    const limits = limitsOf(decision);
    const key =
      this.#partitionKey === false || client === null ? '' : keyText(this.#partitionKey(client));
    let last = this.#root;
    let policy = '';
    let service = '';
    for (let i = 0; i < limits.length; i += 1) {
      const limit = limits[i];
      last = this.#entry(last, limit);
      service += this.#member(last, limit, cost) + key;
      if (key !== '') {
        policy += (i === 0 ? '' : ', ') + last.member + key;
      }
    }
    if (key === '') ({ policy } = last);
    const there = access.get(target, 'RateLimit');
    if (there === undefined || there === null) {
      access.set(target, 'RateLimit-Policy', policy);
      access.set(target, 'RateLimit', service);
    } else {
      this.#join(target, access, last, [policy, service], isOutside);
    }
    if (this.#legacy !== false) this.#writeLegacy(decision, target, access, isOutside);
  }

  /**
   * What the limits that denied are called in the fields.
   * @param {Decision} decision
   */
  violated(decision) {
    const limits = limitsOf(decision);
    const violated = [];
    let last = this.#root;
    for (const limit of limits) {
      last = this.#entry(last, limit);
      if (limit.retryAfterMs !== 0) violated.push(last.called);
    }
    // No limit denies where there is no room for one more client.
    return violated.length > 0 ? violated : [last.called];
  }

  /**
   * @param {Entry} parent
   * @param {AnyLimit} limit
   */
  #entry(parent, { name, limit, windowMs }) {
    const { recent } = parent;
    for (let i = 0; i < recent.length; i += 1) {
      const child = recent[i];
      if (child.name !== name || child.limit !== limit || child.windowMs !== windowMs) continue;
      if (i > 0) {
        // Those that are asked for most come to the front.
        recent[i] = recent[i - 1];
        recent[i - 1] = child;
      }
      return child;
    }
    const key = `${limit} ${windowMs} ${String(name)}`;
    let child = parent.children.get(key);
    if (child === undefined) {
      if (this.#entries >= maxEntries) {
        this.#root = entry();
        this.#entries = 0;
      }
      this.#entries += 1;
      child = this.#made(parent, name, limit, windowMs);
      parent.children.set(key, child);
    }
    recent[Math.min(recent.length, maxRecent - 1)] = child;
    return child;
  }

  /**
   * A limit's member of RateLimit. To write a number takes longer than to see that it is the same as before, which it often
   * is: clients that have not asked for a while all have as much left.
   * @param {Entry} entry
   * @param {AnyLimit} limit
   * @param {number | null} cost
   */
  #member({ service, written }, limit, cost) {
    const remaining = whole(limit.remaining);
    const seconds = effectiveSeconds(limit);
    if (
      written.text === '' ||
      written.remaining !== remaining ||
      written.seconds !== seconds ||
      written.cost !== cost
    ) {
      written.remaining = remaining;
      written.seconds = seconds;
      written.cost = cost;
      written.text = service + remaining;
      if (seconds !== null) written.text += this.#effective + seconds;
      if (this.#isNext && cost !== null) written.text += `;c=${whole(cost)}`;
    }
    return written.text;
  }

  /**
   * @param {Entry} parent
   * @param {string} name
   * @param {number} limit
   * @param {number | null | undefined} windowMs
   * @returns {Entry}
   */
  #made(parent, name, limit, windowMs) {
    const called = this.#called(parent, name);
    /** @type {[string, BareItem][]} */
    const parameters = [['q', whole(limit)]];
    if (this.#unit !== 'requests') parameters.push(['qu', this.#unit]);
    const seconds = Math.ceil(Number(windowMs) / 1000);
    if (seconds > 0) parameters.push(['w', Math.min(seconds, most)]);
    const member = serializeItem(called, new Map(parameters));
    const between = parent.parent === null ? '' : ', ';
    const quoted = serializeItem(called);
    return {
      ...{ parent, children: new Map(), recent: [], name, limit, windowMs, called, member },
      quoted: this.#folded(quoted),
      policy: parent.policy + between + member,
      service: between + quoted + this.#available,
      written: unwritten(),
    };
  }

  /**
   * What a limit is called: its name, whatever a limiter that is not ours calls it.
   * @param {Entry} parent
   * @param {string} name
   */
  #called(parent, name) {
    const given = name === 'main' ? this.#name : name;
    const text =
      String(given ?? '')
        .replace(/[^ -~]/g, '?')
        .slice(0, 64) || this.#name;
    if (!this.#isNext) return text;
    const isTaken = (/** @type {string} */ called) => {
      const quoted = this.#folded(serializeItem(called));
      for (let at = /** @type {Entry | null} */ (parent); at; at = at.parent) {
        if (at.quoted === quoted) return true;
      }
      return false;
    };
    let called = text;
    for (let i = 2; isTaken(called); i += 1) called = `${text}-${i}`;
    return called;
  }

  /**
   * In version 12 names that differ only in case are the same.
   * @param {string} text
   */
  #folded(text) {
    return this.#isNext ? text.toLowerCase() : text;
  }

  /**
   * @template Target
   * @param {Target} target
   * @param {Access<Target>} access
   * @param {Entry} last
   * @param {[policy: string, service: string]} own
   * @param {boolean} isOutside
   */
  #join(target, access, last, [policy, service], isOutside) {
    const others = String(access.get(target, 'RateLimit'));
    const folded = this.#folded(others);
    let clashes = false;
    for (let at = last; at.parent; at = at.parent) clashes ||= folded.includes(`${at.quoted};`);
    if (clashes && isOutside) return;
    /** @type {(name: string, own: string) => void} */
    const put = (name, own) => {
      const there = access.get(target, name);
      const isAlone = clashes || there === undefined || there === null || there === '';
      const joined = isOutside ? `${own}, ${there}` : `${there}, ${own}`;
      access.set(target, name, isAlone ? own : joined);
    };
    put('RateLimit-Policy', policy);
    put('RateLimit', service);
  }

  /**
   * @template Target
   * @param {Decision} decision
   * @param {Target} target
   * @param {Access<Target>} access
   * @param {boolean} isOutside
   */
  #writeLegacy(decision, target, access, isOutside) {
    if (isOutside && typeof (access.get(target, 'X-RateLimit-Limit') ?? null) === 'string') return;
    access.set(target, 'X-RateLimit-Limit', `${whole(decision.limit)}`);
    access.set(target, 'X-RateLimit-Remaining', `${whole(decision.remaining)}`);
    if (decision.resetMs === null) {
      // Or else that of a limiter around this one would stand beside these.
      access.remove?.(target, 'X-RateLimit-Reset');
      return;
    }
    const fromMs = this.#legacy === 'epoch-seconds' ? this.#wallNow() : 0;
    const seconds = Math.ceil((fromMs + decision.resetMs) / 1000);
    access.set(target, 'X-RateLimit-Reset', `${whole(seconds)}`);
  }
}

/**
 * The value of Retry-After: whole seconds, after which the same request is admitted; null where it never is.
 * @param {Decision} decision
 */
export function retryAfter({ retryAfterMs }) {
  if (typeof retryAfterMs !== 'number' || Number.isNaN(retryAfterMs)) return null;
  return `${Math.min(Math.max(Math.ceil(retryAfterMs / 1000), 1), most)}`;
}

/**
 * Seconds within which no more than what remains can be used; null where there is nothing to say.
 * @param {AnyLimit} limit
 */
function effectiveSeconds({ limit, remaining, resetMs, windowMs, moreAfterMs }) {
  let ms = moreAfterMs;
  if (ms === undefined) {
    if (typeof windowMs !== 'number' || typeof resetMs !== 'number') return null;
    // Until a bucket has one more whole token, or would have if it were larger.
    ms = resetMs - ((limit - remaining - 1) * windowMs) / limit;
  }
  if (ms === null) return null;
  // What is a whole second must not become less by a rounding of the 16th digit.
  return whole(Math.round(ms * 1000) / 1e6);
}

/**
 * @param {Decision & { moreAfterMs?: number | null }} decision
 * @returns {AnyLimit[]}
 */
function limitsOf({
  limits,
  limitName,
  limit,
  remaining,
  retryAfterMs,
  resetMs,
  windowMs,
  moreAfterMs,
}) {
  if (limits?.length > 0) return limits;
  return [{ name: limitName, limit, remaining, retryAfterMs, resetMs, windowMs, moreAfterMs }];
}

/**
 * A whole number that a field can hold.
 * @param {number} value
 */
function whole(value) {
  return value > 0 ? Math.min(Math.floor(Number(value)), most) : 0;
}

/** @param {unknown} value */
const isVisible = (value) => typeof value === 'string' && visible.test(value);

/** @param {string} text */
const utf8 = (text) => new TextEncoder().encode(text);

/**
 * By a library: what runtimes bring of SHA-256 answers by a promise, and header fields cannot wait.
 * @param {string} client
 */
const hashed = (client) => sha256(utf8(client)).subarray(0, keyBytes);

/** @param {string | Uint8Array} key */
function keyText(key) {
  const bytes = typeof key === 'string' ? utf8(key) : key;
  check(bytes instanceof Uint8Array, 'partitionKey()', 'a string or a Uint8Array', bytes);
  return `;pk=${serializeItem(Uint8Array.from(bytes))}`;
}

/** @returns {Entry} */
const entry = () => ({
  ...{ parent: null, children: new Map(), recent: [], name: '', limit: 0, windowMs: null },
  ...{ called: '', quoted: '', member: '', policy: '', service: '', written: unwritten() },
});

/** @returns {Member} */
const unwritten = () => ({ remaining: 0, seconds: null, cost: null, text: '' });
