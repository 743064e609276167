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

/** @param {import('../subjects/subject.js').Subject} subject @param {number} count */
async function meet(subject, count) {
  for (let from = 0; from < count; from += chunk) {
    const names = newNames(from, Math.min(chunk, count - from));
    await subject.meet({ clients: names.map((_, i) => from + i), names, tiers: [] }, first);
  }
}

function sizes() {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const linear = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  // Node counts linear memory as external, too.
  return { linear, heap: heapUsed + external - linear, resident: rss };
}

// Another one first: the code is compiled.
const other = make({ clients: 1000, limit });
await meet(other, 1000);
other.dispose?.();
const before = sizes();
const subject = make({ clients, limit });
await meet(subject, clients);
// Once more, later: a balance is a whole number only at first, and numbers that are not take more room.
setClock(100);
await meet(subject, clients);
const after = sizes();

const more = (/** @type {keyof typeof before} */ key) => after[key] - before[key];
process.stdout.write(
  JSON.stringify({
    name: subject.name,
    clients,
    linear: more('linear'),
    heap: more('heap'),
    resident: more('resident'),
  }),
);
// Some have timers.
process.exit();
