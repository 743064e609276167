// A candidate document that is judged beside the one in force, on the same traffic.

const NOTHING = { bothAllow: 0, bothDeny: 0, onlyLiveAllows: 0, onlyShadowAllows: 0 };

export class Shadow {
  #limiter;
  #observe;
  #rows = new Map();
  #reservations = 0;

  /**
   * @param {import('./limiter.js').ModelLimiter} limiter one of its own, with the candidate in force
   * @param {unknown} document the candidate
   * @param {(event: string) => void} observe
   */
  constructor(limiter, document, observe) {
    this.#limiter = limiter;
    this.document = document;
    this.#observe = observe;
  }

  setTier(client, tier, options) {
    this.#limiter.setTier(client, tier, { ...options, isShadow: true });
  }

  refund(request) {
    this.#limiter.refund(request);
  }

  settle(number, actual, nowMs) {
    this.#limiter.settle({ reservation: number, actual, nowMs });
  }

  /**
   * Judges what the live policies have judged. @returns {number | undefined} of a reservation, its number here
   * @param {import('./limiter.js').Request} request
   */
  judge(request, { live, clientClass, reserves }) {
    const own = reserves ? this.#limiter.reserve(request) : this.#limiter.check(request);
    if (reserves) this.#reservations += 1;
    // Its buckets may have seen a later time than those of the live policies.
    if (own.kind === 'decision') this.#count(live, clientClass, own.allowed);
    return reserves ? this.#reservations - 1 : undefined;
  }

  #count({ tier: asked, fallback, allowed: liveAllows }, clientClass, shadowAllows) {
    // Callers may name tiers without end: those that neither document has are counted together.
    const isUnknown = fallback === 'unknown-tier' && !this.#limiter.hasTier(asked);
    const tier = clientClass === 'call' && isUnknown ? null : asked;
    let outcome = liveAllows ? 'onlyLiveAllows' : 'onlyShadowAllows';
    if (liveAllows === shadowAllows) outcome = liveAllows ? 'bothAllow' : 'bothDeny';
    this.#observe(`shadow: ${outcome}`);
    this.#observe(`shadow: ${clientClass}`);
    const key = JSON.stringify([tier, clientClass]);
    const row = this.#rows.get(key) ?? { tier, clientClass, ...NOTHING };
    row[outcome] += 1;
    this.#rows.set(key, row);
  }

  rows() {
    return [...this.#rows.values()].map((row) => ({ ...row }));
  }
}
