/** Numbers, times and names as people read them in a terminal. */

/** @param {number} count */
export function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  return whole === 0 ? '' : `${((part / whole) * 100).toFixed(1)} %`;
}

/**
 * `2015-05-17 10:05:00`, in UTC.
 *
 * @param {number} epochMs
 */
export function utc(epochMs) {
  return new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * The two largest units of a span: `3 d 11 h`, `59 s`.
 *
 * @param {number} seconds
 */
export function span(seconds) {
  const units = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = units.findIndex(([count]) => count !== 0);
  if (first === -1) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([count]) => count !== 0)
    .map((unit) => unit.join(' '))
    .join(' ');
}

/**
 * Text from outside made safe for a terminal, whether from a log, a policy file or the command
 * line: whatever is not printable ASCII is shown as \xNN (or \u{N} beyond a byte), and what is longer than `width` is cut.
 *
 * @param {string} text
 * @param {number} [width]
 */
export function printable(text, width = Infinity) {
  const safe = text.replace(/[^\x20-\x7e]/gu, (char) => {
    const code = /** @type {number} */ (char.codePointAt(0));
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
  return safe.length > width ? `${safe.slice(0, width - 1)}…` : safe;
}

/**
 * A value as JSON. JSON.stringify escapes but the control characters below the space; terminals act
 * on others too.
 *
 * @param {object} value
 */
export function json(value) {
  return JSON.stringify(value, null, 2).replace(
    /[\x7f-\x9f]/g,
    (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
  );
}

/**
 * Rows under a header, columns aligned: those of numbers to the right.
 *
 * @param {string[]} header
 * @param {string[][]} rows
 * @param {number} leftColumns - how many columns, from the first, are text
 */
export function table(header, rows, leftColumns) {
  const widths = header.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column].length), title.length),
  );
  return [header, ...rows].map((row) =>
    row
      .map((cell, column) =>
        column < leftColumns ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
}

/**
 * What a file is called in messages.
 *
 * @param {string} path
 */
export function displayName(path) {
  return path === '-' ? '<stdin>' : printable(path);
}
