/**
 * Limiters that live as long as the isolate, however often the module that asks for them is evaluated.
 * @module
 */

import { show } from './errors.js';
import { isGone } from './limiter.js';
import { policyText } from './policy-text.js';
import { settings } from './settings.js';

/** @import { Limiter } from './limiter.js' */
/** @import { LimiterOptions } from './types.js' */

/** Carries the major version: what another one keeps there may look different. */
const registryKey = Symbol.for('tierlimit.isolate.v0');

/**
 * @typedef {object} Entry
 * @property {Limiter} limiter
 * @property {string} text The policies that were last given here.
 * @property {Readonly<Record<string, unknown>>} settings
 * @property {() => boolean} isGone Made beside the limiter: a class can look only into its own instances.
 */

/** @returns {Map<string, Entry>} */
function registry() {
  const holder = /** @type {Record<symbol, Map<string, Entry>>} */ (
    /** @type {unknown} */ (globalThis)
  );
  holder[registryKey] ??= new Map();
  return holder[registryKey];
}

/**
 * This isolate's limiter of that name, made at first use.
 *
 * @template {Limiter} T
 * @param {string} name
 * @param {LimiterOptions} options
 * @param {(options: LimiterOptions) => T} make
 * @returns {T}
 */
export function forIsolate(name, options, make) {
  if (typeof name !== 'string') throw new TypeError(`name must be a string; got ${show(name)}`);
  const wanted = settings(options);
  const { text } = policyText(options.policies);
  const limiters = registry();
  const entry = limiters.get(name);
  if (entry === undefined || entry.isGone()) {
    const limiter = make(options);
    limiters.set(name, {
      limiter,
      text,
      settings: wanted,
      isGone: () => isGone(limiter),
    });
    return limiter;
  }
  for (const [option, value] of Object.entries(wanted)) {
    const given = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (options))[option];
    if (given !== undefined && value !== entry.settings[option]) {
      throw new RangeError(
        `the limiter ${show(name)} of this isolate has another ${option}` +
          (option === 'seed' ? '' : `: ${show(entry.settings[option])}, not ${show(value)}`) +
          '; only its policies can change',
      );
    }
  }
  if (text !== entry.text) {
    entry.limiter.setPolicies(options.policies);
    entry.text = text;
  }
  return /** @type {T} */ (entry.limiter);
}
