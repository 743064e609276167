/**
 * Decisions over the core's plain exports: the client's name goes in as numbers, the answer comes out of a buffer in
 * linear memory. What the numbers mean is in bindings/hot_path.cpp.
 * @module
 */

/** @import { Core } from './core.js' */

export const status = Object.freeze({
  denied: 0,
  admitted: 1,
  clock: -1,
  invalidTime: -2,
  invalidCost: -3,
  notSeeded: -4,
  noPolicies: -5,
  outOfMemory: -6,
});

/** What is done with a client. */
export const verb = Object.freeze({ allow: 0, check: 1, peek: 2, fingerprint: 3, batch: 4 });

/** The tier argument of a decision: a tier's number, or one of these. */
export const asAssigned = -1;
export const unknownTier = -2;

/** In place of a name's length. */
const fingerprintGiven = -1;
const textGiven = -2;

/** Made when needed: tests of workers run where there is none. @type {TextEncoder | undefined} */
let encoder;

/** Names up to this length cross in registers. */
const longestShort = 24;
const bufferBytes = 4096;

const reasons = /** @type {const} */ ([
  'ok',
  'exhausted',
  'cost-exceeds-capacity',
  'never-refills',
  'table-full',
]);
const fallbacks = /** @type {const} */ ([null, 'no-tier', 'unknown-tier', 'invalid-tier-policy']);

/**
 * What stands for a client's name.
 * @typedef {object} Fingerprint
 * @property {number} a
 * @property {number} b
 * @property {number} c
 */

/**
 * The exports of one core. Its buffers are shared by all of its limiters, so whatever is in them lasts for one call
 * only.
 */
export class HotPath {
  #module;
  #allow;
  #check;
  #peek;
  #fingerprint;
  #batch;
  #text;
  #buffer;
  #answer;
  #bytes = new Uint8Array(0);
  #doubles = new Float64Array(0);
  #words = new Int32Array(0);

  /** @param {Core} core */
  constructor({ module }) {
    this.#module = module;
    this.#allow = module._tierlimit_allow;
    this.allowKnown = module._tierlimit_allow_known;
    this.#check = module._tierlimit_check;
    this.#peek = module._tierlimit_peek;
    this.#fingerprint = module._tierlimit_fingerprint;
    this.#batch = module._tierlimit_batch;
    this.#text = module._tierlimit_text;
    this.#buffer = module._tierlimit_buffer();
    this.#answer = module._tierlimit_answer();
  }

  /**
   * Does what `what` says for the client of that name.
   * @param {number} what a verb
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
    if (length <= longestShort) {
      // Two characters a lane of 16 bits, so that those which are not ASCII are seen and do not run into one another.
      // Written out, since the engine makes the most of positions that it knows.
      let even;
      let odd;
      let all = 0;
      if (length >= 4) {
        even = name.charCodeAt(0) | (name.charCodeAt(2) << 16);
        odd = name.charCodeAt(1) | (name.charCodeAt(3) << 16);
        all |= even | odd;
        a = even | (odd << 8);
        if (length >= 8) {
          even = name.charCodeAt(4) | (name.charCodeAt(6) << 16);
          odd = name.charCodeAt(5) | (name.charCodeAt(7) << 16);
          all |= even | odd;
          b = even | (odd << 8);
          if (length >= 12) {
            even = name.charCodeAt(8) | (name.charCodeAt(10) << 16);
            odd = name.charCodeAt(9) | (name.charCodeAt(11) << 16);
            all |= even | odd;
            c = even | (odd << 8);
            if (length >= 16) {
              even = name.charCodeAt(12) | (name.charCodeAt(14) << 16);
              odd = name.charCodeAt(13) | (name.charCodeAt(15) << 16);
              all |= even | odd;
              d = even | (odd << 8);
              if (length >= 20) {
                even = name.charCodeAt(16) | (name.charCodeAt(18) << 16);
                odd = name.charCodeAt(17) | (name.charCodeAt(19) << 16);
                all |= even | odd;
                e = even | (odd << 8);
                if (length >= 24) {
                  even = name.charCodeAt(20) | (name.charCodeAt(22) << 16);
                  odd = name.charCodeAt(21) | (name.charCodeAt(23) << 16);
                  all |= even | odd;
                  f = even | (odd << 8);
                }
              }
            }
          }
        }
      }
      if ((length & 3) !== 0) {
        let rest = 0;
        for (let i = length - 1; i >= (length & ~3); i -= 1) {
          const unit = name.charCodeAt(i);
          all |= unit;
          rest = (rest << 8) | unit;
        }
        switch (length >> 2) {
          case 0:
            a = rest;
            break;
          case 1:
            b = rest;
            break;
          case 2:
            c = rest;
            break;
          case 3:
            d = rest;
            break;
          case 4:
            e = rest;
            break;
          default:
            f = rest;
        }
      }
      if ((all & 0xff80ff80) !== 0) kind = textGiven;
    } else {
      kind = textGiven;
    }
    if (kind === textGiven) this.#takeIn(limiter, name);
    switch (what) {
      case verb.allow:
        return this.#allow(limiter, kind, a, b, c, d, e, f, tier, cost, nowMs);
      case verb.check:
        return this.#check(limiter, kind, a, b, c, d, e, f, tier, cost, nowMs);
      case verb.peek:
        return this.#peek(limiter, kind, a, b, c, d, e, f, tier, cost, nowMs);
      case verb.fingerprint:
        return this.#fingerprint(limiter, kind, a, b, c, d, e, f);
      default:
        return this.#batch(limiter, kind, a, b, c, d, e, f);
    }
  }

  /**
   * `ask` to check or peek, for a client by its fingerprint.
   * @param {number} what a verb
   * @param {number} limiter
   * @param {Fingerprint} client
   * @param {number} tier
   * @param {number} cost
   * @param {number} nowMs
   * @returns {number} a status
   */
  askKnown(what, limiter, { a, b, c }, tier, cost, nowMs) {
    const ask = what === verb.check ? this.#check : this.#peek;
    return ask(limiter, fingerprintGiven, a, b, c, 0, 0, 0, tier, cost, nowMs);
  }

  /** @returns {Fingerprint} what `ask` for a fingerprint left */
  fingerprint() {
    this.#refresh();
    const words = this.#words;
    return { a: words[13], b: words[14], c: words[15] };
  }

  /** @returns {number} the reading at the client's last decision, after a clock error */
  touchedMs() {
    this.#refresh();
    return this.#doubles[4];
  }

  /**
   * The decision that the last check or peek left.
   * @param {boolean} allowed
   */
  answer(allowed) {
    this.#refresh();
    const doubles = this.#doubles;
    const words = this.#words;
    return {
      allowed,
      limit: doubles[0],
      remaining: doubles[1],
      retryAfterMs: doubles[2] < 0 ? null : doubles[2],
      resetMs: doubles[3] < 0 ? null : doubles[3],
      tier: words[12],
      reason: reasons[words[10]],
      fallback: fallbacks[words[11]],
    };
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
    try {
      for (let i = 0; i < names.length; i += 1) {
        const outcome = this.ask(verb.batch, limiter, names[i], 0, 0, 0);
        if (outcome < 0) return outcome;
      }
      const outcome = this.#module._tierlimit_allow_many(limiter, tier, cost, nowMs);
      if (outcome < 0) return outcome;
      this.#refresh();
      const start = this.#words[16] >>> 0;
      const results = new Int32Array(this.#bytes.buffer, start, names.length * 3);
      return Array.from(names, (_, i) => results[i * 3] === status.admitted);
    } finally {
      this.#module._tierlimit_batch_end();
    }
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
    if (name.length <= bufferBytes) {
      // One byte a code unit: all of it was ASCII. (An encoder replaces lone surrogates, which must stay different.)
      encoder ??= new TextEncoder();
      const { written } = encoder.encodeInto(name, bytes);
      if (written === name.length) {
        this.#text(limiter, written, 1, 1);
        return;
      }
    }
    let first = 1;
    let at = 0;
    for (let i = 0; i < name.length; i += 1) {
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
    const { buffer } = this.#module.HEAPU8;
    this.#bytes = new Uint8Array(buffer, this.#buffer, bufferBytes);
    this.#doubles = new Float64Array(buffer, this.#answer, 5);
    this.#words = new Int32Array(buffer, this.#answer, 17);
  }
}
