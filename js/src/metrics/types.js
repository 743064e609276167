/**
 * What metrics are made of, and what they may be told.
 * @module
 */

/** @import { SourceStatus } from '../policies/types.js' */
/** @import { TierLimiterStats } from '../types.js' */
/** @import { Distribution } from './distribution.js' */

/**
 * What all metrics may be told.
 *
 * @typedef {object} MetricsOptions
 * @property {{ stats(): TierLimiterStats | PromiseLike<TierLimiterStats> }} [limiter] Its `stats` are told too: asked for when
 *   metrics are collected, and never in between. Default: none.
 * @property {{ status(): SourceStatus }} [source] A policy source: when it was last read and put in force, and whether
 *   something of it is refused. Default: none.
 * @property {number} [maxTiers] So many tiers have their name in a label, from 1 to 1,000; later ones are `other`. Default 64.
 * @property {number} [maxLimits] So many limits have their name in a label, from 1 to 1,000; later ones are `other`.
 *   Default 32.
 * @property {readonly number[] | false} [retryAfterBoundsSeconds] The upper bounds of the histogram of waits, in seconds,
 *   above 0 and ascending; false: no such histogram. Default: 14 bounds from 0.1 seconds to a day.
 */

/**
 * A metric and its values at one time.
 *
 * @typedef {object} Family
 * @property {Metric} metric
 * @property {Sample[]} samples
 */

/**
 * @typedef {object} Metric
 * @property {string} name As OpenTelemetry writes names, with dots.
 * @property {'counter' | 'gauge' | 'histogram'} kind
 * @property {string} unit As UCUM has it: `s`, `By`, `1`, `{bucket}`.
 * @property {string} description
 */

/**
 * A value, or of a histogram a distribution, with its labels by their names.
 *
 * @typedef {{ labels: Readonly<Record<string, string>>, value: number | Distribution }} Sample
 */

export {};
