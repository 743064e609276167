/**
 * The addresses that proxies have written into a header field, read from the right: what stands to the right of an
 * address was written by whoever saw it, and what stands to its left by whoever has it. No more is read than is asked
 * for.
 * @module
 */

/**
 * How entries are found in a field.
 *
 * @typedef {object} List
 * @property {(field: string, end: number) => number} startOf Where the entry begins that ends there; before it is a comma,
 *   or nothing. -1 where that cannot be told.
 * @property {(entry: string) => string} addressOf The address of an entry, as it is written; '' where it has none.
 */

/**
 * Addresses with commas between them, such as X-Forwarded-For. Where there is nothing between two commas is an entry too:
 * an address that somebody did not know must not make way for the one to its left.
 *
 * @type {List}
 */
export const addresses = {
  startOf: (field, end) => (end === 0 ? 0 : field.lastIndexOf(',', end - 1) + 1),
  addressOf: (entry) => entry.trim(),
};

/**
 * Forwarded (RFC 7239). A quote that somebody has left open on the left changes nothing of what was written after it. An
 * element that is not well-formed, or has no `for` or two of them, has the address ''.
 *
 * @type {List}
 */
export const elements = { startOf: startOfElement, addressOf: forOf };

/** The longest element that is looked at, in characters. */
const longest = 1024;

/**
 * @param {string} field
 * @param {number} end
 */
function startOfElement(field, end) {
  const least = Math.max(end - longest, 0);
  let isQuoted = false;
  for (let i = end - 1; i >= least; i -= 1) {
    const character = field[i];
    if (character === ',') {
      if (!isQuoted) return i + 1;
    } else if (character === '"') {
      let slashes = 0;
      while (i > least && field[i - 1] === '\\') {
        slashes += 1;
        i -= 1;
      }
      if (slashes % 2 === 0) isQuoted = !isQuoted;
      else if (!isQuoted) return -1;
    }
  }
  return least === 0 && !isQuoted ? 0 : -1;
}

/** What stands between semicolons; a pair that is left out is none. */
const pair = /[\t ]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\t ",;\\]+))[\t ]*)?(;|$)/y;

/** @param {string} element */
function forOf(element) {
  let found = '';
  pair.lastIndex = 0;
  for (;;) {
    const [, name, quoted, plain, ending] = pair.exec(element) ?? [];
    if (ending === undefined) return '';
    if (name?.toLowerCase() === 'for') {
      // Of two nobody knows which one the proxy has seen.
      if (found !== '') return '';
      found = plain ?? quoted.replace(/\\(.)/g, '$1');
    }
    if (ending === '') return found;
  }
}
