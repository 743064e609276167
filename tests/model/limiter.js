// The limiter by the book: every balance is an exact number of tokens, nothing is optimised.
import * as fixedWindow from './fixed-window.js';
import { hasProrated, History, isProrated } from './history.js';
import { judgeDocument } from './policy.js';
import { Shadow } from './shadow.js';
import * as slidingWindow from './sliding-window.js';
import { Table } from './table.js';
import { toMicros, waitMs } from './time.js';
import * as tokenBucket from './token-bucket.js';

const MAX_COST = 2 ** 53 - 1;

/** How each algorithm counts. */
const COUNTING = {
  'token-bucket': tokenBucket,
  'fixed-window': fixedWindow,
  'sliding-window': slidingWindow,
};

/** @typedef {import('./policy.js').NamedLimit} NamedLimit */
/**
 * @typedef {object} Request
 * @property {number} nowMs
 * @property {string} client
 * @property {number} [cost]
 * @property {string} [tier] for this request only
 */
/**
 * @typedef {object} Reservation
 * @property {string} client
 * @property {string} [tier]
 * @property {number} cost
 * @property {bigint} at
 * @property {number} untilMs from when on it is too late to settle it
 * @property {NamedLimit[]} charged
 * @property {'open' | 'denied' | 'expired' | 'settled' | 'cancelled'} state
 * @property {Shadow | null} shadow which saw it
 * @property {number} [shadowed] its number there
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
  /** @type {History | null} */
  #history = null;
  #assigned = new Map();
  #raises = new Map(); // what setTier asked for, until the client's next decision
  #table;
  #allowed = 0;
  #denied = 0;
  #tableFull = 0;
  /** @type {(Reservation | null)[]} */
  #reservations = [];
  /** @type {Shadow | null} */
  #shadow = null;
  #strict;
  #observe;

  /**
   * @param {object} [options]
   * @param {boolean} [options.strict]
   * @param {(event: string) => void} [options.observe] hears which rule was used
   * @param {number} [options.maxClients]
   * @param {'evict' | 'deny'} [options.onFull]
   * @param {import('./table.js').WhoGoes} [options.whoGoes]
   */
  constructor({ strict = false, observe = () => {}, ...bounds } = {}) {
    this.#strict = strict;
    this.#observe = observe;
    this.#table = new Table({
      ...bounds,
      observe,
      loss: this.#lossOf.bind(this),
      // Who has no bucket has no balance that could be raised.
      gone: (client) => {
        if (this.#raises.delete(client)) observe('forgotten before it was raised');
      },
    });
  }

  /** Who was evicted, in that order. @type {import('./table.js').Evicted[]} */
  get evicted() {
    return this.#table.evicted;
  }

  /**
   * @param {unknown} document as json.js has it
   * @param {number} [nowMs] not at the first time
   */
  setPolicies(document, nowMs) {
    const { policies, refused } = judgeDocument(document, this.#strict);
    if (refused) return { kind: 'refused', problems: refused };
    return this.#answer(() => this.#putInForce(policies, nowMs));
  }

  #putInForce(policies, nowMs) {
    const old = this.#policies;
    let history = null;
    if (old !== null && (hasProrated(old) || hasProrated(policies))) {
      const since = toMicros(nowMs);
      const before = this.#history ?? new History([{ since: null, policies: old }]);
      const { latestChange } = before;
      if (latestChange !== null && since < latestChange) {
        throw new ModelError({ kind: 'clock-error' });
      }
      history = before.with(since, policies);
      if (hasProrated(policies)) this.#moveClients(policies, since);
      if (before.revisions.length === history.revisions.length) this.#observe('history is full');
    } else if (this.#history !== null) this.#observe('history dropped');
    this.#history = history;
    this.#policies = policies;
    this.#revision += 1;
    return this.#report();
  }

  /** Whom a document moves to another tier is looked at for the last time by the limits before. */
  #moveClients(policies, now) {
    const named = [...this.#policies.clients.keys(), ...policies.clients.keys()];
    for (const client of new Set([...named, ...this.#assigned.keys()])) {
      const newTier = this.#assigned.get(client) ?? policies.clients.get(client) ?? null;
      const oldLimits = this.#limitsOf(this.#ownTier(client)).limits;
      const looks = this.#lookingBack(client, oldLimits, this.#limitsOf(newTier, policies).limits);
      const present = looks.filter(({ bucket }) => bucket.state.touched <= now);
      for (const { limit, bucket } of present) {
        this.#observe('a document moves a client');
        const state = this.#brought(bucket, limit, now, this.#raises.get(client));
        this.#table.put(client, bucketOf(limit, state, bucket));
      }
      // What setTier asked for was for the move that it made.
      if (present.length > 0 && this.#raises.delete(client)) this.#observe('raised by a document');
    }
  }

  #report() {
    const { rejected, warnings } = this.#policies;
    return { kind: 'report', revision: this.#revision, rejected, warnings };
  }

  /**
   * @param {string} client
   * @param {string | null} tier
   * @param {{ nowMs?: number, onRaise?: string, isShadow?: boolean }} [options] a shadow has to go along
   */
  setTier(client, tier, { nowMs, onRaise = 'keep', isShadow = false } = {}) {
    return this.#answer(() => {
      const oldTier = this.#ownTier(client);
      const newTier = tier ?? this.#policies.clients.get(client) ?? null;
      if (newTier !== oldTier) {
        this.#observe('setTier changes the tier');
        try {
          this.#lookAt(client, oldTier, newTier, toMicros(nowMs));
        } catch (error) {
          if (!isShadow || !(error instanceof ModelError)) throw error;
        }
        // Who has no bucket has no balance that could be raised, nor has who is judged by the same as before.
        const isSame = this.#limitsOf(oldTier).limits === this.#limitsOf(newTier).limits;
        if (onRaise === 'keep' || isSame || !this.#table.hasAny(client))
          this.#raises.delete(client);
        else this.#raises.set(client, onRaise);
      }
      if (tier === null) this.#assigned.delete(client);
      else this.#assigned.set(client, tier);
      this.#shadow?.setTier(client, tier, { nowMs, onRaise });
      return { kind: 'done' };
    });
  }

  /** Where the new tier prorates, time until now is the old one's. */
  #lookAt(client, oldTier, newTier, now) {
    const { limits } = this.#limitsOf(oldTier);
    const looks = this.#lookingBack(client, limits, this.#limitsOf(newTier).limits);
    if (this.#latest(looks) > now) throw new ModelError({ kind: 'clock-error' });
    for (const { limit, bucket } of looks) {
      this.#observe('setTier looked at a bucket');
      const state = this.#brought(bucket, limit, now, this.#raises.get(client));
      this.#table.put(client, bucketOf(limit, state, bucket));
    }
  }

  /** The buckets of a client that have accrued by one of some limits, and will by another one in parts. */
  #lookingBack(client, oldLimits, newLimits) {
    return newLimits
      .filter((limit) => isProrated(limit))
      .map(({ name, algorithm, tier }) =>
        oldLimits.find(
          (old) => old.name === name && old.algorithm === algorithm && old.tier !== tier,
        ),
      )
      .filter((old) => old !== undefined)
      .map((old) => this.#bucketFor(client, old))
      .filter(({ bucket }) => bucket !== undefined);
  }

  /** @param {Request} request */
  check(request) {
    return this.#answer(() => this.#spend(request).decision);
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
      const allowed = clients.map((client) => this.#spend({ ...request, client }).decision.allowed);
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

  /**
   * Gives tokens back.
   * @param {Request} request
   */
  refund(request) {
    return this.#answer(() => {
      const now = this.#read(request);
      const { client, cost = 1, tier } = request;
      const { limits } = this.lookUp(client, tier);
      const raise = this.#raiseOf(client, tier);
      this.#giveBack({ client, present: limits, limits, raise }, BigInt(cost), now, request.nowMs);
      this.#shadow?.refund(request);
      return { kind: 'done' };
    });
  }

  #raiseOf(client, tier) {
    return (tier ?? null) === null ? this.#raises.get(client) : undefined;
  }

  /** Into some of the limits that judge; what waits to be raised in any of them is raised before. */
  #giveBack({ client, present, limits, raise }, amount, now, nowMs, from) {
    const found = this.#existing(client, present, now, nowMs);
    for (const { limit, bucket } of found) {
      const { refunded } = COUNTING[limit.algorithm];
      let state = this.#brought(bucket, limit, now, raise);
      if (limits.includes(limit)) {
        state = refunded(state, amount, { limit, now, from, observe: this.#observe });
      } else if (raise === undefined) continue;
      this.#table.put(client, bucketOf(limit, state, bucket));
    }
    if (raise !== undefined) this.#raises.delete(client);
  }

  /** The buckets that there are for some limits, all of which may be judged now. */
  #existing(client, limits, now, nowMs) {
    const pairs = limits.map((limit) => this.#bucketFor(client, limit));
    this.#checkClock(pairs, now, nowMs);
    return pairs.filter(({ bucket }) => bucket !== undefined);
  }

  /**
   * A decision that may be corrected until `ttlMs` are over. Reservations are numbered from 0, refused ones too.
   * @param {Request & { ttlMs: number }} request
   */
  reserve(request) {
    const number = this.#reservations.push(null) - 1;
    return this.#answer(() => {
      const { client, tier, cost = 1, nowMs, ttlMs } = request;
      const { decision, limits, shadowed } = this.#spend(request, { reserves: true });
      const at = toMicros(nowMs);
      this.#reservations[number] = {
        client,
        tier,
        cost,
        at,
        untilMs: nowMs + ttlMs, // by the clock, as callers add
        charged: limits,
        state: decision.allowed ? 'open' : 'denied',
        shadow: this.#shadow,
        shadowed,
      };
      return decision;
    });
  }

  /**
   * What a reservation really cost.
   * @param {{ nowMs: number, reservation: number, actual: number }} request
   */
  settle({ nowMs, reservation: number, actual }) {
    return this.#end(number, actual, nowMs, 'settled');
  }

  /** @param {{ nowMs: number, reservation: number }} request */
  cancel({ nowMs, reservation: number }) {
    return this.#end(number, 0, nowMs, 'cancelled');
  }

  #end(number, actual, nowMs, outcome) {
    const reservation = this.#reservations[number];
    const answered = (said, { returned = 0n, debt = 0n } = {}) => ({
      kind: 'settlement',
      outcome: said,
      returned,
      debt,
    });
    if (reservation === null) return answered('denied'); // there was none: an error
    const { state, shadow, shadowed } = reservation;
    if (state === 'denied' || state === 'expired') return answered(state);
    if (state !== 'open') return answered(`already-${state}`);
    return this.#answer(() => {
      const now = toMicros(nowMs);
      if (nowMs >= reservation.untilMs) {
        reservation.state = 'expired'; // whatever the clock reads later
        return answered('expired');
      }
      let settlement;
      try {
        settlement = this.#settle(reservation, BigInt(actual), now, nowMs);
      } catch (error) {
        throw error instanceof ModelError ? new ModelError({ kind: 'clock-error' }) : error;
      }
      reservation.state = outcome;
      if (shadow !== null && shadow === this.#shadow) shadow.settle(shadowed, actual, nowMs);
      return answered(outcome, settlement);
    });
  }

  #settle({ client, tier, cost, at, charged: estimated }, actual, now, nowMs) {
    const estimate = BigInt(cost);
    const present = this.lookUp(client, tier).limits;
    const limits = present.filter(({ name, algorithm }) =>
      estimated.some((each) => each.name === name && each.algorithm === algorithm),
    );
    if (limits.length < estimated.length) this.#observe('settled: a limit is gone');
    if (actual === estimate) return {};
    const raise = this.#raiseOf(client, tier);
    this.#existing(client, present, now, nowMs); // they may be judged, whether or not they were charged
    if (actual < estimate) {
      this.#giveBack({ client, present, limits, raise }, estimate - actual, now, nowMs, at);
      if (limits.length > 0) return { returned: estimate - actual };
      this.#observe('settled: no limit is left');
      return {};
    }
    const extra = actual - estimate;
    let debt = 0n;
    let room = this.#table.room(client);
    const charged = [];
    for (const limit of present) {
      const { bucket } = this.#bucketFor(client, limit);
      if (!limits.includes(limit)) {
        if (bucket === undefined || raise === undefined) continue;
        charged.push(bucketOf(limit, this.#brought(bucket, limit, now, raise), bucket));
        continue;
      }
      const counting = COUNTING[limit.algorithm];
      const hasRoom = bucket !== undefined || room > 0;
      if (bucket === undefined) room -= 1;
      const brought = bucket
        ? this.#brought(bucket, limit, now, raise)
        : counting.fresh(limit, now);
      const held = hasRoom ? counting.held(brought, limit) : 0n;
      const taken = held < extra ? held : extra;
      if (extra - taken > debt) debt = extra - taken;
      if (!hasRoom) continue;
      charged.push(bucketOf(limit, counting.charged(brought, taken, now), bucket));
    }
    this.#table.putAll(client, charged, { makesRoom: true, now });
    if (raise !== undefined) this.#raises.delete(client);
    if (debt > 0n) this.#observe('debt');
    return { debt };
  }

  /**
   * Judges a candidate beside what is in force.
   * @param {unknown} document
   */
  setShadowPolicies(document) {
    const { policies, refused } = judgeDocument(document, this.#strict);
    if (refused) return { kind: 'refused', problems: refused };
    const limiter = new ModelLimiter({ strict: this.#strict });
    limiter.setPolicies(document);
    for (const [client, tier] of this.#assigned) limiter.#assigned.set(client, tier);
    this.#shadow = new Shadow(limiter, document, this.#observe);
    return { kind: 'shadow', rejected: policies.rejected, warnings: policies.warnings };
  }

  endShadow() {
    this.#shadow = null;
    return { kind: 'done' };
  }

  /** Whether there is a candidate. */
  get hasShadow() {
    return this.#shadow !== null;
  }

  /** Puts the candidate in force. @param {number} nowMs */
  promoteShadow(nowMs) {
    const answer = this.setPolicies(this.#shadow.document, nowMs);
    if (answer.kind === 'report') {
      this.#shadow = null;
      this.#observe('promoted');
    }
    return answer;
  }

  shadowStats() {
    return { kind: 'shadowStats', rows: this.#shadow?.rows() ?? [] };
  }

  /**
   * As another process has it that was given a snapshot: the same but for the clock, and counting anew.
   * @param {{ nowMs: number, restoredMs: number }} times of the snapshot, by this clock, and of the other clock then
   */
  restore({ nowMs, restoredMs }) {
    const now = toMicros(nowMs);
    const micros = toMicros(restoredMs) - now;
    this.#observe('restored');
    this.#table.restore((bucket) => ({ ...bucket, state: movedBy(bucket.state, micros) }));
    this.#history = this.#history?.movedBy(micros) ?? null;
    this.#allowed = 0;
    this.#denied = 0;
    this.#tableFull = 0;
    this.#reservations = [];
    this.#shadow = null;
    return this.#report();
  }

  stats() {
    return {
      kind: 'stats',
      buckets: this.#table.size,
      assignments: this.#assigned.size,
      allowed: this.#allowed,
      denied: this.#denied,
      revision: this.#revision,
      evictions: this.#table.evictions,
      evictedTokens: this.#table.evictedTokens,
      tableFull: this.#tableFull,
    };
  }

  /** Whether there are buckets of the client for all limits that judge it. */
  has(client, callTier) {
    const { limits } = this.lookUp(client, callTier);
    return limits.every((limit) => this.#bucketFor(client, limit).bucket !== undefined);
  }

  /** Who judges a request: the limits, the tier's name and why they are the default's, if they are. */
  lookUp(client, callTier) {
    return this.#limitsOf(callTier ?? this.#ownTier(client));
  }

  #ownTier(client) {
    return this.#assigned.get(client) ?? this.#policies.clients.get(client) ?? null;
  }

  #limitsOf(tier, { defaultLimits, tiers } = this.#policies) {
    const byDefault = (fallback) => ({ limits: defaultLimits, tier, fallback });
    if (tier === null) return byDefault('no-tier');
    if (!tiers.has(tier)) return byDefault('unknown-tier');
    const limits = tiers.get(tier);
    return limits === null ? byDefault('invalid-tier-policy') : { limits, tier, fallback: null };
  }

  /** Whether the document in force has a tier. */
  hasTier(tier) {
    return this.#policies.tiers.has(tier);
  }

  #answer(decide) {
    try {
      return decide();
    } catch (error) {
      if (error instanceof ModelError) return error.answer;
      throw error;
    }
  }

  #spend(request, { reserves = false } = {}) {
    const { decision, parts } = this.#judge(request, { charges: true });
    const { client, tier: callTier } = request;
    if (decision.allowed) this.#allowed += 1;
    else this.#denied += 1;
    if (decision.reason === 'table-full') {
      this.#tableFull += 1;
    } else {
      if ((callTier ?? null) === null) this.#raises.delete(client);
      const buckets = parts.map(({ limit, state, bucket }) => bucketOf(limit, state, bucket));
      const now = toMicros(request.nowMs);
      this.#table.putAll(client, buckets, { makesRoom: decision.allowed, now });
    }
    const isOwn = this.#assigned.has(client) ? 'assigned' : 'document';
    const clientClass =
      (callTier ?? null) !== null ? 'call' : decision.tier !== null ? isOwn : 'none';
    const shadowed = this.#shadow?.judge(request, { live: decision, clientClass, reserves });
    return { decision, limits: parts.map(({ limit }) => limit), shadowed };
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

  #bucketFor(client, limit) {
    return { limit, bucket: this.#table.get(client, limit) };
  }

  /** A bucket's state as it is now under a limit. */
  #brought({ algorithm, state }, limit, now, raise, observe = this.#observe) {
    return COUNTING[algorithm].broughtTo(state, limit, now, {
      history: this.#history,
      raise,
      observe,
    });
  }

  /** The earliest time at which a limit may judge; who has no bucket may be judged from the latest change on. */
  #earliest({ limit, bucket }) {
    if (bucket) return COUNTING[bucket.algorithm].earliest(bucket.state, limit, this.#history);
    return (isProrated(limit) ? this.#history?.latestChange : null) ?? -Infinity;
  }

  /** The earliest time at which all of some buckets may be judged; any, where there are none. */
  #latest(pairs) {
    return pairs.reduce((latest, pair) => {
      const earliest = this.#earliest(pair);
      return earliest > latest ? earliest : latest;
    }, -Infinity);
  }

  #checkClock(pairs, now, nowMs) {
    const latest = this.#latest(pairs);
    if (latest > now) {
      throw new ModelError({ kind: 'clock', nowMs, touchedMs: Number(latest) / 1000 });
    }
  }

  /** What the answer is and what is to be remembered, without remembering it. */
  #judge({ nowMs, client, cost: costNumber = 1, tier: callTier }, { charges }) {
    const now = this.#read({ nowMs, cost: costNumber });
    const cost = BigInt(costNumber);
    const { limits, tier, fallback } = this.lookUp(client, callTier);
    const pairs = limits.map((limit) => this.#bucketFor(client, limit));
    this.#checkClock(pairs, now, nowMs);
    const raise = (callTier ?? null) === null ? this.#raises.get(client) : undefined;
    const parts = pairs.map(({ limit, bucket }) => {
      const counting = COUNTING[limit.algorithm];
      const state = bucket ? this.#brought(bucket, limit, now, raise) : counting.fresh(limit, now);
      const part = { limit, bucket, state, reason: 'ok', wait: 0n };
      if (cost > limit.capacity.floor()) {
        return { ...part, reason: 'cost-exceeds-capacity', wait: null };
      }
      if (cost <= counting.held(state, limit)) return part;
      const wait = counting.wait(state, cost, limit, now);
      return { ...part, reason: wait === null ? 'never-refills' : 'exhausted', wait };
    });

    const denying = parts.filter(({ reason }) => reason !== 'ok');
    if (denying.length === 0) {
      const isMissing = parts.filter(({ bucket }) => bucket === undefined);
      const room = this.#table.room(client);
      // The first without room binds; the others would admit by themselves.
      const [first] = isMissing.slice(room);
      if (first) {
        Object.assign(first, { reason: 'table-full', wait: null });
        denying.push(first);
      }
    } else if (denying.length < parts.length) this.#observe('one denies, another would admit');

    const allowed = denying.length === 0;
    for (const part of parts) {
      const counting = COUNTING[part.limit.algorithm];
      if (allowed && charges) part.state = counting.charged(part.state, cost, now);
      part.remaining = counting.held(part.state, part.limit);
      part.reset = counting.reset(part.state, part.limit, now);
      part.more = counting.more(part.state, part.limit, now);
    }
    const binding = allowed ? this.#fullest(parts) : this.#longest(denying);
    if (binding !== parts[0]) {
      this.#observe(`another than the first binds: ${allowed ? 'admitted' : 'denied'}`);
    }
    if (parts.length > 1) this.#observe('several limits');
    for (const { limit } of parts) this.#count(limit, parts.length);

    const ms = (wait) => (wait === null ? null : this.#waitMs(nowMs, now, wait));
    const asMs = (micros) => (micros === null ? null : Number(micros) / 1000);
    const answers = parts.map(({ limit, remaining, wait, reset }) => ({
      name: limit.name,
      limit: limit.configured,
      remaining,
      retryAfterMs: ms(wait),
      resetMs: ms(reset),
      windowMs: asMs(fillOf(limit)),
    }));
    const { name, ...bound } = answers[parts.indexOf(binding)];
    return {
      parts,
      decision: {
        kind: 'decision',
        allowed,
        ...bound,
        tier,
        limitName: name,
        reason: binding.reason,
        fallback,
        limits: answers.map((answer, i) => ({ ...answer, moreAfterMs: ms(parts[i].more) })),
      },
    };
  }

  /** Counts how a limit is set. */
  #count({ algorithm, onRaise, accrual }, count) {
    const settings = algorithm === 'token-bucket' ? ` ${onRaise} ${accrual}` : '';
    this.#observe(`judged: ${count === 1 ? 'one' : 'several'} ${algorithm}${settings}`);
  }

  /** Of those that deny, the one with the longest wait; never is the longest. */
  #longest(denying) {
    const isLonger = (a, b) => b.wait !== null && (a.wait === null || a.wait > b.wait);
    const longest = denying.reduce((found, part) => (isLonger(part, found) ? part : found));
    if (denying.some((part) => part !== longest && part.wait === longest.wait)) {
      this.#observe('binding tie: denied');
    }
    return longest;
  }

  /** Of all, the one that has the least left for its size. */
  #fullest(parts) {
    const share = ({ remaining, limit }) => Number(remaining) / limit.configured;
    const fullest = parts.reduce((found, part) => (share(part) < share(found) ? part : found));
    if (parts.some((part) => part !== fullest && share(part) === share(fullest))) {
      this.#observe('binding tie: admitted');
    }
    return fullest;
  }

  #waitMs(nowMs, now, wait) {
    if (wait === 0n) return 0;
    const ms = waitMs(nowMs, wait);
    if (ms !== Number(wait) / 1000) this.#observe('wait raised');
    if (now + wait > 2n ** 53n) this.#observe('wait beyond the clock');
    return ms;
  }

  /**
   * What forgetting a bucket costs: how long until nobody can tell, by all limits that may judge it next (null where
   * that never is), and the tokens that its client gets back by it at the most.
   */
  #lossOf(client, bucket, now, known) {
    // Among too many tiers and documents a bucket that several tiers have judged is kept as if it never filled.
    const tiers = 1 + [...this.#policies.tiers.values()].filter((each) => each !== null).length;
    const documents = this.#history?.revisions.length ?? 1;
    const isKept = bucket.several && (tiers > 64 || tiers * documents > 512);
    const limits =
      known ?? this.#mayJudge(client, { ...bucket, several: bucket.several && !isKept });
    const { limit: last, algorithm, state } = bucket;
    const { earliest, reset, missing, missingWhole } = COUNTING[algorithm];
    const longest = longestOf(this.#limitsOf(last.tier).limits);
    const waits = [];
    const weights = [];
    const given = [];
    const seenUnder = (limit) => {
      const first = earliest(state, limit, this.#history);
      const at = now < first ? first : now;
      const brought = this.#brought(bucket, limit, at, undefined, () => {});
      return { brought, at };
    };
    for (const limit of limits) {
      const { brought, at } = seenUnder(limit);
      const wait = reset(brought, limit, at);
      waits.push(wait);
      weights.push(weightOf(limit, wait, missingWhole(brought), longest));
      given.push(missing(brought));
    }
    const isEarly = isKept || now < earliest(state, last, null);
    return {
      wait: isEarly || waits.includes(null) ? null : waits.reduce((a, b) => (a > b ? a : b)),
      weight: weights.reduce((a, b) => (a > b ? a : b)),
      lacking: missingWhole(seenUnder(last).brought),
      given: Math.max(...given),
    };
  }

  /**
   * The limits that may judge a bucket next: that which last judged it, what has become of that, and what judges the
   * client when no tier is named; where several tiers have judged it, any.
   */
  #mayJudge(client, { limit, several, name, algorithm }) {
    const { defaultLimits, tiers } = this.#policies;
    const policies = [this.#limitsOf(limit.tier).limits, this.lookUp(client, undefined).limits];
    if (several) policies.push(defaultLimits, ...[...tiers.values()].filter(Boolean));
    const alike = (each) => each.name === name && each.algorithm === algorithm;
    return [limit, ...policies.flat().filter(alike)];
  }
}

/** Microseconds in which all of a limit comes back; null: it never does. */
function fillOf({ algorithm, capacity, rate, windowMicros }) {
  if (algorithm !== 'token-bucket') return windowMicros;
  return rate.isZero() ? null : capacity.over(rate).ceil();
}

/** The longest of limits that judge together; null where a plain one judges alone. */
function longestOf(limits) {
  const [{ name, algorithm, accrual }] = limits;
  const isPlain = name === 'main' && algorithm === 'token-bucket' && accrual !== 'prorated';
  if (limits.length === 1 && isPlain) return null;
  return limits.map(fillOf).reduce((longest, fill) => (fill > longest ? fill : longest), 0n);
}

/** What a wait weighs among those of others: the part that is missing, as if all took as long as the longest. */
function weightOf(limit, wait, missing, longest) {
  if (longest === null || longest === 0n || wait === null || wait === 0n) return wait ?? 0n;
  const isBucket = limit.algorithm === 'token-bucket';
  const weight = isBucket ? (wait * longest) / fillOf(limit) : (missing * longest) / limit.limit;
  if (weight === 0n) return 1n;
  return weight < 2n ** 63n ? weight : 2n ** 63n - 1n;
}

/** What is remembered of a client for a limit that has judged it, `before` that for another one maybe. */
function bucketOf(limit, state, before) {
  const { name, algorithm } = limit;
  const several = before !== undefined && (before.several || before.limit.tier !== limit.tier);
  return { name, algorithm, limit, state, several };
}

/** A state whose times are others. */
function movedBy(state, micros) {
  const moved = { ...state };
  if ('touched' in state) moved.touched += micros;
  if ('start' in state) moved.start += micros;
  if ('entries' in state) {
    moved.entries = state.entries.map(({ at, count }) => ({ at: at + micros, count }));
  }
  return moved;
}
