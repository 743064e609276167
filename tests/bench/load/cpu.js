// node tests/bench/load/cpu.js [--rounds 20 --seconds 1 --only fastify --variants empty,tierlimit]: what a limiter takes of
// the server's processor for a request, as a multiple of what the bare server takes. Where others use the machine too, this
// says more than the rate: what they take away is not in it, though what they do to the caches is. Linux only. npm run
// bench:http brings what it needs.
//
// As in main.js a round asks the servers one after the other, bare first and last. Every five rounds the servers are
// started anew.
import { parseArgs } from 'node:util';

import { summary } from '../statistics.js';
import { ask, connections, start, warm } from './servers.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'express,fastify,hono' },
    variants: { type: 'string' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const roundsOfProcess = 5;
const usual = ['empty', 'fields', 'head', 'tierlimit', 'usual'];
/** @type {Record<string, string[]>} */
const more = { hono: ['empty-around', 'around'] };

/**
 * @param {string} framework
 * @param {string[]} variants
 */
async function compared(framework, variants) {
  const bares = /** @type {number[]} */ ([]);
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
    const spent = [];
    for (let turn = 0; turn < servers.length; turn += 1) {
      const at = (round + turn) % servers.length;
      spent[at] = (await ask(servers[at], seconds)).cpuUs;
    }
    const base = (before.cpuUs + (await ask(bare, seconds)).cpuUs) / 2;
    bares.push(base);
    spent.forEach((it, at) => parts[at].push(it / base));
  }
}

/** The interval in which the median is, with a probability of 95%, by the order of the values. */
function interval(/** @type {number[]} */ all) {
  const sorted = Float64Array.from(all).sort();
  const half = (1.96 * Math.sqrt(sorted.length)) / 2;
  const low = sorted[Math.max(0, Math.floor(sorted.length / 2 - half))];
  const high = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + half) - 1)];
  return `${low.toFixed(2)} to ${high.toFixed(2)}`;
}

console.log(`The server's processor time for a request, as a multiple of the bare server's: medians of ${rounds} rounds of ${seconds} s, the
95% interval of the median, and what rate is left where the processor is what limits it; wrk, ${connections} connections, Node
${process.version}; \`node tests/bench/load/cpu.js\`.

| framework | | of the bare server's time | interval | rate left |
|---|---|--:|--:|--:|`);
for (const framework of values.only.split(',')) {
  const variants = values.variants?.split(',') ?? [...usual, ...(more[framework] ?? [])];
  const { bares, parts } = await compared(framework, variants);
  console.log(`| ${framework} | bare | ${summary(bares).median.toFixed(1)} µs | | |`);
  parts.forEach((all, at) => {
    const { median } = summary(all);
    const [factor, left] = [median.toFixed(2), (1 / median).toFixed(2)];
    console.log(`| ${framework} | ${variants[at]} | ${factor} | ${interval(all)} | ${left} |`);
  });
}
