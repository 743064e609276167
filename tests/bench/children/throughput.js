// Subjects on workloads of fresh names: throughput.js <maker,…> <clients> <rounds> <outcome,…>
import { makers } from '../subjects/all.js';
import { throughput } from '../throughput.js';

const [names, clients, rounds, outcomes] = process.argv.slice(2);
const results = await throughput({
  makers: makers.filter(({ name }) => names.split(',').includes(name)),
  counts: [Number(clients)],
  rounds: Number(rounds),
  outcomes: /** @type {import('../throughput.js').Result['outcome'][]} */ (outcomes.split(',')),
  names: ['fresh'],
  say: () => {},
});
process.stdout.write(JSON.stringify(results));
// Some have timers.
process.exit();
