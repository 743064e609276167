/**
 * Metrics through OpenTelemetry, whose API is handed in.
 * @module
 */

import { check } from '../errors.js';
import { gaugeMetrics, gauges } from './gauges.js';
import { checkBounds, checkOptions } from './options.js';
import { Tally, remainingMetric, retryAfterMetric } from './tally.js';

/** @import { Decision } from '../types.js' */
/** @import { Family, Metric, MetricsOptions } from './types.js' */
/** @import { ValuesMaker } from './tally.js' */

/** What values are told with. @typedef {Readonly<Record<string, string>>} Attributes */

/**
 * What of a Meter of `@opentelemetry/api` is used.
 *
 * @typedef {object} Meter
 * @property {(name: string, options: InstrumentOptions) => { record(value: number, attributes: Attributes): void }} createHistogram
 *   Makes what takes single values.
 * @property {(name: string, options: InstrumentOptions) => object} createObservableCounter Makes what is asked for sums.
 * @property {(name: string, options: InstrumentOptions) => object} createObservableGauge Makes what is asked for values.
 * @property {(callback: BatchCallback, observables: never[]) => void} addBatchObservableCallback Has it called when metrics are
 *   collected.
 * @property {(callback: BatchCallback, observables: never[]) => void} removeBatchObservableCallback Ends that.
 */

/**
 * @typedef {object} InstrumentOptions
 * @property {string} unit
 * @property {string} description
 * @property {{ explicitBucketBoundaries?: number[] }} [advice]
 */

/** @typedef {(result: BatchResult) => Promise<void>} BatchCallback */

/** @typedef {{ observe(observable: never, value: number, attributes: Attributes): void }} BatchResult */

/**
 * What only metrics through OpenTelemetry may be told.
 *
 * @typedef {object} OtelOwnOptions
 * @property {Meter} meter Of `@opentelemetry/api`: `metrics.getMeter('my-service')`.
 * @property {Attributes} [attributes] Put on each of its values, to keep the limiters of a service apart:
 *   `{ limiter: 'login' }`. Default: none.
 * @property {readonly number[] | false} [remainingBounds] The upper bounds of a histogram of what admitted requests left, as
 *   shares of the capacity from 0, ascending; false: no such histogram. It calls the SDK at each request that is admitted,
 *   where all else waits until metrics are collected, or until a request is denied. Default false.
 */

/**
 * What `otelMetrics` may be told.
 *
 * @typedef {MetricsOptions & OtelOwnOptions} OtelOptions
 */

/**
 * Counts of decisions that OpenTelemetry asks for. `otelMetrics` makes it.
 *
 * @example
 * const metrics = otelMetrics({ meter, limiter });
 * const limited = rateLimit({ limiter, onDecision: metrics.record });
 */
export class OtelMetrics {
  #tally;
  #options;
  #observables;
  /** @type {BatchCallback} */
  #callback = (result) => this.#observe(result);

  /**
   * @internal
   * @param {OtelOptions} options
   */
  constructor(options) {
    const { waitBounds, ...most } = checkOptions(options, [
      'meter',
      'attributes',
      'remainingBounds',
    ]);
    const { meter, attributes = {}, remainingBounds = false } = options;
    const isMeter = typeof meter?.addBatchObservableCallback === 'function';
    check(isMeter, 'meter', 'a Meter of @opentelemetry/api', meter);
    check(typeof attributes === 'object' && attributes, 'attributes', 'an object', attributes);
    const shareBounds = checkBounds('remainingBounds', remainingBounds);
    this.#options = { ...options, attributes: { ...attributes } };
    this.#tally = new Tally({
      ...most,
      waits: waitBounds && this.#histogram(retryAfterMetric, waitBounds),
      shares: shareBounds && this.#histogram(remainingMetric, shareBounds),
    });
    const observed = [
      ...this.#tally.families().map(({ metric }) => metric),
      ...gaugeMetrics(options),
    ];
    this.#observables = new Map(observed.map((metric) => [metric.name, this.#observable(metric)]));
    meter.addBatchObservableCallback(this.#callback, this.#list());
  }

  /**
   * Counts a decision: to be handed to an adapter as its `onDecision`, or called, of whichever object. It reads no clock. The
   * SDK is called only where there is a value for a histogram.
   *
   * @param {Decision} decision
   * @returns {void}
   * @example
   * const decision = limiter.check('acme');
   * metrics.record(decision);
   */
  record = (decision) => this.#tally.add(decision);

  /**
   * Ends what the meter asks for; decisions are still counted, and told no more.
   *
   * @returns {void}
   * @example
   * metrics.close();
   */
  close() {
    this.#options.meter.removeBatchObservableCallback(this.#callback, this.#list());
  }

  #list() {
    return /** @type {never[]} */ ([...this.#observables.values()]);
  }

  /**
   * @param {Metric} metric
   * @param {readonly number[]} bounds
   * @returns {ValuesMaker}
   */
  #histogram({ name, unit, description }, bounds) {
    const histogram = this.#options.meter.createHistogram(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries: [...bounds] },
    });
    return (labels) => {
      const attributes = this.#attributes(labels);
      return { add: (value) => histogram.record(value, attributes) };
    };
  }

  /** @param {Metric} metric */
  #observable({ name, kind, unit, description }) {
    const { meter } = this.#options;
    return kind === 'counter'
      ? meter.createObservableCounter(name, { unit, description })
      : meter.createObservableGauge(name, { unit, description });
  }

  /** @param {Record<string, string>} labels */
  #attributes(labels) {
    const named = Object.entries(labels).map(([name, value]) => [`tierlimit.${name}`, value]);
    return { ...this.#options.attributes, ...Object.fromEntries(named) };
  }

  /** @param {BatchResult} result */
  async #observe(result) {
    for (const { metric, samples } of [
      ...this.#tally.families(),
      ...(await gauges(this.#options)),
    ]) {
      const observable = /** @type {never} */ (this.#observables.get(metric.name));
      for (const { labels, value } of samples) {
        result.observe(observable, /** @type {number} */ (value), this.#attributes(labels));
      }
    }
  }
}

/**
 * Counts decisions for OpenTelemetry: `tierlimit.decisions` by `tierlimit.tier`, `tierlimit.limit` and `tierlimit.outcome`
 * (`allowed`, or the reason of the denial); `tierlimit.fallbacks`, by why the default policy judged; a histogram of what
 * denied requests were told to wait, `tierlimit.retry_after`, and one of what admitted ones left where that is asked for;
 * and what `stats()` of the limiter and `status()` of the source tell. Nothing is imported: the meter is handed in.
 *
 * Requests cannot make attributes: the tier is `none` where none was asked for, and `other` where the policies do not know
 * it; there are at most `maxTiers` and `maxLimits` names.
 *
 * @param {OtelOptions} options `meter` is required
 * @returns {OtelMetrics}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * import { metrics as otel } from '@opentelemetry/api';
 *
 * const metrics = otelMetrics({ meter: otel.getMeter('my-service'), limiter });
 * const limited = rateLimit({ limiter, onDecision: metrics.record });
 */
export function otelMetrics(options) {
  return new OtelMetrics(options);
}
