/**
 * Arguments, checked.
 * @module
 */

import { check, checkNumber, show } from './errors.js';

/**
 * @param {string} name
 * @param {unknown} value
 * @param {string} [rule]
 * @returns {asserts value is string}
 */
export function checkString(name, value, rule = 'a string') {
  check(typeof value === 'string', name, rule, value);
}

/** @param {unknown} tier */
export function checkTier(tier) {
  checkString('tier', tier, 'a string or null');
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 */
export function checkWhole(name, value, least, most) {
  const number = /** @type {number} */ (value);
  // The rule is put into words only where it is broken: costs are checked at each decision.
  if (Number.isInteger(value) && number >= least && number <= most) return;
  checkNumber(false, name, `a whole number from ${least} to ${most}`, value);
}

/** @param {unknown} cost */
export function checkCost(cost) {
  checkWhole('cost', cost, 1, Number.MAX_SAFE_INTEGER);
}

/**
 * @param {unknown} options
 * @param {readonly string[]} names
 */
export function checkNames(options, names) {
  check(
    typeof options === 'object' && options,
    'options',
    `an object such as { ${names[0]} }`,
    options,
  );
  // A name that is misspelled must not mean the default.
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`there is no option ${show(name)}`);
  }
}

/**
 * @param {unknown} clients
 * @returns {string[]} a copy, for the array is the caller's: it may change while the clock is read, or at any reading
 */
export function checkClients(clients) {
  check(Array.isArray(clients), 'clients', 'an array of strings', clients);
  const names = [];
  for (let i = 0; i < clients.length; i += 1) {
    const name = clients[i];
    if (typeof name !== 'string') checkString(`clients[${i}]`, name);
    names.push(name);
  }
  return names;
}
