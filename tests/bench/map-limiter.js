// The limiter that users write by hand: one Map from the client to a small object, a token bucket in floating point. It
// checks no argument, bounds no memory and forgets nobody.

/** @typedef {{ capacity: number, refillPerSecond: number }} Limit */

export class MapLimiter {
  /**
   * @param {() => number} now milliseconds
   * @param {Limit} limit
   * @param {Record<string, Limit>} [tiers]
   */
  constructor(now, limit, tiers = {}) {
    const perMs = (/** @type {Limit} */ { capacity, refillPerSecond }) => ({
      capacity,
      refill: refillPerSecond / 1000,
    });
    this.now = now;
    this.limit = perMs(limit);
    this.tiers = new Map(Object.entries(tiers).map(([name, tier]) => [name, perMs(tier)]));
    /** @type {Map<string, { tokens: number, last: number }>} */
    this.buckets = new Map();
  }

  /**
   * @param {string} client
   * @param {number} [cost]
   * @param {string} [tier]
   */
  allow(client, cost = 1, tier = undefined) {
    const { capacity, refill } =
      tier === undefined ? this.limit : (this.tiers.get(tier) ?? this.limit);
    const now = this.now();
    const bucket = this.buckets.get(client);
    if (bucket === undefined) {
      const admitted = cost <= capacity;
      this.buckets.set(client, { tokens: admitted ? capacity - cost : capacity, last: now });
      return admitted;
    }
    const tokens = Math.min(capacity, bucket.tokens + (now - bucket.last) * refill);
    bucket.last = now;
    if (tokens < cost) {
      bucket.tokens = tokens;
      return false;
    }
    bucket.tokens = tokens - cost;
    return true;
  }
}
