// The clients' names.
//
// A name comes out of a request as a string that was made just now: its text is in the cache, it is flat, and nobody has
// computed its hash yet. Buffers make such strings; a slice() of a longer string would be a view into that one.

/**
 * What names are like: hexadecimal digits, but for the last character where another is given, or where they are `wide`
 * as many characters that are not even Latin-1.
 * @typedef {{ name: string, length: number, last?: string, wide?: boolean }} Shape
 */

/** @type {Shape} */
export const usual = { name: '24 digits', length: 24 };

/** @type {Shape[]} */
export const shapes = [
  { name: '8 digits', length: 8 },
  { name: '15, as an IPv4 address', length: 15 },
  usual,
  { name: '36, as a UUID', length: 36 },
  { name: '64, as a SHA-256', length: 64 },
  { name: '256 digits', length: 256 },
  { name: '24 of Latin-1', length: 24, last: 'é' },
  { name: '24 of Unicode', length: 24, last: '名' },
];

/**
 * Those that take long are of fewer clients, with fewer requests in a batch.
 * @type {{ shape: Shape, clients: number, batchSize: number }[]}
 */
export const longShapes = [
  { length: 1000, clients: 1000, batchSize: 50 },
  { length: 1_000_000, clients: 10, batchSize: 1 },
].flatMap(({ length, ...rest }) =>
  [false, true].map((wide) => {
    const what = wide ? 'of Unicode, all of them' : 'digits';
    const name = `${length.toLocaleString('en')} ${what}, ${rest.clients.toLocaleString('en')} clients`;
    return { shape: { name, length, wide }, ...rest };
  }),
);

const digits = Buffer.from('0123456789abcdef');

/**
 * Writes the digits of a client's name. Different numbers have different names: the first eight digits are a product
 * with an odd number, modulo 2^32.
 * @param {Buffer} text
 * @param {number} at
 * @param {number} end
 * @param {number} client
 */
function write(text, at, end, client) {
  let word = Math.imul(client + 1, 0x9e3779b1);
  while (at < end) {
    for (let shift = 28; shift >= 0 && at < end; shift -= 4) {
      text[at++] = digits[(word >>> shift) & 15];
    }
    word = Math.imul(word ^ (word >>> 15), 0x85ebca6b);
    word ^= word >>> 13;
  }
}

/**
 * Names as new strings, for each call another set.
 * @param {ArrayLike<number>} clients
 * @param {number} from the first of them
 * @param {number} count
 * @param {Shape} [shape]
 * @returns {string[]}
 */
export function freshNames(clients, from, count, { length, last = '', wide = false } = usual) {
  let text = Buffer.allocUnsafe(count * length);
  for (let i = 0; i < count; i += 1) {
    write(text, i * length, (i + 1) * length, clients[from + i]);
  }
  /** @type {'latin1' | 'utf16le'} */
  let encoding = 'latin1';
  let size = length;
  if (wide || last > '\u{ff}') {
    encoding = 'utf16le';
    size *= 2;
    text = Buffer.from(text.toString('latin1'), encoding);
    if (wide) for (let high = 1; high < text.length; high += 2) text[high] = 0x4e;
  }
  const character = Buffer.from(last, encoding);
  const names = [];
  for (let i = 0; i < count; i += 1) {
    if (last !== '') character.copy(text, (i + 1) * size - character.length);
    names.push(text.toString(encoding, i * size, (i + 1) * size));
  }
  return names;
}

/**
 * Names of clients that were not seen before, in a row.
 * @param {number} first
 * @param {number} count
 */
export const newNames = (first, count) =>
  freshNames(
    Array.from({ length: count }, (_, i) => first + i),
    0,
    count,
  );
