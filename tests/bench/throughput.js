// Nanoseconds per request: each subject on each workload.
import { collectGarbage } from './garbage.js';
import { newNames } from './names.js';
import { orders } from './orders.js';
import { measure, meetAll } from './rounds.js';
import { outcomes } from './settings.js';

/**
 * One workload, measured.
 *
 * @typedef {object} Result
 * @property {number} clients
 * @property {'admitted' | 'denied'} outcome
 * @property {'fresh' | 'interned'} names
 * @property {'uniform' | 'zipf'} order
 * @property {Record<string, number[]>} ns per request, of each subject by its name: a number for each round
 */

/**
 * @param {object} options
 * @param {import('./subjects/subject.js').Maker[]} options.makers
 * @param {number[]} options.counts
 * @param {number} options.rounds
 * @param {Result['outcome'][]} options.outcomes
 * @param {Result['names'][]} options.names
 * @param {(text: string) => void} options.say
 * @returns {Promise<Result[]>}
 */
export async function throughput({
  makers,
  counts,
  rounds,
  outcomes: kinds,
  names: kindsOfNames,
  say,
}) {
  /** @type {Result[]} */
  const results = [];
  for (const clients of counts) {
    for (const outcome of kinds) {
      say(`${clients.toLocaleString('en')} clients, ${outcome}`);
      const { limit, first } = outcomes[outcome];
      const subjects = makers.map((make) => make({ clients, limit }));
      await meetAll(subjects, clients, first);
      for (const names of kindsOfNames) {
        const interned = names === 'interned' ? newNames(0, clients) : null;
        collectGarbage();
        for (const order of /** @type {const} */ (['uniform', 'zipf'])) {
          const workload = { order: orders[order](clients), interned, outcome };
          const measured = await measure(subjects, workload, rounds);
          const ns = Object.fromEntries([...measured].map(([name, all]) => [name, [...all]]));
          results.push({ clients, outcome, names, order, ns });
        }
      }
      for (const subject of subjects) subject.dispose?.();
    }
  }
  return results;
}
