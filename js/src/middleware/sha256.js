/**
 * SHA-256 (FIPS 180-4), at once: what the runtimes bring of it answers by a promise, and header fields cannot wait.
 * @module
 */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes, made when needed. */
let constants = new Uint32Array(0);
/** The same of the square roots of the first 8. */
let initial = new Uint32Array(0);

/**
 * @param {string} text
 * @returns {Uint8Array} 32 bytes; of the text in UTF-8
 */
export function sha256(text) {
  if (constants.length === 0) prepare();
  const data = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((data.length + 9) / 64) * 64);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(padded.length - 4, data.length << 3);

  const state = initial.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const x = words[i - 15];
      const y = words[i - 2];
      const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
      const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
      words[i] = words[i - 16] + s0 + words[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

/**
 * @param {number} word
 * @param {number} bits
 */
const turned = (word, bits) => (word >>> bits) | (word << (32 - bits));

function prepare() {
  /** @type {number[]} */
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  initial = Uint32Array.from(primes.slice(0, 8), (prime) => rootBits(BigInt(prime), 2n));
  constants = Uint32Array.from(primes, (prime) => rootBits(BigInt(prime), 3n));
}

/**
 * The first 32 bits of a root after the point, by integers: no two engines need to round alike.
 * @param {bigint} value
 * @param {bigint} degree
 */
function rootBits(value, degree) {
  const scaled = value << (32n * degree);
  let root = 0n;
  for (let bit = 1n << 36n; bit > 0n; bit >>= 1n) {
    if ((root + bit) ** degree <= scaled) root += bit;
  }
  return Number(root & 0xffffffffn);
}
