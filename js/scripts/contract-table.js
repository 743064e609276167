// The table of runtimes and of what a limiter did in each. A test says its row as a diagnostic, by contractNote.

/**
 * @typedef {object} ContractRow
 * @property {string} runtime with what is special about how it runs: `workerd 2024-01-01, no_nodejs_compat`
 * @property {string} version
 * @property {Record<string, string>} outcomes `ok`, or what is wrong, by clause of tests/contract/limiter.js
 */

const mark = 'contract ';

/**
 * A row as a test reports it.
 * @param {ContractRow} row
 */
export const contractNote = (row) => `${mark}${JSON.stringify(row)}`;

/** @param {string} note */
export const isContractRow = (note) => note.startsWith(`${mark}{`);

/**
 * @param {string} note
 * @returns {ContractRow}
 */
export const contractRow = (note) => JSON.parse(note.slice(mark.length));

/**
 * One line a row, sorted by runtime.
 * @param {ContractRow[]} rows
 */
export function contractTable(rows) {
  const clauses = [...new Set(rows.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  const body = rows
    .map(({ runtime, version, outcomes }) => [
      runtime,
      version,
      ...clauses.map((clause) => (outcomes[clause] === 'ok' ? 'ok' : 'FAILED')),
    ])
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  const lines = [['runtime', 'version', ...clauses], ...body];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
