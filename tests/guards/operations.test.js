// What a decision takes, counted: loads from and stores to memory, and calls, returns and turns of loops in the module as
// it is shipped. Unlike a duration the numbers are the same at each run and on each machine.
//
// The limits are some 3% above what was counted when they were set; each test prints what it counts now. A change that
// is worth its price moves a limit, to 3% above the new count and in the same commit. One that takes less moves it down.
// The numbers are those of Emscripten 3.1.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freshNames, newNames, usual } from '../bench/names.js';
import { limitHere } from './support/build.js';
import { instrumented } from './support/instrumented.js';

/** @import { TierLimiterOptions, Policy } from '../../js/src/types.js' */
/** @import { Counts } from './support/instrumented.js' */

/**
 * Of each kind of work, on average and at most of any one call.
 * @typedef {[accesses: number, steps: number]} Limits
 * @type {Record<string, { each: Limits, most?: Limits }>}
 */
const limits = {
  'allow, a client of 1,000': { each: [49.2, 6.61], most: [721, 85.5] },
  'allow, a client of 100,000': { each: [44.5, 6.04], most: [410, 47.5] },
  'allow, denied': { each: [44, 5.97] },
  'allow, with a tier': { each: [45, 5.97] },
  'allow, with a tier assigned': { each: [64.7, 9.33] },
  'allow, a name of 36 characters': { each: [56, 7.19] },
  'allow, a name of 256 characters': { each: [114, 52.7] },
  'allow of a handle': { each: [41, 5.97] },
  'allowMany, each of 100 clients': { each: [82.2, 19.7] },
  check: { each: [140.7, 21.4] },
  peek: { each: [128.8, 20.9] },
  'allow, a new client, up to 100,000 of them': { each: [242, 39.2], most: [16_100, 4590] },
  'allow, a flood of new clients at the bound': { each: [601, 170], most: [1258, 305] },
  'sweeping, at each decision, with nothing to forget': { each: [4.84, 0.52] },
  'sweeping, for each client that is forgotten': { each: [144, 34.5] },
};
const otherCompilers = 0.25;

const module = await instrumented();

/** @param {Partial<TierLimiterOptions> & { limit?: Policy }} [options] */
function make({ limit = { capacity: 1000, refillPerSecond: 1 }, ...options } = {}) {
  if (module === null) throw new Error('nothing counts');
  const clock = { ms: 0 };
  const limiter = new module.TierLimiter({
    policies: { default: limit, tiers: { pro: { capacity: 2000, refillPerSecond: 2 } } },
    now: () => clock.ms,
    seed: new Uint8Array(16),
    maxClients: 2 ** 20,
    maxBytes: 2 ** 30,
    ...options,
  });
  return { limiter, clock };
}

/**
 * @typedef {object} Work
 * @property {Counts} each on average
 * @property {Counts} most of any one call
 */

/**
 * Calls, counted.
 * @param {number} times
 * @param {(i: number) => void} call
 * @returns {Work}
 */
function count(times, call) {
  if (module === null) throw new Error('nothing counts');
  const { counts } = module;
  const start = { ...counts };
  const most = { accesses: 0, steps: 0 };
  for (let i = 0; i < times; i += 1) {
    const { accesses, steps } = counts;
    call(i);
    most.accesses = Math.max(most.accesses, counts.accesses - accesses);
    most.steps = Math.max(most.steps, counts.steps - steps);
  }
  const each = (/** @type {keyof Counts} */ what) => (counts[what] - start[what]) / times;
  return { each: { accesses: each('accesses'), steps: each('steps') }, most };
}

const skip = module === null && "there is no wasm-opt of Binaryen's to count operations with";
// Of a test that is skipped npm test shows no more than that.
if (skip) test('operations', (t) => t.diagnostic(skip));

/**
 * A test of one kind of work.
 * @param {string} name
 * @param {() => { each: Counts, most?: Counts }} work
 */
function counted(name, work) {
  test(name, { skip }, (t) => {
    const found = work();
    const shown = [];
    const problems = [];
    for (const key of /** @type {const} */ (['each', 'most'])) {
      const limit = limits[name][key];
      const counts = found[key];
      if (limit === undefined || counts === undefined) continue;
      const text = `${round(counts.accesses)} accesses, ${round(counts.steps)} steps`;
      shown.push(key === 'most' ? `at most ${text}` : text);
      const [accesses, steps] = limit.map((value) => limitHere(value, otherCompilers));
      if (!(counts.accesses > 0 && counts.accesses <= accesses && counts.steps <= steps)) {
        problems.push(`${shown.at(-1)}; the limits are ${accesses} and ${steps}`);
      }
    }
    t.diagnostic(`${name}: ${shown.join('; ')}`);
    assert.deepEqual(problems, []);
  });
}

const round = (/** @type {number} */ value) => Math.round(value * 100) / 100;

/**
 * A limiter that knows so many clients, each asked for once. What follows is a millisecond later.
 * @param {number} count
 * @param {Parameters<typeof make>[0]} [options]
 */
function grown(count, options) {
  const { limiter, clock } = make(options);
  const names = newNames(0, count);
  for (const name of names) limiter.allow(name);
  clock.ms = 1;
  return { limiter, clock, names };
}

/**
 * What is counted of one beyond what is of the other.
 * @param {Counts} one
 * @param {Counts} other
 */
const beyond = (one, other) => ({
  accesses: one.accesses - other.accesses,
  steps: one.steps - other.steps,
});

const some = 20_000;
const many = 100_000;

counted('allow, a client of 1,000', () => {
  const { limiter, names } = grown(1000);
  return count(some, (i) => limiter.allow(names[i % 1000]));
});

counted('allow, a client of 100,000', () => {
  const { limiter, names } = grown(many);
  return count(some, (i) => limiter.allow(names[i * 5]));
});

counted('allow, denied', () => {
  const { limiter, names } = grown(some, { limit: { capacity: 1, refillPerSecond: 0.001 } });
  return count(some, (i) => assert.equal(limiter.allow(names[i]), false));
});

counted('allow, with a tier', () => {
  const { limiter, names } = grown(some);
  for (const name of names) limiter.allow(name, 1, 'pro');
  return count(some, (i) => limiter.allow(names[i], 1, 'pro'));
});

counted('allow, with a tier assigned', () => {
  const { limiter, names } = grown(some);
  for (const name of names) limiter.setTier(name, 'pro');
  for (const name of names) limiter.allow(name);
  return count(some, (i) => limiter.allow(names[i]));
});

for (const length of [36, 256]) {
  counted(`allow, a name of ${length} characters`, () => {
    const { limiter } = make();
    const clients = Array.from({ length: 1000 }, (_, i) => i);
    const names = freshNames(clients, 0, clients.length, { ...usual, length });
    for (const name of names) limiter.allow(name);
    return count(some, (i) => limiter.allow(names[i % names.length]));
  });
}

counted('allow of a handle', () => {
  const { limiter, names } = grown(some);
  const handles = names.map((name) => limiter.client(name));
  for (const handle of handles) handle.allow();
  return count(some, (i) => handles[i].allow());
});

counted('allowMany, each of 100 clients', () => {
  const { limiter, names } = grown(some);
  const { each } = count(some / 100, (i) => {
    limiter.allowMany(names.slice(i * 100, (i + 1) * 100));
  });
  return { each: { accesses: each.accesses / 100, steps: each.steps / 100 } };
});

counted('check', () => {
  const { limiter, names } = grown(some);
  return count(some, (i) => limiter.check(names[i]));
});

counted('peek', () => {
  const { limiter, names } = grown(some);
  return count(some, (i) => limiter.peek(names[i]));
});

counted('allow, a new client, up to 100,000 of them', () => {
  const { limiter } = make();
  const names = newNames(0, many);
  return count(many, (i) => limiter.allow(names[i]));
});

counted('allow, a flood of new clients at the bound', () => {
  const { limiter } = grown(10_000, { maxClients: 10_000 });
  const names = newNames(10_000, 50_000);
  return count(names.length, (i) => limiter.allow(names[i]));
});

counted('sweeping, at each decision, with nothing to forget', () => {
  const [swept, kept] = [true, false].map((sweep) => {
    const { limiter, names } = grown(1000, { sweep });
    const handles = names.map((name) => limiter.client(name));
    for (const handle of handles) handle.allow();
    return count(64_000, (i) => handles[i % 1000].allow());
  });
  return { each: beyond(swept.each, kept.each) };
});

counted('sweeping, for each client that is forgotten', () => {
  const clients = 10_000;
  const calls = 20 * clients;
  const [swept, kept] = [true, false].map((sweep) => {
    const { limiter, clock } = grown(clients, { sweep });
    // Nobody of them comes any more, and somebody else all the time.
    const handle = limiter.client('somebody');
    handle.allow();
    clock.ms = 1e6;
    const { each } = count(calls, () => handle.allow());
    assert.equal(limiter.stats().swept, sweep ? clients : 0);
    return each;
  });
  const { accesses, steps } = beyond(swept, kept);
  return { each: { accesses: (accesses * calls) / clients, steps: (steps * calls) / clients } };
});
