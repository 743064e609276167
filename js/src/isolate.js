/**
 * Limiters that live as long as the isolate, however often the module that asks for them is evaluated.
 * @module
 */

import { checkString } from './arguments.js';
import { show } from './errors.js';
import { policyText } from './policy-text.js';
import { settings } from './settings.js';

/** @import { TierLimiter } from './limiter.js' */
/** @import { TierLimiterOptions } from './types.js' */

/** Carries the major version: what another one keeps there may look different. */
const registryKey = Symbol.for('tierlimit.isolate.v0');

/**
 * @typedef {object} Entry
 * @property {TierLimiter} limiter
 * @property {string} text The policies that were last given here.
 * @property {Readonly<Record<string, unknown>>} held The settings.
 * @property {() => boolean} isGone Made beside the limiter: a class can look only into its own instances.
 */

/**
 * This isolate's limiter of that name, made at first use.
 *
 * @param {string} name
 * @param {TierLimiterOptions} options
 * @param {(options: TierLimiterOptions) => Pick<Entry, 'limiter' | 'isGone'>} make
 * @returns {TierLimiter}
 */
export function forIsolate(name, options, make) {
  checkString('name', name);
  /** @type {Readonly<Record<string, unknown>>} */
  const held = settings(options);
  const { text } = policyText(options.policies);
  const holder = /** @type {Record<symbol, Map<string, Entry>>} */ (
    /** @type {unknown} */ (globalThis)
  );
  const entries = (holder[registryKey] ??= new Map());
  const entry = entries.get(name);
  if (entry === undefined || entry.isGone()) {
    const made = make(options);
    entries.set(name, { ...made, text, held });
    return made.limiter;
  }
  for (const [option, value] of Object.entries(held)) {
    const given = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (options))[option];
    if (given !== undefined && value !== entry.held[option]) {
      const values = option === 'seed' ? '' : `: ${show(entry.held[option])}, not ${show(value)}`;
      throw new RangeError(
        `the limiter ${show(name)} of this isolate has another ${option}${values}; only its policies can change`,
      );
    }
  }
  if (text !== entry.text) {
    entry.limiter.setPolicies(options.policies);
    entry.text = text;
  }
  return entry.limiter;
}
