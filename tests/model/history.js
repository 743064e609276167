// The policies that have been in force, each since its time: what prorated accrual looks back on.

const MOST_REVISIONS = 64;

/** @typedef {{ since: bigint | null, policies: import('./policy.js').Policies }} Revision `since` null: ever */

/** Whether a document has a limit that accrues by the rates of the past. */
export function hasProrated({ defaultLimits, tiers }) {
  const policies = [defaultLimits, ...tiers.values()].filter((limits) => limits !== null);
  return policies.flat().some((limit) => isProrated(limit));
}

/** Windows have no rate. */
export function isProrated({ algorithm, accrual }) {
  return algorithm === 'token-bucket' && accrual === 'prorated';
}

export class History {
  /** The present one last. @type {Revision[]} */
  revisions;

  /** @param {Revision[]} revisions */
  constructor(revisions) {
    this.revisions = revisions.slice(-MOST_REVISIONS);
  }

  /** When the document in force was put there. @returns {bigint | null} */
  get latestChange() {
    return this.revisions.at(-1).since;
  }

  /** The same by another clock. @param {bigint} micros how much later that is */
  movedBy(micros) {
    return new History(
      this.revisions.map(({ since, policies }) => ({
        since: since === null ? null : since + micros,
        policies,
      })),
    );
  }

  with(since, policies) {
    return new History([...this.revisions, { since, policies }]);
  }

  /** The limit of the same tier, name and algorithm in another revision; where the tier had none, the default's. */
  limitIn({ policies }, { tier, name, algorithm }) {
    const limits = (tier === null ? null : policies.tiers.get(tier)) ?? policies.defaultLimits;
    return limits.find((each) => each.name === name && each.algorithm === algorithm) ?? null;
  }
}
