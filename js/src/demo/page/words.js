/** What the page says about decisions, limits and times. */

const counts = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const figures = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });

export const count = (number) => counts.format(number);
export const figure = (number) => figures.format(number);

/** A balance, with a fraction where one can see it grow. Never rounded up to a token not there. */
export function balance(tokens, limit) {
  return limit < 1000 ? tenths.format(Math.floor(tokens * 10) / 10) : count(Math.floor(tokens));
}

/** A time to wait, rounded up in its last place: whoever waits that long waits long enough. */
export function duration(ms) {
  const seconds = Math.ceil(ms / 100) / 10;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.ceil(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.ceil(whole / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.ceil(minutes / 60);
  return `${count(Math.floor(hours / 24))} d ${hours % 24} h`;
}

/** Tokens per second of a limit as it stands in the policies, or null if this page cannot tell. */
export function ratePerSecond(limit) {
  const rate = limit?.refill ? limit.refill.tokens / limit.refill.seconds : limit?.refillPerSecond;
  return Number.isFinite(rate) && rate >= 0 ? rate : null;
}

/** A limit in a few characters: "100 · 1.667/s". */
export function limitInShort(limit) {
  const rate = ratePerSecond(limit);
  return rate === null ? 'not valid' : `${figure(limit.capacity)} · ${figure(rate)}/s`;
}

/** Which policy judged, if it was not the one that was asked for. */
export function judgedBy({ tier, fallback }) {
  switch (fallback) {
    case null:
      return tier;
    case 'no-tier':
      return 'no tier: default';
    case 'unknown-tier':
      return `no tier “${tier}”: default`;
    default:
      return `“${tier}” is invalid: default`;
  }
}

/** A decision in words. */
export function verdict({ allowed, limit, remaining, retryAfterMs, reason }) {
  if (allowed) return `${count(remaining)} of ${figure(limit)} left`;
  switch (reason) {
    case 'cost-exceeds-capacity':
      return `never: it costs more than the ${figure(limit)} a full bucket holds`;
    case 'never-refills':
      return 'never: too few tokens, and this bucket does not refill';
    case 'table-full':
      return 'no room for another client';
    default:
      return `come back in ${duration(retryAfterMs)}`;
  }
}
