/**
 * Metrics as Prometheus reads them, in its text format 0.0.4.
 * @module
 */

import { check } from '../errors.js';
import { Distribution } from './distribution.js';
import { gauges } from './gauges.js';
import { checkBounds, checkOptions, defaultShareBounds } from './options.js';
import { Tally, remainingMetric, retryAfterMetric } from './tally.js';

/** @import { Decision } from '../types.js' */
/** @import { Family, Metric, MetricsOptions, Sample } from './types.js' */

/** What labels of one's own cannot be called. */
const ourLabels = ['tier', 'limit', 'outcome', 'fallback', 'le'];

/**
 * What only metrics for Prometheus may be told.
 *
 * @typedef {object} PrometheusOwnOptions
 * @property {Readonly<Record<string, string>>} [labels] Put on each of its values, to keep the limiters of a service apart:
 *   `{ limiter: 'login' }`. Default: none.
 * @property {readonly number[] | false} [remainingBounds] The upper bounds of the histogram of what admitted requests left, as
 *   shares of the capacity from 0, ascending; false: no such histogram. Default: 7 bounds from 0 to 0.9.
 */

/**
 * What `prometheusMetrics` may be told.
 *
 * @typedef {MetricsOptions & PrometheusOwnOptions} PrometheusOptions
 */

/**
 * The content type of what `prometheusText` gives.
 */
export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Counts of decisions that Prometheus is to read. `prometheusMetrics` makes it.
 *
 * @example
 * const metrics = prometheusMetrics({ limiter });
 * const limited = rateLimit({ limiter, onDecision: metrics.record });
 */
export class PrometheusMetrics {
  #options;
  #tally;

  /**
   * @internal
   * @param {PrometheusOptions} options
   */
  constructor(options) {
    const { waitBounds, ...most } = checkOptions(options, ['labels', 'remainingBounds']);
    const { labels = {}, remainingBounds = defaultShareBounds } = options;
    const shareBounds = checkBounds('remainingBounds', remainingBounds);
    this.#options = options;
    /** What is put on each of its values. */
    this.labels = checkLabels(labels);
    this.#tally = new Tally({
      ...most,
      waits: waitBounds && (() => new Distribution(waitBounds)),
      shares: shareBounds && (() => new Distribution(shareBounds)),
    });
  }

  /**
   * Counts a decision: to be handed to an adapter as its `onDecision`, or called, of whichever object. It reads no clock and
   * does no I/O.
   *
   * @param {Decision} decision
   * @returns {void}
   * @example
   * const decision = limiter.check('acme');
   * metrics.record(decision);
   */
  record = (decision) => this.#tally.add(decision);

  /**
   * @internal
   * @returns {Promise<Family[]>} as they are now
   */
  async families() {
    const { labels } = this;
    const families = [...this.#counted(), ...(await gauges(this.#options))];
    return families.map(({ metric, samples }) => ({
      metric,
      samples: samples.map((sample) => ({ ...sample, labels: { ...labels, ...sample.labels } })),
    }));
  }

  /** @returns {Family[]} */
  #counted() {
    const rows = this.#tally.rows();
    const cells = rows.flatMap((row) => [...row.cells.values()]);
    return [
      ...this.#tally.families(),
      {
        metric: retryAfterMetric,
        samples: cells.flatMap(({ labels, waits }) => sampleOf(labels, waits)),
      },
      {
        metric: remainingMetric,
        samples: rows.flatMap(({ labels, shares }) => sampleOf(labels, shares)),
      },
    ];
  }
}

/**
 * A distribution without values says nothing.
 * @param {Record<string, string>} labels
 * @param {unknown} value
 * @returns {Sample[]}
 */
const sampleOf = (labels, value) =>
  value instanceof Distribution && value.count > 0 ? [{ labels, value }] : [];

/**
 * Counts decisions for Prometheus: `tierlimit_decisions_total` by tier, limit and outcome (`allowed`, or the reason of the
 * denial); `tierlimit_fallbacks_total`, by why the default policy judged; histograms of what denied requests were told to
 * wait, `tierlimit_retry_after_seconds`, and of what admitted ones left, `tierlimit_remaining_ratio`; and what
 * `stats()` of the limiter and `status()` of the source tell.
 *
 * Requests cannot make labels: the tier is `none` where none was asked for, and `other` where the policies do not know it;
 * there are at most `maxTiers` and `maxLimits` names. It works in every runtime. Each isolate counts for itself.
 *
 * @param {PrometheusOptions} [options]
 * @returns {PrometheusMetrics}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * const metrics = prometheusMetrics({ limiter, source });
 * const limited = rateLimit({ limiter, onDecision: metrics.record });
 */
export function prometheusMetrics(options = {}) {
  return new PrometheusMetrics(options);
}

/**
 * The text that Prometheus reads, of one or several metrics: the limiters of a service are told apart by their `labels`. It
 * may stand behind the text of another library, if that ends with a line feed too.
 *
 * @param {...PrometheusMetrics} metrics
 * @returns {Promise<string>} Rejects with a TypeError where something else is among them, and with a RangeError where two of
 *   them have the same labels.
 * @example
 * const headers = { 'content-type': prometheusContentType };
 * return new Response(await prometheusText(metrics), { headers });
 */
export async function prometheusText(...metrics) {
  const seen = new Set();
  for (const it of metrics) {
    check(it instanceof PrometheusMetrics, 'metrics', 'of prometheusMetrics()', it);
    const labels = labelText(it.labels);
    if (seen.has(labels)) {
      throw new RangeError(`two metrics have the same labels: ${labels || 'none'} (see labels)`);
    }
    seen.add(labels);
  }
  /** By name, for all values of a metric stand together. @type {Map<string, Family>} */
  const families = new Map();
  for (const it of metrics) {
    for (const { metric, samples } of await it.families()) {
      const family = families.get(metric.name);
      if (family === undefined) families.set(metric.name, { metric, samples: [...samples] });
      else family.samples.push(...samples);
    }
  }
  return [...families.values()].map(familyText).join('');
}

/** @param {Family} family */
function familyText({ metric, samples }) {
  if (samples.length === 0) return '';
  const name = prometheusName(metric);
  const lines = samples.flatMap(({ labels, value }) =>
    value instanceof Distribution
      ? distributionLines(name, labels, value)
      : [`${name}${labelText(labels)} ${value}`],
  );
  const head = [`# HELP ${name} ${escaped(metric.description)}`, `# TYPE ${name} ${metric.kind}`];
  return `${[...head, ...lines].join('\n')}\n`;
}

/**
 * @param {string} name
 * @param {Readonly<Record<string, string>>} labels
 * @param {Distribution} distribution
 */
function distributionLines(name, labels, { bounds, counts, sum, count }) {
  let below = 0;
  const buckets = [...bounds, '+Inf'].map((bound, index) => {
    below += counts[index];
    return `${name}_bucket${labelText({ ...labels, le: String(bound) })} ${below}`;
  });
  return [
    ...buckets,
    `${name}_sum${labelText(labels)} ${sum}`,
    `${name}_count${labelText(labels)} ${count}`,
  ];
}

/**
 * As OpenTelemetry's own exporters name metrics for Prometheus.
 * @param {Metric} metric
 */
function prometheusName({ name, kind, unit }) {
  const unitName = { s: '_seconds', By: '_bytes' }[unit] ?? '';
  return `${name.replaceAll('.', '_')}${unitName}${kind === 'counter' ? '_total' : ''}`;
}

/** @param {Readonly<Record<string, string>>} labels */
function labelText(labels) {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${quoted(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** @param {string} text */
const quoted = (text) => escaped(text).replaceAll('"', '\\"');

/**
 * @param {unknown} labels
 * @returns {Readonly<Record<string, string>>} a copy
 */
function checkLabels(labels) {
  check(typeof labels === 'object' && labels !== null, 'labels', 'an object', labels);
  for (const [name, value] of Object.entries(labels)) {
    const isName =
      /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) && !name.startsWith('__') && !ourLabels.includes(name);
    check(isName, 'a name of labels', `a label name other than ${ourLabels.join(', ')}`, name);
    check(typeof value === 'string', `labels.${name}`, 'a string', value);
  }
  // In one order, whatever that of the caller: they are compared.
  return Object.freeze(
    Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
