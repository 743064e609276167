// What every subject is set up for.

/**
 * @typedef {object} Setting
 * @property {number} clients
 * @property {import('./map-limiter.js').Limit} limit of the default and of every tier
 * @property {typeof import('../../js/src/index.js').TierLimiter} [TierLimiter] that of another build
 */

export const tiers = ['free', 'pro', 'enterprise'];

/** @param {number} client always in the same tier */
export const tierOf = (client) => tiers[client % tiers.length];

/**
 * The limits that make all requests admitted or denied, once every client has spent `first` tokens. The refill is slow
 * enough that no bucket gets full, or a token more, while it is measured: nobody is forgotten, in no subject.
 */
export const outcomes = Object.freeze({
  admitted: { limit: { capacity: 1e9, refillPerSecond: 0.001 }, first: 1 },
  denied: { limit: { capacity: 5, refillPerSecond: 0.001 }, first: 5 },
});

/** @param {Setting} setting */
export const policies = ({ limit }) => ({
  default: limit,
  tiers: Object.fromEntries(tiers.map((name) => [name, limit])),
});
