/**
 * The addresses that proxies have written into a header field, read from the right: what stands to the right of an
 * address was written by whoever saw it, and what stands to its left by whoever has it. No more is read than is asked
 * for.
 * @module
 */

/**
 * The entries of a list of addresses, such as X-Forwarded-For, from the right.
 *
 * @param {string} field
 * @returns {Generator<string>} each without the white space around it; empty where there is nothing between two commas
 */
export function* addressesOf(field) {
  for (let end = field.length; end >= 0;) {
    const comma = end === 0 ? -1 : field.lastIndexOf(',', end - 1);
    yield field.slice(comma + 1, end).trim();
    end = comma;
  }
}

/** The longest element of Forwarded that is looked at, in characters. */
const longest = 1024;

/**
 * The `for` of each element of Forwarded (RFC 7239), from the right. A quote that somebody has left open on the left
 * changes nothing of what was written after it.
 *
 * @param {string} field
 * @returns {Generator<string>} each as it is when unquoted; empty where an element has none, or is not well-formed
 */
export function* forsOf(field) {
  for (let end = field.length; end >= 0;) {
    const start = startOfElement(field, end);
    yield start < 0 ? '' : forOf(field.slice(start, end));
    // What is left of an element that has no beginning cannot be told apart.
    if (start < 0) return;
    end = start - 1;
  }
}

/**
 * Where the element begins that ends there; -1 where that cannot be told.
 * @param {string} field
 * @param {number} end
 */
function startOfElement(field, end) {
  const least = Math.max(end - longest, 0);
  let quoted = false;
  for (let i = end - 1; i >= least; i -= 1) {
    const character = field[i];
    if (character === '"') {
      let slashes = 0;
      while (field[i - 1 - slashes] === '\\') slashes += 1;
      if (slashes % 2 === 0) quoted = !quoted;
      else if (!quoted) return -1;
      i -= slashes;
    } else if (character === ',' && !quoted) {
      return i + 1;
    }
  }
  return least === 0 && !quoted ? 0 : -1;
}

const parameter =
  /[\t ]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\t ",;\\]+))[\t ]*)?(;|$)/y;

/** @param {string} element */
function forOf(element) {
  let found = '';
  parameter.lastIndex = 0;
  for (;;) {
    const match = parameter.exec(element);
    if (match === null) return '';
    const [, name, quoted, plain, ending] = match;
    if (name?.toLowerCase() === 'for') {
      // Each may be there once. Of two nobody knows which one the proxy has seen.
      if (found !== '') return '';
      found = plain ?? quoted.replace(/\\(.)/g, '$1');
    }
    if (ending === '') return found;
  }
}
