// `allow` and the Map with names of several shapes, in one process as they come to one: lengths.js <rounds>
import { shapes } from '../names.js';
import { orders } from '../orders.js';
import { measure, meetAll } from '../rounds.js';
import { outcomes } from '../settings.js';
import { map } from '../subjects/map.js';
import { allow } from '../subjects/tierlimit.js';

const rounds = Number(process.argv[2]);
const clients = 1000;
const { limit, first } = outcomes.admitted;

const cases = [];
for (const shape of shapes) {
  const subjects = [allow, map].map((make) => make({ clients, limit }));
  await meetAll(subjects, clients, first, shape);
  const workload = {
    order: orders.uniform(clients),
    interned: null,
    outcome: /** @type {const} */ ('admitted'),
    shape,
  };
  cases.push({ shape, subjects, workload });
}
// All of them once before any counts, so that all are measured with the same code.
for (const { subjects, workload } of cases) await measure(subjects, workload, 3);
const results = [];
for (const { shape, subjects, workload } of cases) {
  const measured = await measure(subjects, workload, rounds);
  const ns = Object.fromEntries([...measured].map(([name, all]) => [name, [...all]]));
  results.push({ names: shape.name, clients, ns });
}
process.stdout.write(JSON.stringify(results));
