/**
 * What limiters and policy sources tell of themselves when metrics are collected.
 * @module
 */

/** @import { SourceStatus } from '../policies/types.js' */
/** @import { TierLimiterStats } from '../types.js' */
/** @import { Family, Metric, MetricsOptions } from './types.js' */

/**
 * @param {Metric['kind']} kind
 * @param {string} name
 * @param {string} unit
 * @param {string} description
 * @returns {Metric}
 */
const metric = (kind, name, unit, description) => ({
  ...{ name: `tierlimit.${name}`, kind, unit },
  description,
});

/** By the member of `stats()`. @type {[keyof TierLimiterStats, Metric][]} */
const ofStats = [
  ['buckets', metric('gauge', 'buckets', '{bucket}', 'Buckets remembered.')],
  ['maxClients', metric('gauge', 'buckets.max', '{bucket}', 'The bound on buckets.')],
  ['bytes', metric('gauge', 'memory', 'By', 'Memory that buckets take.')],
  [
    'assignments',
    metric('gauge', 'assignments', '{client}', 'Clients that setTier has put into a tier.'),
  ],
  [
    'revision',
    metric('gauge', 'policy.revision', '{document}', 'Policy documents that have been accepted.'),
  ],
  [
    'allowed',
    metric(
      'counter',
      'limiter.allowed',
      '{decision}',
      'Decisions that admit, whoever asked for them.',
    ),
  ],
  [
    'denied',
    metric(
      'counter',
      'limiter.denied',
      '{decision}',
      'Decisions that deny, whoever asked for them.',
    ),
  ],
  ['evictions', metric('counter', 'evictions', '{bucket}', 'Buckets forgotten for want of room.')],
  [
    'evictedTokens',
    metric(
      'counter',
      'evicted_tokens',
      '{token}',
      'Tokens that their clients have got back by it at the most.',
    ),
  ],
  ['swept', metric('counter', 'swept', '{bucket}', 'Buckets forgotten because they were full.')],
  ['tableFull', metric('counter', 'table_full', '{decision}', 'Requests denied for want of room.')],
  [
    'clockRegressions',
    metric('counter', 'clock_regressions', '{reading}', 'Readings of the clock that were held.'),
  ],
];

/** @type {[(status: SourceStatus) => number | null, Metric][]} */
const ofStatus = [
  [
    ({ appliedAtMs }) => inSeconds(appliedAtMs),
    metric(
      'gauge',
      'policy.applied_timestamp',
      's',
      'When a document of the source came into force, since 1970.',
    ),
  ],
  [
    ({ readAtMs }) => inSeconds(readAtMs),
    metric('gauge', 'policy.read_timestamp', 's', 'When the source was last read, since 1970.'),
  ],
  [
    ({ refused }) => (refused === null ? 0 : 1),
    metric(
      'gauge',
      'policy.refused',
      '{source}',
      '1 while the last document of the source is refused.',
    ),
  ],
  [
    ({ unreadable }) => (unreadable === null ? 0 : 1),
    metric('gauge', 'policy.unreadable', '{source}', '1 while the source cannot be read.'),
  ],
];

/** @param {number | null} ms */
const inSeconds = (ms) => (ms === null ? null : ms / 1000);

/** What there is to be told, whatever the values are. @param {MetricsOptions} options */
export const gaugeMetrics = ({ limiter, source }) => [
  ...(limiter === undefined ? [] : ofStats.map(([, it]) => it)),
  ...(source === undefined ? [] : ofStatus.map(([, it]) => it)),
];

/**
 * The values as they are now. What cannot be told, of a limiter that was disposed of or a store that does not answer, is left
 * out.
 *
 * @param {MetricsOptions} options
 * @returns {Promise<Family[]>}
 */
export async function gauges({ limiter, source }) {
  /** @type {[Metric, number | null | undefined][]} */
  const values = [];
  if (limiter !== undefined) {
    const stats = await statsOf(limiter);
    for (const [name, it] of ofStats) values.push([it, stats?.[name]]);
  }
  if (source !== undefined) {
    const status = source.status();
    for (const [read, it] of ofStatus) values.push([it, read(status)]);
  }
  return values.flatMap(([it, value]) =>
    typeof value === 'number' ? [{ metric: it, samples: [{ labels: {}, value }] }] : [],
  );
}

/** @param {NonNullable<MetricsOptions['limiter']>} limiter */
async function statsOf(limiter) {
  try {
    return await limiter.stats();
  } catch {
    return null;
  }
}
