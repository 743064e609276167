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
import { compare } from './compare.js';
import { connections } from './servers.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '21' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'express,fastify,hono' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const options = /** @type {const} */ ({ figure: 'rate', rounds, roundsOfProcess: 7, seconds });
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
  const { bares, parts } = await compare(framework, all, options);
  const perSecond = Math.round(summary(bares).median);
  const [fields, own, other, around] = parts.map(shown);
  console.log(
    `| ${framework} | ${perSecond} | ${fields} | ${own} | ${asked.get(framework)} | ${other} | ${usual.get(framework)} |`,
  );
  if (isAround) {
    console.log(`| ${framework}, around the app | | | ${around} | ${asked.get(framework)} | | |`);
  }
}
