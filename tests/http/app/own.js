// What the tests of single adapters begin with.
import { TierLimiter } from 'tierlimit';

/**
 * Each client has so many tokens, and nothing comes back: there is no time in RateLimit.
 * @param {number} tokens
 */
export function limiterOf(tokens) {
  const policies = { default: { capacity: Math.max(tokens, 1), refillPerSecond: 0 } };
  const limiter = new TierLimiter({ policies, now: () => 0 });
  if (tokens === 0) limiter.allow('acme');
  return limiter;
}

/**
 * The same by promises.
 * @param {number} tokens
 */
export function slowLimiterOf(tokens) {
  const limiter = limiterOf(tokens);
  return { check: async (client, options) => limiter.check(client, options) };
}

/** Who asks: in the header that the client of the tests sends. */
export const clientOf = (_request, source) => source.header('x-client');
