/** A plot of requests over time for a terminal: a row per bucket, denied stacked on admitted. */

import { grouped, span, utc } from './text.js';

/** @import { TimeBucket } from './timeline.js' */

/** From one eighth of a cell to a full one. */
const EIGHTHS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const ADMITTED = '█';
const DENIED = '▒';

const GREEN = '\x1b[32m';
const RED = '\x1b[31m';
const PLAIN = '\x1b[39m';

/**
 * @param {{ bucketSeconds: number, buckets: TimeBucket[] }} timeline - at least one bucket
 * @param {{ width: number, color: boolean }} terminal
 * @returns {string[]} lines of at most `width` characters, unless it is too narrow for any bar
 */
export function plot({ bucketSeconds, buckets }, { width, color }) {
  /** @type {(text: string, escape: string) => string} */
  const painted = (text, escape) => (color && text !== '' ? `${escape}${text}${PLAIN}` : text);

  const labels = buckets.map(({ startSeconds }) => label(startSeconds, bucketSeconds));
  const totals = buckets.map(({ admitted, denied }) => grouped(admitted + denied));
  const denials = buckets.map(({ denied }) => (denied === 0 ? '' : grouped(denied)));
  const totalWidth = longest([...totals, 'requests']);
  const deniedWidth = longest([...denials, 'denied']);
  const barWidth = Math.max(10, width - labels[0].length - totalWidth - deniedWidth - 6);
  const most = buckets.reduce((max, { admitted, denied }) => Math.max(max, admitted + denied), 1);

  const legend = `${painted(ADMITTED, GREEN)} admitted  ${painted(DENIED, RED)} denied`;
  const heading = `${''.padEnd(labels[0].length)}  ${legend}`;
  const headingGap = barWidth - '█ admitted  ▒ denied'.length;
  const lines = [
    `${heading}${' '.repeat(Math.max(0, headingGap))}  ${'requests'.padStart(totalWidth)}  ${'denied'.padStart(deniedWidth)}`,
  ];
  buckets.forEach(({ admitted, denied }, row) => {
    const [solid, hatched] = bar(admitted, denied, barWidth / most);
    const blank = ' '.repeat(barWidth - solid.length - hatched.length);
    const numbers = `${totals[row].padStart(totalWidth)}  ${denials[row].padStart(deniedWidth)}`;
    lines.push(
      `${labels[row]}  ${painted(solid, GREEN)}${painted(hatched, RED)}${blank}  ${numbers}`.trimEnd(),
    );
  });
  return [`Requests per ${span(bucketSeconds)}, from (UTC)`, '', ...lines];
}

/**
 * Cells of a bar. Denials are never rounded away: one shows, be there ever so many admitted.
 *
 * @param {number} admitted
 * @param {number} denied
 * @param {number} cellsPerRequest
 * @returns {[solid: string, hatched: string]}
 */
function bar(admitted, denied, cellsPerRequest) {
  if (denied === 0) {
    const eighths = Math.ceil(admitted * cellsPerRequest * 8);
    const rest = eighths % 8;
    return [ADMITTED.repeat(Math.floor(eighths / 8)) + (rest > 0 ? EIGHTHS[rest - 1] : ''), ''];
  }
  const cells = Math.max(1, Math.round((admitted + denied) * cellsPerRequest));
  const deniedCells = Math.max(1, Math.round(denied * cellsPerRequest));
  return [ADMITTED.repeat(Math.max(0, cells - deniedCells)), DENIED.repeat(deniedCells)];
}

/**
 * @param {number} startSeconds
 * @param {number} bucketSeconds
 */
function label(startSeconds, bucketSeconds) {
  const text = utc(startSeconds * 1000);
  if (bucketSeconds % 86400 === 0) return text.slice(0, 'yyyy-mm-dd'.length);
  return bucketSeconds % 60 === 0 ? text.slice(0, 'yyyy-mm-dd hh:mm'.length) : text;
}

/** @param {string[]} texts */
function longest(texts) {
  return texts.reduce((width, text) => Math.max(width, text.length), 0);
}
