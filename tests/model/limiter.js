// The limiter by the book: every balance is an exact number of tokens, nothing is optimised.
import { judgeDocument } from './policy.js';
import { least, Rational } from './rational.js';
import { toMicros, waitMs } from './time.js';

const MAX_COST = 2 ** 53 - 1;

/** A table has a sample of so many buckets, if there are as many, of which the first to go is evicted … */
const SAMPLE = 8;
/** … or of so many, where all of the former have spent more than the newcomer. */
const WIDE_SAMPLE = 64;
/** What is lost by forgetting a bucket that will never be full is more than any wait. */
const NEVER_FULL = 2n ** 63n;

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
  /** Who was evicted, in that order. @type {string[]} */
  evicted = [];
  /** @type {import('./policy.js').Policies | null} */
  #policies = null;
  #revision = 0;
  #assigned = new Map();
  #buckets = new Map();
  #allowed = 0;
  #denied = 0;
  #evictions = 0;
  #evictedTokens = 0;
  #tableFull = 0;
  #strict;
  #observe;
  #maxClients;
  #onFull;
  #whoGoes;

  /**
   * @param {object} [options]
   * @param {boolean} [options.strict]
   * @param {(event: string) => void} [options.observe] hears which rule was used
   * @param {number} [options.maxClients]
   * @param {'evict' | 'deny'} [options.onFull]
   * @param {(first: string) => string} [options.whoGoes] Where a table is full, a sample of its buckets depends on the
   *   secret: so whoever knows says who goes. `first` is the first to go of all; by default that one is it.
   */
  constructor({
    strict = false,
    observe = () => {},
    maxClients = Infinity,
    onFull = 'evict',
    whoGoes = (first) => first,
  } = {}) {
    this.#strict = strict;
    this.#observe = observe;
    this.#maxClients = maxClients;
    this.#onFull = onFull;
    this.#whoGoes = whoGoes;
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
   * All at one time, one after the other; where one cannot be judged, none is.
   * @param {{ nowMs: number, clients: string[], cost?: number, tier?: string }} request
   */
  allowMany({ clients, ...request }) {
    return this.#answer(() => {
      this.#read(request);
      for (const client of clients) this.#judge({ ...request, client }, { charges: false });
      const allowed = clients.map((client) => this.#spend({ ...request, client }).allowed);
      return { kind: 'allowMany', allowed };
    });
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
      evictions: this.#evictions,
      evictedTokens: this.#evictedTokens,
      tableFull: this.#tableFull,
    };
  }

  /** Whether there is a bucket of the client. */
  has(client) {
    return this.#buckets.has(client);
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
    const { client } = request;
    if (decision.allowed) this.#allowed += 1;
    else this.#denied += 1;
    if (decision.reason === 'table-full') this.#tableFull += 1;
    if (this.#hasRoom(client)) {
      this.#buckets.set(client, bucket);
    } else if (decision.allowed) {
      this.#evict(bucket);
      this.#buckets.set(client, bucket);
    } // Else it would be full, or there is no place for it.
    return decision;
  }

  #hasRoom(client) {
    return this.#buckets.has(client) || this.#buckets.size < this.#maxClients;
  }

  /** The cost and the time of a request, checked. */
  #read({ nowMs, cost = 1 }) {
    if (!Number.isInteger(cost) || cost < 1 || cost > MAX_COST) {
      throw new ModelError({ kind: 'invalid-cost' });
    }
    const now = toMicros(nowMs);
    if (now === null) throw new ModelError({ kind: 'invalid-time' });
    return now;
  }

  /** What the answer is and what is to be remembered, without remembering it. */
  #judge({ nowMs, client, cost = 1, tier: callTier }, { charges }) {
    const now = this.#read({ nowMs, cost });
    const { limit, tier, fallback } = this.lookUp(client, callTier);
    const held = this.#accrue(client, limit, now, nowMs);

    const price = new Rational(cost);
    let reason = 'ok';
    if (price.isMore(limit.capacity)) reason = 'cost-exceeds-capacity';
    else if (price.isMore(held)) reason = limit.rate.isZero() ? 'never-refills' : 'exhausted';
    if (reason === 'ok' && this.#onFull === 'deny' && !this.#hasRoom(client)) reason = 'table-full';
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

    const last = this.#buckets.get(client);
    const judgedBy = fallback === null ? tier : null;
    const several = last !== undefined && (last.several || last.judgedBy !== judgedBy);
    return {
      bucket: { tokens: left, touched: now, limit, judgedBy, several },
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

  /** Makes room for a new bucket. */
  #evict(newcomer) {
    const now = newcomer.touched;
    const all = [...this.#buckets].map(([client, bucket]) => ({
      client,
      bucket,
      loss: this.#loss(client, bucket, now),
    }));
    const isBefore = (a, b) =>
      a.loss < b.loss || (a.loss === b.loss && a.bucket.touched < b.bucket.touched);
    const first = all.reduce((best, each) => (isBefore(each, best) ? each : best));
    const said = this.#whoGoes(first.client);
    // Of a sample it is the first to go: as many as that has are not before it.
    const mayGo = (each) => {
      const own = lossOf(newcomer.limit, newcomer.tokens, newcomer.limit);
      const sample = each.loss > own ? WIDE_SAMPLE : SAMPLE;
      const after = all.filter((other) => !isBefore(other, each)).length;
      return after >= Math.min(sample, all.length);
    };
    const found = all.find(({ client }) => client === said);
    const { client, bucket, loss } = found !== undefined && mayGo(found) ? found : first;
    if (loss >= NEVER_FULL) this.#observe('evicted: never full');
    else if (loss === 0n) this.#observe('evicted: full');
    else this.#observe('evicted: some day full');
    if (client !== first.client) this.#observe('evicted: not the first of all');

    // The client gets back the most by that limit of those that may judge it next under which it lacks the most.
    const givenAway = this.#mayJudge(client, bucket).map((limit) => {
      const missing = limit.capacity.minus(this.#heldUnder(limit, bucket, now));
      return Number(missing.times(new Rational(limit.unit)).floor()) / Number(limit.unit);
    });
    this.#evictions += 1;
    this.#evictedTokens += Math.max(...givenAway);
    this.#buckets.delete(client);
    this.evicted.push(client);
    this.#observe('evicted');
  }

  /** What a bucket holds by the limit that last judged it. */
  #heldBy({ tokens, touched, limit }, now) {
    if (now < touched) return tokens;
    return least(tokens.plus(limit.rate.times(new Rational(now - touched))), limit.capacity);
  }

  /**
   * The limits that may judge a bucket next: that which last judged it, what has become of that, and what judges the
   * client when no tier is named; where several tiers have judged it, any.
   */
  #mayJudge(client, { limit, judgedBy, several }) {
    const { defaultLimit, tiers } = this.#policies;
    const limits = [
      limit,
      judgedBy === null ? defaultLimit : this.lookUp(client, judgedBy).limit,
      this.lookUp(client, undefined).limit,
    ];
    if (several) limits.push(defaultLimit, ...[...tiers.values()].filter((each) => each !== null));
    return limits;
  }

  /** What a bucket holds by a limit that may judge it next. */
  #heldUnder(limit, { tokens, touched }, now) {
    const scale = new Rational(limit.unit);
    const moved = least(new Rational(tokens.times(scale).floor()).over(scale), limit.capacity);
    if (now < touched) return moved;
    return least(moved.plus(limit.rate.times(new Rational(now - touched))), limit.capacity);
  }

  /**
   * What is lost by forgetting a bucket: microseconds until nobody can tell it from a new one, for it is full under all
   * limits that may judge it next; and if it never will be, the whole tokens that it lacks.
   */
  #loss(client, bucket, now) {
    const never = lossOf(bucket.limit, this.#heldBy(bucket, now), null);
    if (now < bucket.touched) return never;
    let longest = 0n;
    for (const limit of this.#mayJudge(client, bucket)) {
      const wait = lossOf(limit, this.#heldUnder(limit, bucket, now), limit);
      if (wait >= NEVER_FULL) return never;
      if (wait > longest) longest = wait;
    }
    return longest;
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

/** What is lost by forgetting a bucket of `limit` that holds so much and gains by the rate of `by`, if by any. */
function lossOf(limit, held, by) {
  const missing = limit.capacity.minus(held);
  if (missing.isZero()) return by === null ? NEVER_FULL : 0n;
  if (by === null || by.rate.isZero()) return NEVER_FULL + missing.floor();
  return missing.over(by.rate).ceil();
}
