// A sliding window by the book: what was charged, each with its time, in that order.

/** @typedef {{ entries: { at: bigint, count: bigint }[], touched: bigint }} SlidingWindow */

/** @returns {SlidingWindow} */
export function fresh(_limit, now) {
  return { entries: [], touched: now };
}

export function earliest({ touched }) {
  return touched;
}

/** What was charged W ago is out of the window, and for good. @param {SlidingWindow} window @returns {SlidingWindow} */
export function broughtTo({ entries }, limit, now, { observe }) {
  const left = entries.filter(({ at }) => now - at < limit.windowMicros);
  if (entries.some(({ at }) => now - at === limit.windowMicros)) {
    observe('window ended that microsecond');
  }
  return { entries: left, touched: now };
}

function sum({ entries }) {
  return entries.reduce((total, { count }) => total + count, 0n);
}

export function held(window, limit) {
  const count = sum(window);
  return count > limit.limit ? 0n : limit.limit - count;
}

export function charged({ entries, touched }, amount, now) {
  if (amount === 0n) return { entries, touched };
  const last = entries.at(-1);
  if (last?.at !== now) return { entries: [...entries, { at: now, count: amount }], touched };
  return { entries: entries.with(-1, { at: now, count: last.count + amount }), touched };
}

/**
 * Takes back from what was charged at the time `from`, if that is given, and then from the oldest; nothing, where that
 * charge does not count any more.
 */
export function refunded({ entries, touched }, amount, { from, limit, now, observe }) {
  observe('refund of a window');
  if (from !== undefined && now - from >= limit.windowMicros) {
    observe('put back too late');
    return { entries, touched };
  }
  let left = amount;
  const take = (entry) => {
    const taken = entry.count < left ? entry.count : left;
    left -= taken;
    return { ...entry, count: entry.count - taken };
  };
  entries = entries.map((entry) => (entry.at === from ? take(entry) : entry));
  entries = entries.map(take);
  if (left > 0n) observe('refund clamped');
  return { entries: entries.filter(({ count }) => count > 0n), touched };
}

/** Microseconds until enough of the oldest are out of the window. */
export function wait(window, cost, limit, now) {
  let count = sum(window);
  for (const entry of window.entries) {
    count -= entry.count;
    if (count + cost <= limit.limit) return entry.at + limit.windowMicros - now;
  }
  throw new RangeError(`${cost} is more than the window ever admits`);
}

/** Microseconds until the newest is out of the window. */
export function reset({ entries }, limit, now) {
  return entries.length === 0 ? 0n : entries.at(-1).at + limit.windowMicros - now;
}

/** Microseconds until there may be more than now: enough of the oldest, or of what is charged now, is out of it. */
export function more(window, limit, now) {
  const most = limit.limit - held(window, limit) - 1n;
  let count = sum(window);
  if (count === 0n) return limit.windowMicros;
  const last = window.entries.find((entry) => (count -= entry.count) <= most);
  return last.at + limit.windowMicros - now;
}

/** What its client would get back were it forgotten. */
export function missing(window) {
  return Number(sum(window));
}

export { sum as missingWhole };
