// Limiters whose clock a test sets.
import { TierLimiter } from 'tierlimit';

/** So that runs repeat: which clients share a probe sequence depends on the seed. */
export const seed = Uint8Array.from({ length: 16 }, (_, index) => index * 7 + 1);

/**
 * A limiter and its clock: `clock.ms` is what `now` returns.
 *
 * @param {object | string} policies
 * @param {object} [options]
 * @param {typeof TierLimiter} [Limiter]
 */
export function clocked(policies, options = {}, Limiter = TierLimiter) {
  const clock = { ms: 0 };
  const limiter = new Limiter({ policies, now: () => clock.ms, seed, ...options });
  /** `check` at a time; and `take.peek`. */
  const take = (client, atMs, cost = 1, tier = undefined) => {
    clock.ms = atMs;
    return limiter.check(client, { cost, tier });
  };
  take.peek = (client, atMs, cost = 1, tier = undefined) => {
    clock.ms = atMs;
    return limiter.peek(client, { cost, tier });
  };
  return { limiter, clock, take };
}

/** A document with nothing but a default. */
export const only = (capacity, refillPerSecond) => ({ default: { capacity, refillPerSecond } });

/**
 * What a call throws.
 *
 * @param {() => unknown} call
 * @returns {unknown}
 */
export function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('it was expected to throw');
}

/** What is no string, and how errors show it. @type {readonly (readonly [unknown, string])[]} */
export const notStrings = [
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [NaN, 'NaN'],
  [-0, '-0'],
  [5n, '5n'],
  [true, 'true'],
  [Symbol('s'), 'Symbol(s)'],
  [() => 'a', 'a Function'],
  [{}, 'an Object'],
  [['a'], 'an Array'],
  [new String('a'), 'a String'],
];

/**
 * A whole decision of a policy that has one limit, by what is told of that.
 *
 * @param {object} decision without `limitName` and `limits`, and with `moreAfterMs`
 */
export function byMain({ moreAfterMs, ...whole }) {
  const { limit, remaining, retryAfterMs, resetMs, windowMs, ...rest } = whole;
  const numbers = { limit, remaining, retryAfterMs, resetMs, windowMs };
  return {
    ...rest,
    ...numbers,
    limitName: 'main',
    limits: [{ name: 'main', ...numbers, moreAfterMs }],
  };
}
