/**
 * What of the options is the same for requests and for messages, checked.
 * @module
 */

import { check, checkNumber, show } from '../errors.js';

/**
 * @internal
 * @param {Record<string, any>} options with their defaults
 * @throws {TypeError | RangeError} when one is not as it should be; the message names it and its value
 */
export function checkShared({
  limiter,
  client,
  noClient,
  tier,
  cost,
  onDecision,
  onWarning,
  shadow,
}) {
  const rule = 'an object with a method check';
  check(typeof limiter?.check === 'function', 'limiter', rule, limiter);
  checkFunction('client', client);
  check(
    noClient === 'reject' || noClient === 'skip' || isName(Object(noClient).client),
    'noClient',
    '"reject", "skip" or { client: a name }',
    noClient,
  );
  const isTier = tier === undefined || typeof tier === 'string' || typeof tier === 'function';
  check(isTier, 'tier', 'a string or a function', tier);
  const isCost = typeof cost === 'function' || (Number.isSafeInteger(cost) && cost > 0);
  const costs = `a whole number from 1 to ${Number.MAX_SAFE_INTEGER} or a function`;
  checkNumber(isCost, 'cost', costs, cost);
  checkFunction('onDecision', onDecision);
  checkFunction('onWarning', onWarning);
  checkChoice('shadow', shadow, [false, true]);
}

/** @param {unknown} value */
const isName = (value) => typeof value === 'string' && value !== '';

/**
 * @internal
 * @param {string} name
 * @param {unknown} value
 */
export function checkFunction(name, value) {
  check(value === undefined || typeof value === 'function', name, 'a function', value);
}

/**
 * @internal
 * @param {string} name
 * @param {unknown} value
 * @param {readonly unknown[]} choices
 */
export function checkChoice(name, value, choices) {
  check(choices.includes(value), name, choices.map(show).join(' or '), value);
}
