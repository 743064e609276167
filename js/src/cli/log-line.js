/** A line of an access log in the Common or the Combined Log Format. */

import { parseLogTime } from './log-time.js';

/**
 * @typedef {object} LogLine
 * @property {string} host - the first field: an address or a host name
 * @property {string} user - the authenticated user, `-` when there was none
 * @property {string} agent - the user agent, `-` when it was not sent or the line is in the Common format
 * @property {number} seconds - when, in seconds since 1970 UTC
 */

const TIME = / \[(\d\d\/[A-Za-z]{3}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] /;

/** Host, ident and user. Only a user may hold spaces: Apache logs them as they were sent. */
const WHO = /^([^ ]+) [^ ]+ (.+)$/s;

/** A quoted field, in which `\"` and `\\` are a quote and a backslash of the field itself. */
const QUOTED = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"`;

/** Request, status and size; in the Combined format also referer and user agent; then whatever was appended. */
const WHAT = new RegExp(`${QUOTED} (?:\\d{3}|-) (?:\\d+|-)(?: ${QUOTED} ${QUOTED})?(?= |$)`, 'sy');

/**
 * Reads one line. Fields are given as they stand in the log: `\"` and `\xNN` are not resolved, so
 * different names stay different.
 *
 * @param {string} line - without its line end
 * @returns {LogLine | string} the line, or why it is none
 */
export function parseLogLine(line) {
  const time = TIME.exec(line);
  if (time === null) return 'no time such as [17/May/2015:10:05:03 +0000]';
  const seconds = parseLogTime(time[1]);
  if (Number.isNaN(seconds)) return `no such time: ${time[1]}`;
  const who = WHO.exec(line.slice(0, time.index));
  if (who === null) return 'no host, ident and user before the time';
  WHAT.lastIndex = time.index + time[0].length;
  const what = WHAT.exec(line);
  if (what === null) return 'no "request", status and size after the time';
  return { host: who[1], user: who[2], agent: what[3] ?? '-', seconds };
}
