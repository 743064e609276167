/**
 * Decisions over the core's buffers in linear memory: the client's name goes into one, the answer comes out of another.
 * What the numbers mean is in bindings/hot_path.cpp.
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
});

/** The tier argument of a decision: a tier's number, or one of these. */
export const asAssigned = -1;
export const unknownTier = -2;

const reasons = /** @type {const} */ ([
  'ok',
  'exhausted',
  'cost-exceeds-capacity',
  'never-refills',
  'table-full',
]);
const fallbacks = /** @type {const} */ ([null, 'no-tier', 'unknown-tier', 'invalid-tier-policy']);

/** A UTF-16 code unit takes at most three bytes of WTF-8 (a pair takes four). */
const bytesPerUnit = 3;

/** The buffers of one core. They are shared by all of its limiters, so whatever is in them lasts for one call only. */
export class HotPath {
  #module;
  #keyAddress = 0;
  #keySize = 0;
  #bytes = new Uint8Array(0);
  #doubles = new Float64Array(0);
  #words = new Int32Array(0);

  /** @param {Core} core */
  constructor(core) {
    this.#module = core.module;
    this.allow = core.module._tierlimit_allow;
    this.check = core.module._tierlimit_check;
    this.peek = core.module._tierlimit_peek;
    this.tier = core.module._tierlimit_tier;
  }

  /**
   * Puts a name into the key buffer as WTF-8 (UTF-8 that also has a form for a lone surrogate), so that different
   * strings are different bytes.
   * @param {string} name
   * @returns {number} bytes written
   */
  writeKey(name) {
    const { length } = name;
    if (length * bytesPerUnit > this.#keySize) this.#growKey(length * bytesPerUnit);
    // Memory that has grown leaves the views without length.
    if (this.#bytes.length === 0) this.#refresh();
    const bytes = this.#bytes;
    const start = this.#keyAddress;
    for (let i = 0; i < length; i += 1) {
      const unit = name.charCodeAt(i);
      if (unit >= 0x80) return this.#writeWide(name, i);
      bytes[start + i] = unit;
    }
    return length;
  }

  /** @returns {number} the reading at the client's last decision, after a clock error */
  touchedMs() {
    return this.#answer(4);
  }

  /**
   * The decision that the last `check` or `peek` left.
   * @param {boolean} allowed
   */
  answer(allowed) {
    if (this.#bytes.length === 0) this.#refresh();
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

  /** @param {number} index */
  #answer(index) {
    if (this.#bytes.length === 0) this.#refresh();
    return this.#doubles[index];
  }

  /**
   * @param {string} name
   * @param {number} from where the text stops being ASCII; what is before is written
   */
  #writeWide(name, from) {
    const bytes = this.#bytes;
    let at = this.#keyAddress + from;
    for (let i = from; i < name.length; i += 1) {
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
    return at - this.#keyAddress;
  }

  /** @param {number} size */
  #growKey(size) {
    const wanted = Math.max(size, 256);
    // An address is a number without a sign, of which JavaScript sees 32 bits with one.
    const address = wanted < 2 ** 31 ? this.#module._tierlimit_key(wanted) >>> 0 : 0;
    if (address === 0) {
      throw new RangeError(
        `a name of ${size / bytesPerUnit} code units does not fit the memory that can be had`,
      );
    }
    this.#keyAddress = address;
    this.#keySize = wanted;
    this.#refresh();
  }

  #refresh() {
    const { buffer } = this.#module.HEAPU8;
    const answer = this.#module._tierlimit_answer() >>> 0;
    this.#bytes = new Uint8Array(buffer);
    this.#doubles = new Float64Array(buffer, answer, 5);
    this.#words = new Int32Array(buffer, answer, 13);
  }
}
