// Servers of one framework against its bare one, in rounds.
import { ask, start, warm } from './servers.js';

/** @typedef {'rate' | 'cpuUs'} Figure requests a second, or microseconds of the processor's time for each */

/**
 * A round asks the servers one after the other, bare first and last, and divides what each of the others came to by the mean
 * of the two bare runs.
 * @param {string} framework
 * @param {string[]} variants
 * @param {object} options
 * @param {Figure} options.figure
 * @param {number} options.rounds
 * @param {number} options.roundsOfProcess after so many the servers are started anew
 * @param {number} options.seconds of each run
 * @returns {Promise<{ bares: number[], parts: number[][] }>} the bare server's figures, and of each variant the quotients
 */
export async function compare(framework, variants, { figure, rounds, roundsOfProcess, seconds }) {
  /** @type {number[]} */
  const bares = [];
  const parts = variants.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds;) {
    const started = await Promise.all(['bare', ...variants].map((it) => start(framework, it)));
    try {
      for (const server of started) await warm(server);
      const end = Math.min(round + roundsOfProcess, rounds);
      for (; round < end; round += 1) await compareOnce(started, round);
    } finally {
      for (const { child } of started) child.kill();
    }
  }
  return { bares, parts };

  /**
   * @param {import('./servers.js').Server[]} started
   * @param {number} round
   */
  async function compareOnce([bare, ...servers], round) {
    const before = await ask(bare, seconds);
    /** @type {number[]} */
    const figures = [];
    // Who comes first changes: what is next to which run of the bare server must not matter.
    for (let turn = 0; turn < servers.length; turn += 1) {
      const at = (round + turn) % servers.length;
      figures[at] = (await ask(servers[at], seconds))[figure];
    }
    const base = (before[figure] + (await ask(bare, seconds))[figure]) / 2;
    bares.push(base);
    figures.forEach((it, at) => parts[at].push(it / base));
  }
}
