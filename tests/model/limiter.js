// The limiter by the book: every balance is an exact number of tokens, nothing is optimised.
import { judgeDocument } from './policy.js';
import { least, Rational } from './rational.js';
import { toMicros, waitMs } from './time.js';

const MAX_COST = 2 ** 53 - 1;

/**
 * @typedef {object} Request
 * @property {number} nowMs
 * @property {string} client
 * @property {number} [cost]
 * @property {string} [tier] for this request only
 */

/** A request that is answered with an error and changes nothing. */
export class ModelError extends Error {
  /** @param {{ kind: string, [detail: string]: unknown }} answer */
  constructor(answer) {
    super(answer.kind);
    this.answer = answer;
  }
}

export class ModelLimiter {
  /** @type {import('./policy.js').Policies | null} */
  #policies = null;
  #revision = 0;
  #assigned = new Map();
  #buckets = new Map();
  #allowed = 0;
  #denied = 0;
  #strict;
  #observe;

  /**
   * @param {{ strict?: boolean, observe?: (event: string) => void }} [options] `observe` hears which rule was used
   */
  constructor({ strict = false, observe = () => {} } = {}) {
    this.#strict = strict;
    this.#observe = observe;
  }

  /** @param {unknown} document as json.js has it */
  setPolicies(document) {
    const { policies, refused } = judgeDocument(document, this.#strict);
    if (refused) return { kind: 'refused', problems: refused };
    this.#policies = policies;
    this.#revision += 1;
    return {
      kind: 'report',
      revision: this.#revision,
      rejected: policies.rejected,
      warnings: policies.warnings,
    };
  }

  /**
   * @param {string} client
   * @param {string | null} tier
   */
  setTier(client, tier) {
    if (tier === null) this.#assigned.delete(client);
    else this.#assigned.set(client, tier);
    return { kind: 'done' };
  }

  /** @param {Request} request */
  check(request) {
    return this.#answer(() => this.#spend(request));
  }

  /** @param {Request} request */
  allow(request) {
    const decision = this.check(request);
    return decision.kind === 'decision' ? { kind: 'allow', allowed: decision.allowed } : decision;
  }

  /**
   * Whether the cost would be admitted, and the bucket as it is.
   * @param {Request} request
   */
  peek(request) {
    return this.#answer(() => this.#judge(request, { charges: false }).decision);
  }

  stats() {
    return {
      kind: 'stats',
      buckets: this.#buckets.size,
      assignments: this.#assigned.size,
      allowed: this.#allowed,
      denied: this.#denied,
      revision: this.#revision,
    };
  }

  /** Who judges a request: the limit, the tier's name and why it is the default's, if it is. */
  lookUp(client, callTier) {
    const { defaultLimit, tiers, clients } = this.#policies;
    const tier = callTier ?? this.#assigned.get(client) ?? clients.get(client) ?? null;
    const byDefault = (fallback) => ({ limit: defaultLimit, tier, fallback });
    if (tier === null) return byDefault('no-tier');
    if (!tiers.has(tier)) return byDefault('unknown-tier');
    const limit = tiers.get(tier);
    return limit === null ? byDefault('invalid-tier-policy') : { limit, tier, fallback: null };
  }

  #answer(decide) {
    try {
      return decide();
    } catch (error) {
      if (error instanceof ModelError) return error.answer;
      throw error;
    }
  }

  #spend(request) {
    const { decision, bucket } = this.#judge(request, { charges: true });
    this.#buckets.set(request.client, bucket);
    if (decision.allowed) this.#allowed += 1;
    else this.#denied += 1;
    return decision;
  }

  /** What the answer is and what is to be remembered, without remembering it. */
  #judge({ nowMs, client, cost = 1, tier: callTier }, { charges }) {
    if (!Number.isInteger(cost) || cost < 1 || cost > MAX_COST) {
      throw new ModelError({ kind: 'invalid-cost' });
    }
    const now = toMicros(nowMs);
    if (now === null) throw new ModelError({ kind: 'invalid-time' });

    const { limit, tier, fallback } = this.lookUp(client, callTier);
    const held = this.#accrue(client, limit, now, nowMs);

    const price = new Rational(cost);
    let reason = 'ok';
    if (price.isMore(limit.capacity)) reason = 'cost-exceeds-capacity';
    else if (price.isMore(held)) reason = limit.rate.isZero() ? 'never-refills' : 'exhausted';
    const allowed = reason === 'ok';
    const left = allowed && charges ? held.minus(price) : held;

    const until = (tokens) => {
      const wait = tokens.minus(left).over(limit.rate).ceil();
      const ms = waitMs(nowMs, wait);
      if (ms !== Number(wait) / 1000) this.#observe('wait raised');
      if (now + wait > 2n ** 53n) this.#observe('wait beyond the clock');
      return ms;
    };
    let retryAfterMs = null;
    if (allowed) retryAfterMs = 0;
    else if (reason === 'exhausted') retryAfterMs = until(price);
    let resetMs = null;
    if (left.isEqual(limit.capacity)) resetMs = 0;
    else if (!limit.rate.isZero()) resetMs = until(limit.capacity);

    return {
      bucket: { tokens: left, touched: now, limit },
      decision: {
        kind: 'decision',
        allowed,
        limit: limit.configured,
        remaining: left.floor(),
        retryAfterMs,
        resetMs,
        tier,
        limitName: 'main',
        reason,
        fallback,
      },
    };
  }

  /** The tokens that a client holds now under the limit now in force. */
  #accrue(client, limit, now, nowMs) {
    const bucket = this.#buckets.get(client);
    if (!bucket) return limit.capacity;
    if (now < bucket.touched) {
      throw new ModelError({ kind: 'clock', nowMs, touchedMs: Number(bucket.touched) / 1000 });
    }
    const held = this.#move(bucket, limit);
    if (held.isMore(limit.capacity)) this.#observe('clamped');
    const gained = limit.rate.times(new Rational(now - bucket.touched));
    return least(held.plus(gained), limit.capacity);
  }

  /** A balance is a whole number of 1/unit tokens; another limit may count in another unit, and rounds down to it. */
  #move(bucket, limit) {
    const scale = new Rational(limit.unit);
    const moved = new Rational(bucket.tokens.times(scale).floor()).over(scale);
    if (bucket.limit.unit !== limit.unit) this.#observe('moved');
    if (!moved.isEqual(bucket.tokens)) this.#observe('moved and rounded');
    if (limit.capacity.isMore(bucket.limit.capacity)) this.#observe('raised');
    return moved;
  }
}
