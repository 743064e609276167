// Floods of new names: flood.js <names> <maxClients> …
import { readFileSync } from 'node:fs';

import { now } from '../clock.js';
import { collectGarbage } from '../garbage.js';
import { newNames } from '../names.js';
import { withModule } from '../../../js/src/slim.js';
import { watchMemories } from '../../js/support/memory.js';

const [count, ...bounds] = process.argv.slice(2).map(Number);
/** Until there have been so many, a call may be one that fills a table, for which nobody has to go. */
const filled = 2 * Math.max(...bounds);
const chunk = 1000;
const policies = { default: { capacity: 10, refillPerSecond: 1 } };

// Each has an instance of the module, and so a memory, of its own.
const wasm = new WebAssembly.Module(
  readFileSync(new URL('../../../js/dist/core.wasm', import.meta.url)),
);
const memories = watchMemories();
const floods = bounds.map((maxClients) => {
  const { TierLimiter } = withModule(wasm);
  const limiter = new TierLimiter({ policies, now, maxClients, maxBytes: 2 ** 31 });
  const memory = memories[memories.length - 1];
  const ns = /** @type {number[]} */ ([]);
  return { maxClients, limiter, memory, ns, filledBytes: 0 };
});

collectGarbage();
// In turns, a thousand names each. Time stands still: no bucket becomes full, so each new client beyond the bound takes
// the place of another.
for (let from = 0; from < count; from += chunk) {
  for (let turn = 0; turn < floods.length; turn += 1) {
    const it = floods[(from / chunk + turn) % floods.length];
    const names = newNames(from, chunk);
    const start = process.hrtime.bigint();
    for (let i = 0; i < names.length; i += 1) it.limiter.allow(names[i]);
    const end = process.hrtime.bigint();
    if (from >= filled) it.ns.push(Number(end - start) / chunk);
    if (from < 2 * it.maxClients) it.filledBytes = it.memory.buffer.byteLength;
  }
}
process.stdout.write(
  JSON.stringify(
    floods.map(({ maxClients, limiter, memory, ns, filledBytes }) => ({
      maxClients,
      ns,
      filledBytes,
      endBytes: memory.buffer.byteLength,
      evictions: limiter.stats().evictions,
    })),
  ),
);
