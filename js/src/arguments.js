/**
 * The arguments of a decision, checked.
 * @module
 */

import { show } from './errors.js';

/** @import { CheckOptions, ClientCheckOptions } from './types.js' */

/**
 * @param {unknown} client
 * @returns {asserts client is string}
 */
export function checkClient(client) {
  if (typeof client !== 'string')
    throw new TypeError(`client must be a string; got ${show(client)}`);
}

/** @param {CheckOptions} options */
export function checkOptions(options) {
  checkNames(options, ['cost', 'tier']);
}

/** @param {ClientCheckOptions} options of a client that has its tier already */
export function checkKnownOptions(options) {
  checkNames(options, ['cost']);
}

/**
 * @param {object} options
 * @param {string[]} names
 */
function checkNames(options, names) {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object such as { cost: 5 }; got ${show(options)}`);
  }
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
  if (!Array.isArray(clients)) {
    throw new TypeError(`clients must be an array of strings; got ${show(clients)}`);
  }
  const names = [];
  for (let i = 0; i < clients.length; i += 1) {
    const name = clients[i];
    if (typeof name !== 'string') {
      throw new TypeError(`clients[${i}] must be a string; got ${show(name)}`);
    }
    names.push(name);
  }
  return names;
}

/** @param {unknown} cost */
export function checkCost(cost) {
  if (typeof cost !== 'number') throw new TypeError(`cost must be a number; got ${show(cost)}`);
  if (!Number.isSafeInteger(cost) || cost < 1) {
    throw new RangeError(
      `cost must be a whole number from 1 to 9007199254740991; got ${show(cost)}`,
    );
  }
}

/** @param {unknown} tier */
export function checkTier(tier) {
  if (typeof tier !== 'string')
    throw new TypeError(`tier must be a string or null; got ${show(tier)}`);
}
