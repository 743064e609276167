// The buckets that a limiter remembers, of which there may be a bound.

/** A table has a sample of so many buckets, if there are as many, of which the first to go is evicted … */
const SAMPLE = 8;
/** … or of so many, where all of the former have spent more than the newcomer. */
const WIDE_SAMPLE = 64;
/** What is lost by forgetting a bucket that will never be full is more than any wait. */
const NEVER_FULL = 2n ** 63n;

/** @typedef {{ client: string, name: string, algorithm: string }} Key */
/** @typedef {Key & { turn: number }} Evicted of the same turn are those that one decision has evicted */
/**
 * @typedef {object} Bucket
 * @property {string} name
 * @property {string} algorithm
 * @property {import('./policy.js').NamedLimit} limit which judged last
 * @property {object} state as the algorithm has it
 * @property {boolean} several whether limits of several tiers have judged it
 */
/**
 * Where a table is full, a sample of its buckets depends on the secret: so whoever knows says who goes. `first` is the
 * first to go of all; by default that one is it. `lastOf` tells of several the last to go of those that may go now: who
 * knows which go, but not in which order, leaves the others for newcomers for whom less may go.
 * @callback WhoGoes
 * @param {Key} first
 * @param {(keys: Key[]) => Key | undefined} lastOf
 * @returns {Key}
 */
/**
 * What forgetting a bucket costs, by some limits or by all that may judge it next.
 * @callback Loss
 * @param {string} client
 * @param {Bucket} bucket
 * @param {bigint} now
 * @param {import('./policy.js').NamedLimit[]} [limits]
 * @returns {{ wait: bigint | null, weight: bigint, lacking: bigint, given: number }}
 */

export class Table {
  /** Who was evicted, in that order. @type {Evicted[]} */
  evicted = [];
  #turn = 0;
  evictions = 0;
  evictedTokens = 0;
  size = 0;
  /** @type {Map<string, Map<string, Bucket>>} */
  #buckets = new Map();
  #maxClients;
  #onFull;
  #whoGoes;
  #observe;
  #loss;
  #gone;

  /**
   * @param {object} options
   * @param {number} [options.maxClients]
   * @param {'evict' | 'deny'} [options.onFull]
   * @param {WhoGoes} [options.whoGoes]
   * @param {(event: string) => void} options.observe
   * @param {Loss} options.loss
   * @param {(client: string) => void} options.gone hears of a client that has no bucket any more
   */
  constructor({
    maxClients = Infinity,
    onFull = 'evict',
    whoGoes = (first) => first,
    observe,
    loss,
    gone,
  }) {
    this.#maxClients = maxClients;
    this.#onFull = onFull;
    this.#whoGoes = whoGoes;
    this.#observe = observe;
    this.#loss = loss;
    this.#gone = gone;
  }

  /** @param {string} client @param {{ name: string, algorithm: string }} limit @returns {Bucket | undefined} */
  get(client, limit) {
    return this.#buckets.get(client)?.get(keyOf(limit));
  }

  /** Whether a client has any bucket. */
  hasAny(client) {
    return this.#buckets.has(client);
  }

  /** How many new buckets of a client there is a place for. */
  room(client) {
    if (this.#onFull === 'deny' || this.#maxClients === Infinity) {
      return this.#maxClients - this.size;
    }
    return this.#maxClients - (this.#buckets.get(client)?.size ?? 0); // all others may go
  }

  /** @param {string} client @param {Bucket} bucket */
  put(client, bucket) {
    if (!this.#buckets.has(client)) this.#buckets.set(client, new Map());
    const own = this.#buckets.get(client);
    if (!own.has(keyOf(bucket))) this.size += 1;
    own.set(keyOf(bucket), bucket);
  }

  /**
   * What a decision leaves. Where there is no room for a new bucket, others have to go for one that was charged; one
   * that was not is full, and not remembered.
   * @param {string} client
   * @param {Bucket[]} buckets
   * @param {{ makesRoom: boolean, now: bigint }} options
   */
  putAll(client, buckets, { makesRoom, now }) {
    this.#turn += 1;
    const isNew = (bucket) => this.get(client, bucket) === undefined;
    const newcomers = buckets.filter(isNew);
    for (const bucket of buckets) if (!isNew(bucket)) this.put(client, bucket);
    for (const bucket of newcomers) {
      if (this.size >= this.#maxClients) {
        if (!makesRoom) continue;
        this.#evict(client, bucket, now);
      }
      this.put(client, bucket);
    }
  }

  /** Makes room for a new bucket, which is not one of the same client's. */
  #evict(newClient, newcomer, now) {
    const all = [];
    for (const [client, buckets] of this.#buckets) {
      if (client === newClient) continue;
      for (const bucket of buckets.values()) {
        const { wait, weight, lacking, given } = this.#loss(client, bucket, now);
        const loss = wait === null || wait >= NEVER_FULL ? NEVER_FULL + lacking : weight;
        const touched = bucket.state.touched ?? bucket.state.start;
        all.push({ client, bucket, loss, given, touched });
      }
    }
    const isBefore = (a, b) => a.loss < b.loss || (a.loss === b.loss && a.touched < b.touched);
    const first = all.reduce((best, each) => (isBefore(each, best) ? each : best));
    const own = this.#loss(newClient, newcomer, now, [newcomer.limit]);
    const ownLoss = own.wait === null ? NEVER_FULL + own.lacking : own.weight;
    const entryOf = (key) =>
      all.find(
        ({ client, bucket: { name, algorithm } }) =>
          client === key.client && name === key.name && algorithm === key.algorithm,
      );
    // Of a sample it is the first to go: as many as that has are not before it.
    const mayGo = (each) => {
      if (each === undefined) return false;
      const sample = each.loss > ownLoss ? WIDE_SAMPLE : SAMPLE;
      const after = all.filter((other) => !isBefore(other, each)).length;
      return after >= Math.min(sample, all.length);
    };
    const lastOf = (keys) => {
      const entries = keys.map(entryOf).filter(mayGo);
      return entries.length === 0
        ? undefined
        : keyFor(entries.reduce((last, each) => (isBefore(last, each) ? each : last)));
    };
    const keyFor = ({ client, bucket: { name, algorithm } }) => ({ client, name, algorithm });
    const said = entryOf(this.#whoGoes(keyFor(first), lastOf));
    const { client, bucket, loss, given } = mayGo(said) ? said : first;
    if (loss >= NEVER_FULL) this.#observe('evicted: never full');
    else if (loss === 0n) this.#observe('evicted: full');
    else this.#observe('evicted: some day full');
    if (client !== first.client) this.#observe('evicted: not the first of all');
    this.#observe(`evicted: ${bucket.algorithm}`);
    this.#observe('evicted');

    this.evictions += 1;
    this.evictedTokens += given;
    const buckets = this.#buckets.get(client);
    buckets.delete(keyOf(bucket));
    if (buckets.size === 0) {
      this.#buckets.delete(client);
      this.#gone(client);
    }
    this.size -= 1;
    this.evicted.push({ ...keyFor({ client, bucket }), turn: this.#turn });
  }

  /** As after a restart. @param {(bucket: Bucket) => Bucket} renewed */
  restore(renewed) {
    this.evictions = 0;
    this.evictedTokens = 0;
    for (const buckets of this.#buckets.values()) {
      for (const [key, bucket] of buckets) buckets.set(key, renewed(bucket));
    }
  }
}

function keyOf({ name, algorithm }) {
  return `${algorithm} ${name}`;
}
