// The tests that hold an implementation to the model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from './differential.js';

const SEEDS = 7;
const OPERATIONS = 20_000; // a seed
const firstSeed = Number(process.env.TIERLIMIT_SEED ?? 20_261);

// How often each rule has to be used at least, over all seeds: a comparison of what hardly happens says little.
const FLOORS = {
  'answer: allow': 10_000,
  'answer: clock': 800,
  'answer: decision': 40_000,
  'answer: invalid-cost': 150,
  'answer: invalid-time': 200,
  'answer: refused': 400,
  'answer: report': 3_000,
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

/** @param {import('./differential.js').Implementation} implementation */
export function holdToModel(implementation) {
  const { name } = implementation;
  const total = new Map();
  const summary = { operations: 0, differences: 0 };

  for (let seed = firstSeed; seed < firstSeed + SEEDS; seed += 1) {
    test(`${name} answers ${OPERATIONS} operations as the model does (seed ${seed})`, async () => {
      const { coverage, differences, explanation } = await compare(
        implementation,
        seed,
        OPERATIONS,
      );
      for (const [event, count] of coverage) total.set(event, (total.get(event) ?? 0) + count);
      summary.operations += OPERATIONS;
      summary.differences += differences;
      assert.equal(differences, 0, explanation);
    });
  }

  test('every rule was used often', (t) => {
    t.diagnostic(
      `${name} against the model: ${summary.operations} operations, seeds ${firstSeed} to ` +
        `${firstSeed + SEEDS - 1}, ${summary.differences} differences`,
    );
    for (const [event, floor] of Object.entries(FLOORS)) {
      const count = total.get(event) ?? 0;
      assert.ok(count >= floor, `${event}: ${count} times, expected at least ${floor}`);
    }
  });
}
