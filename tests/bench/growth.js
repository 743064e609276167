// How long single calls take while a limiter gets to know its clients: tierlimit and the Map in turns, every run in a
// fresh process.
import { child } from './child.js';

/**
 * @typedef {{ median: number[], p9999: number[], slowest: number[] }} Runs nanoseconds, of each run
 * @typedef {{ clients: number, runs: Record<'tierlimit' | 'Map', Runs> }} Growth
 */

/**
 * @param {{ clients: number, runs: number }} options
 * @returns {Growth}
 */
export function growth({ clients, runs }) {
  /** @type {Growth['runs']} */
  const results = {
    tierlimit: { median: [], p9999: [], slowest: [] },
    Map: { median: [], p9999: [], slowest: [] },
  };
  const names = /** @type {const} */ (['tierlimit', 'Map']);
  for (let run = 0; run < runs; run += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(run + turn) % names.length];
      const result = child('growth', name, clients);
      for (const key of /** @type {const} */ (['median', 'p9999', 'slowest'])) {
        results[name][key].push(result[key]);
      }
    }
  }
  return { clients, runs: results };
}
