// npm run bench:http [-- --rounds 21 --seconds 1 --only express,hono]: what a limiter costs a server, by wrk over loopback.
//
// For each framework four servers stay up: bare, with two constant header fields set as the framework says, with
// tierlimit and with the limiter that is usual there. A round asks them one after the other, bare first and last, and
// divides what each of the others answered by the mean of the two bare runs. On Hono there is a fifth, with tierlimit
// around the app. What the machine does meanwhile is in all of them. Every seven rounds the servers are started anew,
// since each process has luck of its own with the compiler and the caches.
import { parseArgs } from 'node:util';

import { machine } from '../machine.js';
import { summary } from '../statistics.js';
import { ask, connections, start, warm } from './servers.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '21' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'express,fastify,hono' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const roundsOfProcess = 7;
const limiters = ['fields', 'tierlimit', 'usual'];
const usual = new Map([
  ['express', 'express-rate-limit'],
  ['fastify', '@fastify/rate-limit'],
  ['hono', 'hono-rate-limiter'],
]);
/** What is to be kept of the bare server's rate. */
const asked = new Map([
  ['express', 0.95],
  ['fastify', 0.92],
  ['hono', 0.9],
]);

/**
 * @param {string} framework
 * @param {string[]} limiters
 */
async function compared(framework, limiters) {
  const bares = /** @type {number[]} */ ([]);
  const parts = limiters.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds;) {
    const started = await Promise.all(['bare', ...limiters].map((it) => start(framework, it)));
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
    const rates = [];
    // Who comes first changes: what is next to which run of the bare server must not matter.
    for (let turn = 0; turn < servers.length; turn += 1) {
      const at = (round + turn) % servers.length;
      rates[at] = (await ask(servers[at], seconds)).rate;
    }
    const base = (before.rate + (await ask(bare, seconds)).rate) / 2;
    bares.push(base);
    rates.forEach((it, at) => parts[at].push(it / base));
  }
}

/** @param {number[]} values */
function shown(values) {
  const { median, low, high } = summary(values);
  return `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

const { processor, node } = await machine();
console.log(
  `Requests a second over loopback, as a part of the bare server's (medians of ${rounds} rounds of ${seconds} s, quartiles in
parentheses); wrk, ${connections} connections, Node ${node}, ${processor}; \`npm run bench:http\`.

| framework | bare, a second | two constant fields | tierlimit | asked | usual there | |
|---|--:|--:|--:|--:|--:|---|`,
);
for (const framework of values.only.split(',')) {
  const isAround = framework === 'hono';
  const all = isAround ? [...limiters, 'around'] : limiters;
  const { bares, parts } = await compared(framework, all);
  const perSecond = Math.round(summary(bares).median);
  const [fields, own, other, around] = parts.map(shown);
  console.log(
    `| ${framework} | ${perSecond} | ${fields} | ${own} | ${asked.get(framework)} | ${other} | ${usual.get(framework)} |`,
  );
  if (isAround) {
    console.log(`| ${framework}, around the app | | | ${around} | ${asked.get(framework)} | | |`);
  }
}
