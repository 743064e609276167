// What the clients of one subject take: memory.js <maker> <clients>
import { setClock } from '../clock.js';
import { collectGarbage } from '../garbage.js';
import { newNames } from '../names.js';
import { outcomes } from '../settings.js';
import { watchMemories } from '../../js/support/memory.js';

const [maker, count] = process.argv.slice(2);
const clients = Number(count);
const chunk = 1000;

// Before anything makes an instance.
const memories = watchMemories();
const { makers } = await import('../subjects/all.js');
const make = makers.find(({ name }) => name === maker);
if (make === undefined) throw new Error(`there is no ${maker}`);

const { limit, first } = outcomes.admitted;
const subject = make({ clients, limit });

/** @param {number} from @param {number} until */
async function meet(from, until) {
  for (let at = from; at < until; at += chunk) {
    const names = newNames(at, Math.min(chunk, until - at));
    await subject.meet({ clients: names.map((_, i) => at + i), names, tiers: [] }, first);
  }
}

function sizes() {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const linear = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  // Node counts linear memory as external, too.
  return { linear, heap: heapUsed + external - linear, resident: rss };
}

// A few clients first: the code that runs is compiled, the tables are there.
await meet(0, 1000);
const before = sizes();
await meet(1000, clients);
// Once more, later: a balance is a whole number only at first, and numbers that are not take more room.
setClock(100);
await meet(0, clients);
const after = sizes();

const more = (/** @type {keyof typeof before} */ key) => after[key] - before[key];
process.stdout.write(
  JSON.stringify({
    name: subject.name,
    clients: clients - 1000,
    linear: more('linear'),
    heap: more('heap'),
    resident: more('resident'),
  }),
);
// Some have timers.
process.exit();
