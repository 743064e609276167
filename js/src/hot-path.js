/**
 * Decisions over the core's plain exports: the client's name goes in as numbers, the answer comes out of a buffer in
 * linear memory. What the numbers mean is in bindings/hot_path.cpp.
 * @module
 */

/** @import { CoreModule } from './core-types.js' */
/** @import { Decision, LimitDecision } from './types.js' */

/** Statuses: below 0 there is no decision. */
export const admitted = 1;
export const clockIsEarly = -1;
export const outOfMemory = -6;

/** What is done with a client. */
export const allow = -1;
export const check = 0;
export const peek = 1;
export const reserve = 2;
export const settle = 3;
export const refund = 4;
export const fingerprint = 5;
export const batch = 6;

/** The tier argument of a decision: a tier's number, or one of these. */
export const asAssigned = -1;
export const unknownTier = -2;

/** In place of a name's length. */
const fingerprintGiven = -1;
const textGiven = -2;

/** Made when needed, where there is one: a context that a test runner makes has none. @type {TextEncoder | undefined} */
let encoder;

/** So many characters cross at a time as words, in registers. */
const inWords = 24;
const bufferBytes = 4096;
/** Up to this length a call of TextEncoder takes longer than doing without. */
const encoderPays = 2 * inWords;

const reasons = /** @type {const} */ ([
  'ok',
  'exhausted',
  'cost-exceeds-capacity',
  'never-refills',
  'table-full',
]);
/** Where in the answer something is, in words and in doubles: the tier's number, below 0 where it has none; three words. */
export const tierAt = 6;
export const fingerprintAt = 9;
/** The reading at the client's last decision, after a clock error; tokens that a settling found not to be there. */
export const touchedAt = 0;
export const debtAt = 1;
/** Where in the answer what is said of each limit begins, and how much it is, in doubles; and where what is held is. */
const limitsAt = 7;
const limitSize = 7;
const holdAt = 504;
const answerBytes = 728;

const fallbacks = /** @type {const} */ ([null, 'no-tier', 'unknown-tier', 'invalid-tier-policy']);

/**
 * Every other character of four, each in a lane of 16 bits: so those that are not ASCII are seen, and do not run into one
 * another. Whole words at positions that the engine knows, since it makes the most of those.
 * @param {string} name
 * @param {number} at
 */
const lanes = (name, at) => name.charCodeAt(at) | (name.charCodeAt(at + 2) << 16);
const notAscii = 0xff80ff80;

/**
 * An instance of the module and its exports. The buffers are shared by all of its limiters, so whatever is in them lasts
 * for one call only.
 */
export class HotPath {
  #allow;
  #ask;
  #text;
  #begin;
  #answer;
  #bytes = new Uint8Array(0);
  #doubles = new Float64Array(0);
  #words = new Int32Array(0);

  /** @param {CoreModule} module */
  constructor(module) {
    this.module = module;
    this.#allow = module._tierlimit_allow;
    this.#ask = module._tierlimit_ask;
    this.#text = module._tierlimit_text;
    this.#begin = module._tierlimit_begin;
    this.#answer = module._tierlimit_answer();
    // V8 gives each number in an object a box of its own, until an object of the same shape has had another kind of value
    // there. From then on small whole numbers have none: a decision takes a third less memory.
    const no = null;
    this.shapes = [
      {
        name: no,
        limit: no,
        remaining: no,
        retryAfterMs: no,
        resetMs: no,
        windowMs: no,
        moreAfterMs: no,
      },
      {
        allowed: no,
        limit: no,
        remaining: no,
        retryAfterMs: no,
        resetMs: no,
        windowMs: no,
        tier: no,
        limitName: no,
        reason: no,
        fallback: no,
        limits: no,
      },
    ];
  }

  /**
   * Does what `what` says for the client of that name.
   * @param {number} what
   * @param {number} limiter
   * @param {string} name
   * @param {number} tier
   * @param {number} cost
   * @param {number} nowMs
   * @returns {number} a status
   */
  ask(what, limiter, name, tier, cost, nowMs) {
    const { length } = name;
    let kind = length;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let e = 0;
    let f = 0;
    let from = 0;
    // Of a longer name the beginning goes ahead.
    for (let rest = length; ; rest = length - from) {
      if (rest > inWords) {
        if (length > 2 * inWords) {
          kind = textGiven;
          break;
        }
        rest = inWords;
      }
      let even;
      let odd;
      let all = 0;
      if (rest >= 4) {
        even = lanes(name, from);
        odd = lanes(name, from + 1);
        all |= even | odd;
        a = even | (odd << 8);
        if (rest >= 8) {
          even = lanes(name, from + 4);
          odd = lanes(name, from + 5);
          all |= even | odd;
          b = even | (odd << 8);
          if (rest >= 12) {
            even = lanes(name, from + 8);
            odd = lanes(name, from + 9);
            all |= even | odd;
            c = even | (odd << 8);
            if (rest >= 16) {
              even = lanes(name, from + 12);
              odd = lanes(name, from + 13);
              all |= even | odd;
              d = even | (odd << 8);
              if (rest >= 20) {
                even = lanes(name, from + 16);
                odd = lanes(name, from + 17);
                all |= even | odd;
                e = even | (odd << 8);
                if (rest >= 24) {
                  even = lanes(name, from + 20);
                  odd = lanes(name, from + 21);
                  all |= even | odd;
                  f = even | (odd << 8);
                }
              }
            }
          }
        }
      }
      if ((rest & 3) !== 0) {
        let last = 0;
        for (let i = length - 1; i >= from + (rest & ~3); i -= 1) {
          const unit = name.charCodeAt(i);
          all |= unit;
          last = (last << 8) | unit;
        }
        if (rest < 4) a = last;
        else if (rest < 8) b = last;
        else if (rest < 12) c = last;
        else if (rest < 16) d = last;
        else if (rest < 20) e = last;
        else f = last;
      }
      if ((all & notAscii) !== 0) {
        kind = textGiven;
        break;
      }
      if (from + rest === length) break;
      this.#begin(limiter, a, b, c, d, e, f);
      from = inWords;
      a = b = c = d = e = f = 0;
    }
    if (kind === textGiven) this.#takeIn(limiter, name);
    if (what === allow) return this.#allow(limiter, kind, a, b, c, d, e, f, tier, cost, nowMs);
    return this.#ask(what, limiter, kind, a, b, c, d, e, f, tier, cost, nowMs);
  }

  /**
   * `ask` to allow, for a client by its fingerprint.
   * @param {number} limiter
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} tier
   * @param {number} cost
   * @param {number} nowMs
   * @returns {number} a status
   */
  allowKnown(limiter, a, b, c, tier, cost, nowMs) {
    return this.#allow(limiter, fingerprintGiven, a, b, c, 0, 0, 0, tier, cost, nowMs);
  }

  /**
   * `ask` to check or peek, for a client by its fingerprint.
   * @param {number} what
   * @param {number} limiter
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} tier
   * @param {number} cost
   * @param {number} nowMs
   * @returns {number} a status
   */
  askKnown(what, limiter, a, b, c, tier, cost, nowMs) {
    return this.#ask(what, limiter, fingerprintGiven, a, b, c, 0, 0, 0, tier, cost, nowMs);
  }

  /** The answer as words. For what is where see the names that end in `At`. */
  words() {
    this.#refresh();
    return this.#words;
  }

  /** The answer as doubles. */
  doubles() {
    this.#refresh();
    return this.#doubles;
  }

  /** What the last reservation was charged to. A copy, since the next one overwrites it. */
  held() {
    return this.module.HEAPU8.slice(this.#answer + holdAt, this.#answer + answerBytes);
  }

  /**
   * Says which reservation is settled next.
   * @param {Uint8Array} held
   */
  hold(held) {
    this.module.HEAPU8.set(held, this.#answer + holdAt);
  }

  /**
   * The decision that the last check or peek left.
   * @param {boolean} allowed
   * @param {string | null} tier
   * @param {Map<number, string>} names of limits, by address, as far as they are known
   * @returns {Decision}
   */
  answer(allowed, tier, names) {
    const words = this.words();
    const limits = [this.#limit(0, names)];
    for (let i = 1; i < words[7]; i += 1) limits.push(this.#limit(i, names));
    const { name, limit, remaining, retryAfterMs, resetMs, windowMs } = limits[words[8]];
    // What the caller gets, and no other object on the way to it.
    return {
      allowed,
      limit,
      remaining,
      retryAfterMs,
      resetMs,
      windowMs,
      tier,
      limitName: name,
      reason: reasons[words[4]],
      fallback: fallbacks[words[5]],
      limits,
    };
  }

  /**
   * @param {number} index
   * @param {Map<number, string>} names
   * @returns {LimitDecision}
   */
  #limit(index, names) {
    const doubles = this.#doubles;
    const at = limitsAt + limitSize * index;
    const retryAfterMs = doubles[at + 2];
    const resetMs = doubles[at + 3];
    const windowMs = doubles[at + 4];
    const moreAfterMs = doubles[at + 5];
    return {
      name:
        this.#words[2 * at + 13] === 0
          ? 'main'
          : this.#name(this.#words[2 * at + 12], this.#words[2 * at + 13], names),
      limit: doubles[at],
      remaining: doubles[at + 1],
      retryAfterMs: retryAfterMs < 0 ? null : retryAfterMs,
      resetMs: resetMs < 0 ? null : resetMs,
      windowMs: windowMs < 0 ? null : windowMs,
      moreAfterMs: moreAfterMs < 0 ? null : moreAfterMs,
    };
  }

  /**
   * @param {number} address
   * @param {number} size
   * @param {Map<number, string>} names
   */
  #name(address, size, names) {
    let name = names.get(address);
    if (name === undefined) {
      name = String.fromCharCode(...this.module.HEAPU8.subarray(address, address + size));
      names.set(address, name);
    }
    return name;
  }

  /**
   * Allows for each of the clients, or for none where the clock is too early for one.
   * @param {number} limiter
   * @param {readonly string[]} names
   * @param {number} tier
   * @param {number} cost
   * @param {number} nowMs
   * @returns {number | boolean[]} a status where there is no decision
   */
  allowMany(limiter, names, tier, cost, nowMs) {
    // Of a batch that broke off, because the caller's stack ran over, some may be left.
    this.module._tierlimit_batch_end();
    const outcome = this.#judgeMany(limiter, names, tier, cost, nowMs);
    this.module._tierlimit_batch_end();
    return outcome;
  }

  /**
   * @param {number} limiter
   * @param {readonly string[]} names
   * @param {number} tier
   * @param {number} cost
   * @param {number} nowMs
   * @returns {number | boolean[]}
   */
  #judgeMany(limiter, names, tier, cost, nowMs) {
    for (let i = 0; i < names.length; i += 1) {
      const outcome = this.ask(batch, limiter, names[i], 0, 0, 0);
      if (outcome < 0) return outcome;
    }
    const outcome = this.module._tierlimit_allow_many(limiter, tier, cost, nowMs);
    if (outcome < 0) return outcome;
    const start = this.words()[12] >>> 0;
    const words = new Int32Array(this.#bytes.buffer, start, names.length * 3);
    /** @type {boolean[]} */
    const results = [];
    for (let i = 0; i < words.length; i += 3) results.push(words[i] === admitted);
    return results;
  }

  /**
   * Takes in a name of any length as WTF-8 (UTF-8 that also has a form for a lone surrogate), so that different strings
   * are different bytes.
   * @param {number} limiter
   * @param {string} name
   */
  #takeIn(limiter, name) {
    this.#refresh();
    const bytes = this.#bytes;
    let first = 1;
    let at = 0;
    let i = 0;
    // A short name comes here because it is not ASCII.
    while (name.length - i > encoderPays) {
      encoder ??= globalThis.TextEncoder && new TextEncoder();
      const piece = name.length <= bufferBytes ? name : name.substring(i, i + bufferBytes);
      const { read, written } = encoder?.encodeInto(piece, bytes) ?? { read: 0, written: 0 };
      // One byte a code unit: all of it was ASCII. (Of what is not, an encoder replaces lone surrogates, which must stay
      // different; and it stops where the buffer ends.)
      if (read !== piece.length || written !== read) break;
      i += read;
      const last = i === name.length ? 1 : 0;
      at = this.#text(limiter, written, first, last);
      if (last) return;
      first = 0;
    }
    for (; i < name.length; i += 1) {
      if (at + 4 > bufferBytes) {
        at = this.#text(limiter, at, first, 0);
        first = 0;
      }
      const point = /** @type {number} */ (name.codePointAt(i));
      if (point < 0x80) {
        bytes[at++] = point;
      } else if (point < 0x800) {
        bytes[at++] = 0xc0 | (point >> 6);
        bytes[at++] = 0x80 | (point & 0x3f);
      } else {
        if (point < 0x10000) {
          bytes[at++] = 0xe0 | (point >> 12);
        } else {
          bytes[at++] = 0xf0 | (point >> 18);
          bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
          i += 1;
        }
        bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[at++] = 0x80 | (point & 0x3f);
      }
    }
    this.#text(limiter, at, first, 1);
  }

  /** Memory that has grown leaves the views without length. */
  #refresh() {
    if (this.#bytes.length !== 0) return;
    const buffer = /** @type {ArrayBuffer} */ (this.module.HEAPU8.buffer);
    this.#doubles = new Float64Array(buffer, this.#answer, answerBytes / 8);
    this.#words = new Int32Array(buffer, this.#answer, answerBytes / 4);
    // The last, for it says that all are there: where the caller's stack runs over in between, they are made anew.
    this.#bytes = new Uint8Array(buffer, this.#answer + answerBytes, bufferBytes);
  }
}
