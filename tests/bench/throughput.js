// Nanoseconds per request: each subject on each workload.
import { collectGarbage } from './garbage.js';
import { newNames } from './names.js';
import { orders } from './orders.js';
import { measure, meetAll } from './rounds.js';
import { outcomes } from './settings.js';
import { map, mapWithTier } from './subjects/map.js';
import { allow, allowWithTier, check } from './subjects/tierlimit.js';

const makers = [allow, allowWithTier, check, map, mapWithTier];

/**
 * @typedef {object} Result
 * @property {number} clients
 * @property {'admitted' | 'denied'} outcome
 * @property {'uniform' | 'zipf'} order
 * @property {'fresh' | 'interned'} names
 * @property {Record<string, number[]>} ns per request, for each subject by its name: one number a round
 */

/**
 * @param {{ counts: number[], rounds: number, say: (text: string) => void }} options
 * @returns {Promise<Result[]>}
 */
export async function throughput({ counts, rounds, say }) {
  /** @type {Result[]} */
  const results = [];
  for (const clients of counts) {
    for (const outcome of /** @type {const} */ (['admitted', 'denied'])) {
      say(`${clients.toLocaleString('en')} clients, ${outcome}`);
      const { limit, first } = outcomes[outcome];
      const subjects = makers.map((make) => make({ clients, limit }));
      await meetAll(subjects, clients, first);
      for (const names of /** @type {const} */ (['fresh', 'interned'])) {
        const interned = names === 'interned' ? newNames(0, clients) : null;
        collectGarbage();
        for (const order of /** @type {const} */ (['uniform', 'zipf'])) {
          const workload = { order: orders[order](clients), interned, outcome };
          const measured = await measure(subjects, workload, rounds);
          const ns = Object.fromEntries([...measured].map(([name, all]) => [name, [...all]]));
          results.push({ clients, outcome, order, names, ns });
        }
      }
      for (const subject of subjects) subject.dispose?.();
    }
  }
  return results;
}
