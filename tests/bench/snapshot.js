// node tests/bench/snapshot.js [clients [runs]]: how large a snapshot is, and how long it takes to make one and to
// restore it. After a build (npm run build).
import { TierLimiter } from '../../js/src/index.js';

import { summary } from './statistics.js';

const [clients = 1_000_000, runs = 15] = process.argv.slice(2).map(Number);
const bounds = { maxClients: 2 ** 22, maxBytes: 2 ** 28 };
const limiter = new TierLimiter({
  policies: { default: { capacity: 100, refill: { tokens: 100, seconds: 86_400 } } },
  now: () => 0,
  ...bounds,
});
const empty = limiter.snapshot().length;
for (let i = 0; i < clients; i += 1) limiter.allow(`client ${i}`);

const [taken, restored] = [[], []].map((times) => /** @type {number[]} */ (times));
let bytes = limiter.snapshot();
// The first run warms up.
for (let run = -1; run < runs; run += 1) {
  const start = performance.now();
  bytes = limiter.snapshot();
  const between = performance.now();
  const after = TierLimiter.restore(bytes, { now: () => 0, ...bounds });
  const end = performance.now();
  const { buckets } = after.stats();
  if (buckets !== clients) throw new Error(`${buckets} buckets are there of ${clients}`);
  after.dispose();
  if (run < 0) continue;
  taken.push(between - start);
  restored.push(end - between);
}

const shown = (/** @type {number[]} */ times) => {
  const { median, low, high } = summary(times);
  return `${median.toFixed(0)} ms (quartiles ${low.toFixed(0)} to ${high.toFixed(0)})`;
};
console.log(`${clients} clients, ${runs} runs, median`);
console.log(`bytes a client: ${((bytes.length - empty) / clients).toFixed(2)}`);
console.log(`snapshot: ${shown(taken)}`);
console.log(`restore: ${shown(restored)}`);
