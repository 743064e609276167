/**
 * Decisions, counted by tier, limit and outcome.
 * @module
 */

/** @import { Decision } from '../types.js' */
/** @import { Family, Metric } from './types.js' */

/** What takes single values. @typedef {{ add(value: number): void }} Values */

/**
 * Makes what takes the values of one set of labels.
 * @typedef {(labels: Record<string, string>) => Values} ValuesMaker
 */

/**
 * How often decisions of one set of labels had one outcome.
 *
 * @typedef {{ labels: Record<string, string>, count: number, waits: Values | null }} Cell
 */

/**
 * What decisions for one tier by one limit came to.
 *
 * @typedef {{ labels: Record<string, string>, cells: Map<string, Cell>, shares: Values | null }} Row
 */

/** What a decision can come to, by its reason. Others, of limiters to come, are `other`: labels are of a fixed set. */
const outcomes = new Map([
  ['ok', 'allowed'],
  ...['exhausted', 'cost-exceeds-capacity', 'never-refills', 'table-full'].map(
    (reason) => /** @type {const} */ ([reason, reason]),
  ),
]);

/** How a decision comes to be made by the default policy. */
const fallbacks = ['no-tier', 'unknown-tier', 'invalid-tier-policy'];

/** Whoever collects labels keeps them. */
const longestName = 128;

/** @type {Metric} */
const decisionsMetric = {
  name: 'tierlimit.decisions',
  kind: 'counter',
  unit: '{decision}',
  description: 'Decisions, by tier, by the limit that binds and by outcome.',
};

/** @type {Metric} */
const fallbacksMetric = {
  name: 'tierlimit.fallbacks',
  kind: 'counter',
  unit: '{decision}',
  description: 'Decisions by the default policy, by why the client had no other.',
};

/** @type {Metric} */
export const retryAfterMetric = {
  name: 'tierlimit.retry_after',
  kind: 'histogram',
  unit: 's',
  description: 'How long denied requests were told to wait, where waiting helps.',
};

/** @type {Metric} */
export const remainingMetric = {
  name: 'tierlimit.remaining_ratio',
  kind: 'histogram',
  unit: '1',
  description: 'What admitted requests left of the limit that binds, as a share of its capacity.',
};

/**
 * Names that have a label of their own: so many, and no longer ones than that.
 */
class Names {
  #own = new Set();
  #most;

  /** @param {number} most */
  constructor(most) {
    this.#most = most;
  }

  /** @param {string} name */
  label(name) {
    if (this.#own.has(name)) return name;
    if (this.#own.size >= this.#most || name.length > longestName) return 'other';
    this.#own.add(name);
    return name;
  }
}

/**
 * Counts of decisions. What a request says does not get into a label: a tier has its own only if it is in the policy
 * document.
 */
export class Tally {
  #makeWaits;
  #makeShares;
  #tiers;
  #limits;
  /** By tier and by limit, as labels have them. @type {Map<string, Map<string, Row>>} */
  #rows = new Map();
  #fallbacks = new Map(fallbacks.map((name) => [name, 0]));

  /**
   * @param {object} options
   * @param {number} options.maxTiers
   * @param {number} options.maxLimits
   * @param {ValuesMaker | null} options.waits takes the seconds that denied requests were told to wait
   * @param {ValuesMaker | null} options.shares takes the shares that admitted requests left
   */
  constructor({ maxTiers, maxLimits, waits, shares }) {
    this.#tiers = new Names(maxTiers);
    this.#limits = new Names(maxLimits);
    this.#makeWaits = waits;
    this.#makeShares = shares;
  }

  /** @param {Decision} decision */
  add(decision) {
    const { reason, fallback, retryAfterMs } = decision;
    const row = this.#row(this.#tierOf(decision), this.#limits.label(decision.limitName));
    const cell = this.#cell(row, outcomes.get(reason) ?? 'other');
    cell.count += 1;
    if (fallback !== null) this.#countFallback(fallback);
    if (decision.allowed) row.shares?.add(decision.remaining / decision.limit);
    else if (retryAfterMs !== null) cell.waits?.add(retryAfterMs / 1000);
  }

  /** @param {string} fallback */
  #countFallback(fallback) {
    const times = this.#fallbacks.get(fallback);
    if (times !== undefined) this.#fallbacks.set(fallback, times + 1);
  }

  /** @returns {Family[]} what was counted */
  families() {
    const rows = this.rows();
    return [
      {
        metric: decisionsMetric,
        samples: rows.flatMap(({ cells }) =>
          [...cells.values()].map(({ labels, count }) => ({ labels, value: count })),
        ),
      },
      {
        metric: fallbacksMetric,
        samples: [...this.#fallbacks].map(([fallback, value]) => ({ labels: { fallback }, value })),
      },
    ];
  }

  /** @returns {Row[]} */
  rows() {
    return [...this.#rows.values()].flatMap((limits) => [...limits.values()]);
  }

  /** @param {Decision} decision */
  #tierOf({ tier, fallback }) {
    if (tier === null) return 'none';
    // Any other name may have come with the request.
    const isKnown = fallback === null || fallback === 'invalid-tier-policy';
    return isKnown ? this.#tiers.label(tier) : 'other';
  }

  /**
   * @param {string} tier
   * @param {string} limit
   */
  #row(tier, limit) {
    let limits = this.#rows.get(tier);
    if (limits === undefined) this.#rows.set(tier, (limits = new Map()));
    let row = limits.get(limit);
    if (row === undefined) {
      const labels = { tier, limit };
      row = { labels, cells: new Map(), shares: this.#makeShares?.(labels) ?? null };
      limits.set(limit, row);
    }
    return row;
  }

  /**
   * @param {Row} row
   * @param {string} outcome
   */
  #cell(row, outcome) {
    let cell = row.cells.get(outcome);
    if (cell === undefined) {
      const labels = { ...row.labels, outcome };
      const isDenied = outcome !== 'allowed';
      cell = { labels, count: 0, waits: (isDenied && this.#makeWaits?.(labels)) || null };
      row.cells.set(outcome, cell);
    }
    return cell;
  }
}
