// The clients' names: 24 hexadecimal digits.
//
// A name comes out of a request as a string that was made just now: its text is in the cache, it is flat and one byte a
// character, and nobody has computed its hash yet. Buffers make such strings; a slice() of a longer string would be a
// view into that one.

export const nameLength = 24;

const digits = Buffer.from('0123456789abcdef');

/**
 * Writes the name of a client. Different numbers have different names: the first eight digits are a product with an odd
 * number, modulo 2^32.
 * @param {Buffer} text
 * @param {number} at
 * @param {number} client
 */
function write(text, at, client) {
  let word = Math.imul(client + 1, 0x9e3779b1);
  for (let part = 0; part < 3; part += 1) {
    for (let shift = 28; shift >= 0; shift -= 4) text[at++] = digits[(word >>> shift) & 15];
    word = Math.imul(word ^ (word >>> 15), 0x85ebca6b);
    word ^= word >>> 13;
  }
}

/**
 * Names as new strings, for each call another set.
 * @param {ArrayLike<number>} clients
 * @param {number} from the first of them
 * @param {number} count
 * @param {string[]} [into]
 * @returns {string[]}
 */
export function freshNames(clients, from, count, into = []) {
  const text = Buffer.allocUnsafe(count * nameLength);
  for (let i = 0; i < count; i += 1) write(text, i * nameLength, clients[from + i]);
  for (let i = 0; i < count; i += 1) {
    into[i] = text.toString('latin1', i * nameLength, (i + 1) * nameLength);
  }
  into.length = count;
  return into;
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
