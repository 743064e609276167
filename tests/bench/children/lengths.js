// `allow` and the Map with names of several shapes, in one process as they come to one: lengths.js <rounds>
import { longShapes, shapes } from '../names.js';
import { orders } from '../orders.js';
import { measure, meetAll } from '../rounds.js';
import { outcomes } from '../settings.js';
import { map } from '../subjects/map.js';
import { allow } from '../subjects/tierlimit.js';

const rounds = Number(process.argv[2]);
const { limit, first } = outcomes.admitted;

const cases = [];
for (const { shape, clients, batchSize, count } of [
  ...shapes.map((shape) => ({ shape, clients: 1000, batchSize: undefined, count: rounds })),
  ...longShapes.map((it) => ({ ...it, count: Math.min(rounds, 5) })),
]) {
  const subjects = [allow, map].map((make) => make({ clients, limit }));
  await meetAll(subjects, clients, first, shape);
  const workload = {
    order: orders.uniform(clients),
    interned: null,
    outcome: /** @type {const} */ ('admitted'),
    shape,
    batchSize,
  };
  cases.push({ clients, subjects, workload, count });
}
// All of them once before any counts, so that all are measured with the same code.
for (const { subjects, workload } of cases) await measure(subjects, workload, 0);
const results = [];
for (const { clients, subjects, workload, count } of cases) {
  const measured = await measure(subjects, workload, count);
  const ns = Object.fromEntries([...measured].map(([name, all]) => [name, [...all]]));
  results.push({ names: workload.shape.name, clients, ns });
}
process.stdout.write(JSON.stringify(results));
