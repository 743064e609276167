// node tests/bench/load/cpu.js [--rounds 20 --seconds 1 --only fastify --variants empty,tierlimit]: what a limiter takes of
// the server's processor for a request, as a multiple of what the bare server takes. Where others use the machine too, this
// says more than the rate: what they take away is not in it, though what they do to the caches is. Linux only. npm run
// bench:http brings what it needs.
//
// As in main.js a round asks the servers one after the other, bare first and last. Every five rounds the servers are
// started anew.
import { parseArgs } from 'node:util';

import { medianInterval, summary } from '../statistics.js';
import { compare } from './compare.js';
import { connections } from './servers.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'express,fastify,hono' },
    variants: { type: 'string' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const options = /** @type {const} */ ({ figure: 'cpuUs', rounds, roundsOfProcess: 5, seconds });
const usual = ['empty', 'fields', 'head', 'tierlimit', 'usual'];
/** @type {Record<string, string[]>} */
const more = { hono: ['empty-around', 'around'] };

console.log(`The server's processor time for a request, as a multiple of the bare server's: medians of ${rounds} rounds of ${seconds} s, the
95% interval of the median, and what rate is left where the processor is what limits it; wrk, ${connections} connections, Node
${process.version}; \`node tests/bench/load/cpu.js\`.

| framework | | of the bare server's time | interval | rate left |
|---|---|--:|--:|--:|`);
for (const framework of values.only.split(',')) {
  const variants = values.variants?.split(',') ?? [...usual, ...(more[framework] ?? [])];
  const { bares, parts } = await compare(framework, variants, options);
  console.log(`| ${framework} | bare | ${summary(bares).median.toFixed(1)} µs | | |`);
  parts.forEach((all, at) => {
    const { median } = summary(all);
    const [factor, left] = [median.toFixed(2), (1 / median).toFixed(2)];
    const { low, high } = medianInterval(all);
    const interval = `${low.toFixed(2)} to ${high.toFixed(2)}`;
    console.log(`| ${framework} | ${variants[at]} | ${factor} | ${interval} | ${left} |`);
  });
}
