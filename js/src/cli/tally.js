/**
 * What became of the requests: exactly per tier, and per client in bounded memory.
 *
 * Up to `maxClients` clients are counted, each from its first request. When one more comes, the half
 * with the fewest denials (then the fewest requests) is forgotten. A client met after that may have
 * been forgotten before, so its counts are lower bounds; the tally knows by how many denials at most.
 * As nearly all clients of a real log are never denied, that is 0 nearly always.
 */

/** @import { Decision } from '../types.js' */

/**
 * @typedef {object} TierCounts
 * @property {string | null} tier - as asked for or assigned; null when no tier applied
 * @property {Decision['fallback']} fallback - why the default policy judged, or null
 * @property {number} admitted
 * @property {number} denied
 */

/**
 * @typedef {object} ClientCounts
 * @property {string} client
 * @property {TierCounts} tier
 * @property {number} admitted
 * @property {number} denied
 * @property {boolean} exact - false when earlier requests of this client may have been forgotten
 */

export class Tally {
  admitted = 0;
  denied = 0;
  /** @type {Map<string, number>} Denied requests by the decision's reason. */
  deniedBy = new Map();
  forgottenClients = 0;
  /** No client has more denials that were forgotten than this. */
  deniedMissedAtMost = 0;

  #maxClients;
  /** @type {Map<string, ClientCounts>} */
  #clients = new Map();
  /** @type {TierCounts[]} In the order of their first request; as few as there are tiers. */
  #tiers = [];

  /** @param {number} maxClients - at least 2 */
  constructor(maxClients) {
    this.#maxClients = maxClients;
  }

  /** How many clients there were, or null once any were forgotten: they may have come back. */
  get clientCount() {
    return this.forgottenClients === 0 ? this.#clients.size : null;
  }

  /**
   * @param {string} client
   * @param {Decision} decision
   */
  count(client, decision) {
    const counts = this.#clients.get(client) ?? this.#meet(client, decision);
    if (decision.allowed) {
      counts.admitted++;
      counts.tier.admitted++;
      this.admitted++;
    } else {
      counts.denied++;
      counts.tier.denied++;
      this.denied++;
      this.deniedBy.set(decision.reason, (this.deniedBy.get(decision.reason) ?? 0) + 1);
    }
  }

  /** Counts per tier, the busiest first. `clients` is null once any were forgotten. */
  tiers() {
    /** @type {Map<TierCounts, number>} */
    const clients = new Map();
    for (const { tier } of this.#clients.values()) clients.set(tier, (clients.get(tier) ?? 0) + 1);
    return this.#tiers
      .map((tier) => ({
        ...tier,
        clients: this.forgottenClients === 0 ? /** @type {number} */ (clients.get(tier)) : null,
      }))
      .sort((a, b) => requests(b) - requests(a));
  }

  /**
   * The most limited clients: by denials, then by requests, then by name.
   *
   * @param {number} count
   */
  mostLimited(count) {
    return this.#ranked().slice(0, count);
  }

  #ranked() {
    return [...this.#clients.values()].sort(
      (a, b) => b.denied - a.denied || requests(b) - requests(a) || (a.client < b.client ? -1 : 1),
    );
  }

  /**
   * @param {string} client
   * @param {Decision} decision
   */
  #meet(client, decision) {
    if (this.#clients.size >= this.#maxClients) this.#forgetHalf();
    const exact = this.forgottenClients === 0;
    const counts = { client, tier: this.#tierOf(decision), admitted: 0, denied: 0, exact };
    this.#clients.set(client, counts);
    return counts;
  }

  #forgetHalf() {
    const forgotten = this.#ranked().slice(Math.ceil(this.#maxClients / 2));
    for (const { client } of forgotten) this.#clients.delete(client);
    this.forgottenClients += forgotten.length;
    // They are ranked by denials: the first one has the most. A client can be forgotten every time.
    this.deniedMissedAtMost += forgotten[0].denied;
  }

  /** @param {Decision} decision */
  #tierOf({ tier, fallback }) {
    let counts = this.#tiers.find((known) => known.tier === tier && known.fallback === fallback);
    if (counts === undefined) {
      counts = { tier, fallback, admitted: 0, denied: 0 };
      this.#tiers.push(counts);
    }
    return counts;
  }
}

/** @param {{ admitted: number, denied: number }} counts */
function requests({ admitted, denied }) {
  return admitted + denied;
}
