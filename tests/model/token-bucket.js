// A token bucket by the book: `tokens` at the time `touched`, as `limit` counts them.
import { least, Rational } from './rational.js';

/**
 * @typedef {object} TokenBucket
 * @property {Rational} tokens a whole multiple of 1/unit of `limit`
 * @property {bigint} touched
 * @property {import('./policy.js').NamedLimit} limit which judged last
 */
/**
 * @typedef {object} Circumstances
 * @property {import('./history.js').History | null} history
 * @property {string} [raise] in place of the limit's own onRaise, whatever the tiers
 * @property {(event: string) => void} observe
 */

/** One that nobody has spent from. @returns {TokenBucket} */
export function fresh(limit, now) {
  return { tokens: limit.capacity, touched: now, limit };
}

/** The earliest time at which it may be judged. */
export function earliest({ touched }, limit, history) {
  const change = limit.accrual === 'prorated' && history ? history.latestChange : null;
  return change !== null && change > touched ? change : touched;
}

/**
 * A bucket as it is now under the limit that judges now.
 * @param {TokenBucket} bucket
 * @param {Circumstances} circumstances
 * @returns {TokenBucket}
 */
export function broughtTo(bucket, limit, now, { history, raise, observe }) {
  if (limit.accrual !== 'prorated' || history === null) {
    return accrued(moved(bucket, limit, raise, observe), now);
  }

  // As if it had been looked at whenever policies changed: each stretch of time by what was in force then.
  const { revisions } = history;
  let at = revisions.findLastIndex(({ since }) => since === null || since <= bucket.touched);
  // Of changes at the very time of the touch, the limit that judged last tells which it has met: none, where it is older
  // than all of them. If it is of the same tier, for the default stands in for many.
  if (bucket.limit.tier === limit.tier) {
    const isMet = (revision) => history.limitIn(revisions[revision], limit) === bucket.limit;
    while (at > 0 && revisions[at].since === bucket.touched && !isMet(at)) at -= 1;
  }
  if (at === -1) {
    observe('prorated: older than the history');
    at = 0;
    const oldest = history.limitIn(revisions[0], limit);
    if (oldest === null) {
      bucket = idle(bucket, revisions[0].since);
    } else if (!bucket.limit.rate.isMore(oldest.rate)) {
      observe('prorated: the last rate is the lower at the bound');
      bucket = accrued(bucket, revisions[0].since);
    } else {
      observe('prorated: the oldest rate is the lower at the bound');
      const before = bucket.limit;
      bucket = accrued(moved(bucket, oldest, raise, observe), revisions[0].since);
      if (!isSame(oldest, before)) raise = undefined;
    }
  }
  const passed = revisions.length - 1 - at;
  if (passed > 0) observe('prorated');
  if (passed > 1) observe('prorated over several changes');
  for (; at < revisions.length; at += 1) {
    const isPresent = at === revisions.length - 1;
    const until = isPresent ? now : revisions[at + 1].since;
    const judge = isPresent ? limit : history.limitIn(revisions[at], limit);
    if (judge === null) {
      observe('prorated: no such limit meanwhile');
      bucket = idle(bucket, until);
      continue;
    }
    const before = bucket.limit;
    bucket = accrued(moved(bucket, judge, raise, observe), until);
    if (!isSame(judge, before)) raise = undefined; // it is for the first change alone
  }
  return bucket;
}

/** A bucket under its own limit, at a later time. */
export function accrued({ tokens, touched, limit }, now) {
  const gained = limit.rate.times(new Rational(now - touched));
  return { tokens: least(tokens.plus(gained), limit.capacity), touched: now, limit };
}

/** Time in which nothing accrues. */
function idle(bucket, now) {
  return { ...bucket, touched: now };
}

/** A bucket under another limit, at the same time: in its unit, raised by its rule, and no more than it allows. */
function moved({ tokens, touched, limit: last }, limit, raise, observe) {
  if (last === limit) return { tokens, touched, limit };
  const scale = new Rational(limit.unit);
  const inUnits = (amount) => new Rational(amount.times(scale).floor()).over(scale);
  let result = inUnits(tokens);
  if (last.unit !== limit.unit) observe('moved');
  if (!result.isEqual(tokens)) observe('moved and rounded');
  if (limit.capacity.isMore(last.capacity)) {
    const isMove = last.tier !== limit.tier;
    const rule = isMove ? (raise ?? 'keep') : limit.onRaise;
    observe(`raised: ${rule}`);
    if (isMove && raise !== undefined) observe(`raised as setTier asked: ${rule}`);
    if (rule === 'fill') {
      result = limit.capacity;
    } else if (rule === 'proportional') {
      result = inUnits(tokens.times(limit.capacity).over(last.capacity));
    } else if (rule === 'add') {
      const spent = last.capacity.minus(tokens);
      const spentUnits = new Rational(spent.times(scale).ceil()).over(scale);
      result = limit.capacity.minus(spentUnits);
    }
  }
  if (result.isMore(limit.capacity)) observe('clamped');
  return { tokens: least(result, limit.capacity), touched, limit };
}

/** Whether two limits are the same tier's and say the same. */
function isSame(a, b) {
  const isAlike = (key) => a[key] === b[key];
  return (
    ['tier', 'onRaise', 'accrual', 'configured', 'unit'].every(isAlike) &&
    a.capacity.isEqual(b.capacity) &&
    a.rate.isEqual(b.rate)
  );
}

/** The whole tokens that it can give. */
export function held({ tokens }) {
  return tokens.floor();
}

/** @param {TokenBucket} bucket @param {bigint} amount at most what is held */
export function charged(bucket, amount) {
  return { ...bucket, tokens: bucket.tokens.minus(new Rational(amount)) };
}

/** @param {TokenBucket} bucket @param {bigint} amount */
export function refunded(bucket, amount, { observe }) {
  const tokens = bucket.tokens.plus(new Rational(amount));
  if (tokens.isMore(bucket.limit.capacity)) observe('refund clamped');
  return { ...bucket, tokens: least(tokens, bucket.limit.capacity) };
}

/** Microseconds until it can give so much, or null when never. */
export function wait({ tokens, limit }, cost) {
  return limit.rate.isZero() ? null : new Rational(cost).minus(tokens).over(limit.rate).ceil();
}

/** Microseconds until it is full, or null when never. */
export function reset({ tokens, limit }) {
  if (tokens.isEqual(limit.capacity)) return 0n;
  return limit.rate.isZero() ? null : limit.capacity.minus(tokens).over(limit.rate).ceil();
}

/** Microseconds until it has one more whole token, or would have were it larger; null when never. */
export function more({ tokens, limit }) {
  if (limit.rate.isZero()) return null;
  return new Rational(tokens.floor() + 1n).minus(tokens).over(limit.rate).ceil();
}

/** The tokens that its client would get back were it forgotten, as a double. */
export function missing({ tokens, limit }) {
  const scale = new Rational(limit.unit);
  return Number(limit.capacity.minus(tokens).times(scale).floor()) / Number(limit.unit);
}

/** The whole ones of them. */
export function missingWhole({ tokens, limit }) {
  return limit.capacity.minus(tokens).floor();
}
