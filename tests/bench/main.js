// The benchmark.
import { parseArgs } from 'node:util';

import { ratio, summary } from './statistics.js';
import { throughput } from './throughput.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '61' },
    quick: { type: 'boolean', default: false },
  },
});

const say = (/** @type {string} */ text) => process.stderr.write(`${text}\n`);
const counts = values.quick ? [1000, 1_000_000] : [1000, 100_000, 1_000_000];
const results = await throughput({
  counts,
  rounds: values.quick ? 15 : Number(values.rounds),
  say,
});

const subjects = Object.keys(results[0].ns);
console.log(`| clients, order, names, outcome | ${subjects.join(' | ')} | allow : Map |`);
console.log(`|---|${subjects.map(() => '---').join('|')}|---|`);
for (const { clients, order, names, outcome, ns } of results) {
  const cells = subjects.map((name) => {
    const { median, low, high } = summary(ns[name]);
    return `${median.toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)})`;
  });
  const against = ratio(ns.allow, ns.Map).median.toFixed(2);
  console.log(
    `| ${clients.toLocaleString('en')} ${order} ${names} ${outcome} | ${cells.join(' | ')} | ${against} |`,
  );
}
