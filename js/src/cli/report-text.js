/** A simulation's report for people. */

import { plot } from './plot.js';
import { counted, displayName, grouped, percent, printable, span, table, utc } from './text.js';

/** @import { Report } from './report.js' */

/** As long as an IPv6 address gets. */
const NAME_WIDTH = 39;

const MAX_LOG_NAMES = 3;

/**
 * @param {Report} report
 * @param {{ width: number, color: boolean }} terminal
 */
export function reportText(report, terminal) {
  const { timeline, requests } = report;
  const buckets = timeline.buckets.map(({ startEpochMs, admitted, denied }) => ({
    startSeconds: startEpochMs / 1000,
    admitted,
    denied,
  }));
  const sections = [inputLines(report)];
  if (requests > 0) {
    sections.push(tierLines(report), clientLines(report), plot({ ...timeline, buckets }, terminal));
  }
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** @param {Report} report */
function inputLines({ logs, lines, unparseable, firstEpochMs, lastEpochMs, requests, limiter }) {
  const names =
    logs.length > MAX_LOG_NAMES
      ? counted(logs.length, 'log')
      : logs.map((log) => displayName(log)).join(', ');
  const text = [`${names}: ${counted(lines.total, 'line')}, ${counted(requests, 'request')}`];
  if (firstEpochMs !== null && lastEpochMs !== null) {
    const seconds = (lastEpochMs - firstEpochMs) / 1000;
    text.push(`  from ${utc(firstEpochMs)} to ${utc(lastEpochMs)} UTC (${span(seconds)})`);
  }
  if (lines.outOfOrder > 0) {
    const far = span(lines.maxOutOfOrderSeconds);
    const { reorderSeconds } = lines;
    const done = reorderSeconds > 0 ? `: put in order within ${span(reorderSeconds)}` : '';
    text.push(`  ${counted(lines.outOfOrder, 'line')} out of order, by up to ${far}${done}`);
  }
  if (lines.late > 0) {
    const late = `${counted(lines.late, 'line')} late for their place by up to ${span(lines.maxLateSeconds)}`;
    text.push(`  ${late}: judged at the time reached by then (see --reorder-seconds)`);
  }
  if (lines.blank > 0) text.push(`  ${counted(lines.blank, 'blank line')}`);
  if (lines.withoutClient > 0) {
    text.push(`  ${counted(lines.withoutClient, 'line')} without a client, left out`);
  }
  if (limiter.evictions > 0) {
    const evicted = `${counted(limiter.evictions, 'bucket')} given up for lack of room`;
    text.push(`  ${evicted}: fewer denials than there should be (see --max-clients)`);
  }
  if (lines.unparseable > 0) {
    text.push(`  ${counted(lines.unparseable, 'line')} unparseable, the first:`);
    for (const { log, line, reason, text: start } of unparseable) {
      text.push(`    ${displayName(log)}:${line}: ${printable(reason)}`);
      text.push(`      ${printable(start, 72)}`);
    }
  }
  return text;
}

/** @param {Report} report */
function tierLines({ tiers, requests, admitted, denied, deniedBy, clients }) {
  const rows = tiers.map((tier) => [
    tierName(tier),
    clientCount(tier.clients),
    grouped(tier.requests),
    grouped(tier.admitted),
    grouped(tier.denied),
    percent(tier.denied, tier.requests),
  ]);
  const all = [requests, admitted, denied].map(grouped);
  rows.push(['all', clientCount(clients.total), ...all, percent(denied, requests)]);
  const header = ['Tier', 'clients', 'requests', 'admitted', 'denied', ''];
  const reasons = Object.entries(deniedBy).filter(([reason]) => reason !== 'exhausted');
  return [
    ...table(header, rows, 1),
    ...reasons.map(([reason, count]) => `  ${grouped(count)} denied for ${reason}`),
  ];
}

/** @param {Report} report */
function clientLines({ clients }) {
  if (clients.mostLimited.length === 0) return [];
  const rows = clients.mostLimited.map((row) => [
    printable(row.client, NAME_WIDTH),
    tierName(row),
    `${row.exact ? '' : '>='}${grouped(row.requests)}`,
    grouped(row.admitted),
    grouped(row.denied),
    percent(row.denied, row.requests),
  ]);
  const header = ['Most limited clients', 'tier', 'requests', 'admitted', 'denied', ''];
  const text = table(header, rows, 2);
  if (clients.forgotten > 0) {
    const missed = counted(clients.deniedMissedAtMost, 'denial');
    text.push(
      `  Too many clients to count them all (see --count-clients): ${grouped(clients.forgotten)} times`,
      `  one of the least limited was dropped, and no client has more than ${missed} not counted here.`,
    );
  }
  return text;
}

/** @param {{ tier: string | null, fallback: string | null }} judged */
function tierName({ tier, fallback }) {
  if (tier === null) return '(default)';
  const reason = { 'unknown-tier': ' (unknown)', 'invalid-tier-policy': ' (invalid)' }[
    fallback ?? ''
  ];
  return `${printable(tier, NAME_WIDTH)}${reason ?? ''}`;
}

/** @param {number | null} clients */
function clientCount(clients) {
  return clients === null ? 'many' : grouped(clients);
}
