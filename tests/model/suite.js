// The tests that hold an implementation to the model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from './differential.js';

const SEEDS = 7;
const OPERATIONS = 20_000; // a seed
// With more clients than there is room for.
const SMALL_SEEDS = 3;
const SMALL_OPERATIONS = 6_000;
const firstSeed = Number(process.env.TIERLIMIT_SEED ?? 20_261);

// How often each rule has to be used at least, over all seeds: a comparison of what hardly happens says little.
const FLOORS = {
  'answer: allow': 10_000,
  'answer: allowMany': 3_000,
  'answer: clock': 800,
  'answer: decision': 40_000,
  'answer: invalid-cost': 150,
  'answer: invalid-time': 200,
  'answer: refused': 400,
  'answer: report': 3_000,
  'by handle': 14_000,
  'reason: cost-exceeds-capacity': 2_000,
  'reason: exhausted': 10_000,
  'reason: never-refills': 1_000,
  'reason: ok': 20_000,
  'fallback: invalid-tier-policy': 3_000,
  'fallback: no-tier': 3_000,
  'fallback: null': 10_000,
  'fallback: unknown-tier': 3_000,
  'judged by rate: exact': 20_000,
  'judged by rate: simplest': 3_000,
  'judged by rate: below': 2_000,
  'judged by a rounded capacity': 1_000,
  'never full': 1_000,
  'wait raised': 1_000,
  'wait beyond the clock': 1_000,
  clamped: 2_000,
  moved: 10_000,
  'moved and rounded': 3_000,
  obeyed: 800,
  raised: 5_000,
  'document: conflicting-members': 3,
  'document: invalid-value': 15,
  'document: missing-member': 30,
  'document: not-representable': 50,
  'document: number-out-of-range': 30,
  'document: unknown-member': 30,
  'document: unknown-tier': 15,
  'document: unsupported': 10,
  'document: wrong-type': 60,
  'tier: conflicting-members': 30,
  'tier: invalid-value': 150,
  'tier: missing-member': 60,
  'tier: not-representable': 300,
  'tier: rate-rounded': 1_000,
  'tier: unknown-member': 40,
  'tier: unknown-tier': 500,
  'tier: unsupported': 150,
  'tier: wrong-type': 150,
};

const SMALL_FLOORS = {
  'answer: allow': 1_800,
  'answer: allowMany': 400,
  'answer: clock': 70,
  'answer: decision': 5_000,
  'by handle': 1_800,
  evicted: 2_000,
  'evicted: full': 800,
  'evicted: some day full': 1_000,
  'evicted: never full': 25,
  'evicted: not the first of all': 250,
  'answered otherwise for an eviction': 800,
  'reason: cost-exceeds-capacity': 500,
  'reason: exhausted': 600,
  'reason: never-refills': 40,
  'reason: ok': 3_500,
  'reason: table-full': 250,
};

/** @param {import('./differential.js').Implementation} implementation */
export function holdToModel(implementation) {
  const { name } = implementation;
  compareSeeds('as the model does', SEEDS, OPERATIONS, { isSmall: false }, FLOORS);
  compareSeeds(
    'as the model does that is told who is evicted',
    SMALL_SEEDS,
    SMALL_OPERATIONS,
    { isSmall: true },
    SMALL_FLOORS,
  );

  /**
   * @param {string} how
   * @param {number} seeds
   * @param {number} operations of each
   * @param {{ isSmall: boolean }} options
   * @param {Record<string, number>} floors
   */
  function compareSeeds(how, seeds, operations, options, floors) {
    const total = new Map();
    let differences = 0;
    const last = firstSeed + seeds - 1;
    for (let seed = firstSeed; seed <= last; seed += 1) {
      test(`${name} answers ${operations} operations ${how} (seed ${seed})`, async () => {
        const result = await compare(implementation, seed, operations, options);
        for (const [event, count] of result.coverage) {
          total.set(event, (total.get(event) ?? 0) + count);
        }
        differences += result.differences;
        assert.equal(result.differences, 0, result.explanation);
      });
    }

    test(`${how}: every rule was used often`, (t) => {
      const evictions = options.isSmall ? `, ${total.get('evicted')} evictions` : '';
      t.diagnostic(
        `${name} ${how}: ${seeds * operations} operations, seeds ${firstSeed} to ${last}` +
          `${evictions}, ${differences} differences`,
      );
      for (const [event, floor] of Object.entries(floors)) {
        const count = total.get(event) ?? 0;
        assert.ok(count >= floor, `${event}: ${count} times, expected at least ${floor}`);
      }
    });
  }
}
