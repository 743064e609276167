// How many bytes of JavaScript's heap a call takes: allocations.js <whole | fractional>, for readings of the clock.
//
// A process of its own, started with a young generation so large that nothing is collected while a loop runs: then the
// heap grows by what the loop allocates, and by nothing else.
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';

import { TierLimiter } from 'tierlimit';

import { collectGarbage } from '../../bench/garbage.js';
import { freshNames } from '../../bench/names.js';

/** @import { TierLimiterOptions, Policy } from '../../../js/src/types.js' */

const calls = 1_000_000;
/** Calls that allocate by design are fewer, for all of it has to fit the young generation. */
const callsThatAllocate = 100_000;
const callsToWarmUp = 100_000;
/** What the compilers leave behind while a loop runs is not there the next time. */
const attempts = 4;
/** Bytes per call that are nothing: whatever a call allocates takes eight or more. */
const nothing = 0.1;

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

/** How many collections there have been. Those of this turn are told in the next one. */
async function collectionsSoFar() {
  await nextTurn();
  await nextTurn();
  return collections;
}

/**
 * The fewest bytes per call of all attempts, and the most collections.
 * @param {number} calls
 * @param {(calls: number) => void} run
 */
async function measure(calls, run) {
  const used = () => getHeapStatistics().used_heap_size;
  let bytes = Infinity;
  let collected = 0;
  for (let i = 0; i < attempts && bytes > nothing; i += 1) {
    collectGarbage();
    const collectedBefore = await collectionsSoFar();
    const before = used();
    // To ask takes room, too.
    const asking = used() - before;
    run(calls);
    const taken = used() - before - 2 * asking;
    collected = Math.max(collected, (await collectionsSoFar()) - collectedBefore);
    bytes = Math.min(bytes, taken / calls);
  }
  return { bytes, collected };
}

// ---- Clock, names and limiters -------------------------------------------------------------------------------------

// Readings are numbers that are on the heap already. (An array of nothing but fractional numbers would make one at each
// reading.) There are enough of them for all attempts of a case.
const steps = 8192;
const readings = {
  whole: [null, ...Array.from({ length: steps }, (_, i) => 1000 + i)],
  fractional: [null, ...Array.from({ length: steps }, (_, i) => 1000.0625 + i / 8)],
};
const times = readings[/** @type {keyof typeof readings} */ (process.argv[2])];
let step = 0;
const now = () => /** @type {number} */ (times[step]);
const callsPerStep = 1000;

const clients = Array.from({ length: 1024 }, (_, i) => i);

/** @param {Partial<import('../../bench/names.js').Shape>} [shape] */
const names = (shape = {}) =>
  freshNames(clients, 0, clients.length, { name: '', length: 24, ...shape });

const plenty = { capacity: 1e9, refillPerSecond: 1 };
const hardlyAny = { capacity: 1, refillPerSecond: 0.001 };

/** @param {Partial<TierLimiterOptions> & { limit?: Policy }} [options] */
const make = ({ limit = plenty, ...options } = {}) =>
  new TierLimiter({
    policies: { default: limit, tiers: { pro: plenty } },
    now,
    seed: new Uint8Array(16),
    ...options,
  });

// ---- Cases ---------------------------------------------------------------------------------------------------------

/** Where results go, so that nobody finds them to be of no use. @type {unknown} */
export let kept;

/**
 * `allow` with the names in turn.
 * @param {string[]} all
 * @param {Parameters<typeof make>[0]} [options]
 */
function allow(all, options) {
  const limiter = make(options);
  return (/** @type {number} */ i) => limiter.allow(all[i % all.length]);
}

/**
 * @param {string | null} [tier]
 * @param {Parameters<typeof make>[0]} [options]
 */
function handles(tier, options) {
  const limiter = make(options);
  return names().map((name) => limiter.client(name, tier));
}

/** What is known, to measure the measurement by. @type {Record<string, () => (i: number) => unknown>} */
const control = {
  'an object of three members': () => (i) => {
    kept = { i, j: i, k: i };
  },
};

/** @type {Record<string, () => (i: number) => unknown>} */
const cases = {
  'allow, 24 characters': () => allow(names()),
  'allow, 0 characters': () => allow(['']),
  'allow, 8 characters': () => allow(names({ length: 8 })),
  'allow, 15 characters': () => allow(names({ length: 15 })),
  'allow, 36 characters': () => allow(names({ length: 36 })),
  'allow, 64 characters': () => allow(names({ length: 64 })),
  'allow, 256 characters': () => allow(names({ length: 256 })),
  'allow, Latin-1': () => allow(names({ last: 'é' })),
  'allow, Unicode': () => allow(names({ last: '名' })),
  'allow, a lone surrogate': () => allow(names({ last: '\ud800' })),
  'allow, 48 characters, Unicode': () => allow(names({ length: 48, last: '名' })),
  'allow, 64 characters, Unicode': () => allow(names({ length: 64, last: '名' })),
  'allow, denied': () => allow(names(), { limit: hardlyAny }),
  'allow, for clients that are all new': () => allow(names(), { maxClients: 8 }),
  'allow, refused as there is no room': () => allow(names(), { maxClients: 8, onFull: 'deny' }),
  'allow, the clock held': () => allow(names(), { onClockBackward: 'hold' }),
  'allow, with a cost': () => {
    const limiter = make();
    const all = names();
    return (i) => limiter.allow(all[i % all.length], 2);
  },
  'allow, with a tier': () => {
    const limiter = make();
    const all = names();
    return (i) => limiter.allow(all[i % all.length], 1, 'pro');
  },
  'allow, with a tier assigned': () => {
    const limiter = make();
    const all = names();
    for (const name of all) limiter.setTier(name, 'pro');
    return (i) => limiter.allow(all[i % all.length]);
  },
  'handle, allow': () => {
    const all = handles();
    return (i) => all[i % all.length].allow();
  },
  'handle, allow with a tier': () => {
    const all = handles('pro');
    return (i) => all[i % all.length].allow();
  },
  'handle, allow denied': () => {
    const all = handles(null, { limit: hardlyAny });
    return (i) => all[i % all.length].allow();
  },
};

/** @type {Record<string, () => (i: number) => unknown>} */
const casesThatAllocate = {
  'allow, 5,000 characters': () => allow(names({ length: 5000 })),
  check: () => {
    const limiter = make();
    const all = names();
    return (i) => {
      kept = limiter.check(all[i % all.length]);
    };
  },
  'check, denied': () => {
    const limiter = make({ limit: hardlyAny });
    const all = names();
    return (i) => {
      kept = limiter.check(all[i % all.length]);
    };
  },
  peek: () => {
    const limiter = make();
    const all = names();
    return (i) => {
      kept = limiter.peek(all[i % all.length]);
    };
  },
  'handle, check': () => {
    const all = handles();
    return (i) => {
      kept = all[i % all.length].check();
    };
  },
  'handle, peek': () => {
    const all = handles();
    return (i) => {
      kept = all[i % all.length].peek();
    };
  },
};

const results = [];
for (const [list, count] of /** @type {const} */ ([
  [control, callsThatAllocate],
  [cases, calls],
  [casesThatAllocate, callsThatAllocate],
])) {
  for (const [name, prepare] of Object.entries(list)) {
    step = 1;
    const call = prepare();
    const run = (/** @type {number} */ count) => {
      for (let from = 0; from < count; from += callsPerStep) {
        step += 1;
        for (let i = from; i < from + callsPerStep; i += 1) call(i);
      }
    };
    for (let i = 0; i < 4; i += 1) run(callsToWarmUp / 4);
    results.push({ name, ...(await measure(count, run)) });
  }
}
// Those that were asked for, at the least.
if ((await collectionsSoFar()) === 0) throw new Error('collections are not told of');
process.stdout.write(JSON.stringify(results));
