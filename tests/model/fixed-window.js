// A fixed window by the book: `count` since `start`. It starts with the first charge after the last one ended. Without
// a count there is none, and `start` is the time of the last decision.

/** @typedef {{ count: bigint, start: bigint }} FixedWindow */

/** @returns {FixedWindow} */
export function fresh(_limit, now) {
  return { count: 0n, start: now };
}

export function earliest({ start }) {
  return start;
}

/** @param {FixedWindow} window @returns {FixedWindow} */
export function broughtTo(window, limit, now, { observe }) {
  const end = window.start + limit.windowMicros;
  if (window.count > 0n && now === end) observe('window ended that microsecond');
  return window.count === 0n || now >= end ? fresh(limit, now) : window;
}

export function held({ count }, limit) {
  return count > limit.limit ? 0n : limit.limit - count;
}

export function charged({ count, start }, amount, now) {
  return count === 0n ? { count: amount, start: now } : { count: count + amount, start };
}

/** Takes back, where what was charged at the time `from` (if that is given) was charged in this window. */
export function refunded({ count, start }, amount, { from, now, observe }) {
  observe('refund of a window');
  if (from !== undefined && from < start) {
    observe('put back too late');
    return { count, start };
  }
  if (amount > count) observe('refund clamped');
  return amount < count ? { count: count - amount, start } : { count: 0n, start: now };
}

/** Microseconds until so much is admitted that is not now. */
export function wait({ start }, _cost, limit, now) {
  return start + limit.windowMicros - now;
}

/** Microseconds until it is over. */
export function reset({ count, start }, limit, now) {
  return count === 0n ? 0n : start + limit.windowMicros - now;
}

/** Microseconds until there may be more than now: it is over, or one that begins now would be. */
export function more({ count, start }, limit, now) {
  return (count === 0n ? now : start) + limit.windowMicros - now;
}

/** What its client would get back were it forgotten. */
export function missing({ count }) {
  return Number(count);
}

export function missingWhole({ count }) {
  return count;
}
