// From import to a first decision, each time in a fresh process.
import { child } from './child.js';

const names = [
  'nothing',
  'tierlimit',
  'tierlimit/slim',
  'limiter',
  'rate-limiter-flexible',
  'express-rate-limit',
];

/**
 * @typedef {object} Startup milliseconds, of each process
 * @property {number[]} decision from before the import until after the first decision
 * @property {number[]} process from its beginning to its end, as its parent sees it
 */

/**
 * @param {{ rounds: number }} options
 * @returns {Record<string, Startup>}
 */
export function startup({ rounds }) {
  const results = Object.fromEntries(
    names.map((name) => [name, /** @type {Startup} */ ({ decision: [], process: [] })]),
  );
  // The first round warms up: files come into the system's cache.
  for (let round = -1; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + 1 + turn) % names.length];
      const start = performance.now();
      const decision = child('startup', name);
      const end = performance.now();
      if (round < 0) continue;
      results[name].decision.push(decision);
      results[name].process.push(end - start);
    }
  }
  return results;
}
