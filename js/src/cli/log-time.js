/** The time of an access log line, as the Common Log Format writes it. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const FORM =
  /^(\d\d)\/([A-Z][a-z][a-z])\/(\d{4}):([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60) ([+-])(\d\d)([0-5]\d)$/;

/** The years whose microseconds a limiter's clock can hold exactly, and that a web server can have seen. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2254;

/**
 * Reads `17/May/2015:10:05:03 +0200` as seconds since 1970-01-01 00:00:00 UTC, zone offset included.
 * A leap second (`23:59:60`) is the second after `23:59:59`.
 *
 * @param {string} text
 * @returns {number} NaN when the text is no such time: another form, 31 April, the year 9999
 */
export function parseLogTime(text) {
  const found = FORM.exec(text);
  if (found === null) return NaN;
  const [, day, monthName, year, hour, minute, second, sign, zoneHour, zoneMinute] = found;
  const month = MONTHS.indexOf(monthName);
  if (month === -1 || Number(year) < FIRST_YEAR || Number(year) > LAST_YEAR) return NaN;
  const midnightMs = Date.UTC(Number(year), month, Number(day));
  // Date.UTC carries 31 April over into May: a real date comes back as it went in.
  if (new Date(midnightMs).getUTCDate() !== Number(day)) return NaN;
  const local = midnightMs / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const offset = Number(zoneHour) * 3600 + Number(zoneMinute) * 60;
  return sign === '+' ? local - offset : local + offset;
}
