// The durations of single calls while a limiter gets to know its clients: growth.js <tierlimit | Map> <clients>
import { now } from '../clock.js';
import { collectGarbage } from '../garbage.js';
import { MapLimiter } from '../map-limiter.js';
import { newNames } from '../names.js';
import { outcomes, policies } from '../settings.js';
import { quantile } from '../statistics.js';
import { TierLimiter } from '../../../js/src/index.js';
import { roomFor } from '../subjects/tierlimit.js';

const [what, count] = process.argv.slice(2);
const clients = Number(count);
const setting = { clients, limit: outcomes.admitted.limit };
const chunk = 1000;

const make =
  what === 'Map'
    ? () => new MapLimiter(now, setting.limit)
    : () => new TierLimiter({ policies: policies(setting), now, ...roomFor(setting) });

/**
 * The duration of each call in milliseconds. Reading the clock is part of it, once a call.
 * @param {{ allow(client: string): boolean }} limiter
 * @param {Float64Array} durations
 */
function grow(limiter, durations) {
  for (let from = 0; from < durations.length; from += chunk) {
    const names = newNames(from, Math.min(chunk, durations.length - from));
    let before = performance.now();
    for (let i = 0; i < names.length; i += 1) {
      limiter.allow(names[i]);
      const after = performance.now();
      durations[from + i] = after - before;
      before = after;
    }
  }
  return durations;
}

// The compilers see the code before it counts, with so few clients that memory is as good as new.
// Those limiters go, as the Map's do: in memory that they have grown, the one that counts would find room.
for (let i = 0; i < 20; i += 1) {
  const limiter = make();
  grow(limiter, new Float64Array(2000));
  if (limiter instanceof TierLimiter) limiter.dispose();
}
const limiter = make();
const durations = new Float64Array(clients);
collectGarbage();
grow(limiter, durations).sort();
const ns = (/** @type {number} */ part) => quantile(durations, part) * 1e6;
process.stdout.write(JSON.stringify({ median: ns(0.5), p9999: ns(0.9999), slowest: ns(1) }));
