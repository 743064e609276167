// The tests that hold an implementation to the model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from './differential.js';

const SEEDS = 7;
const OPERATIONS = 20_000; // a seed
// With more clients than there is room for.
const SMALL_SEEDS = 3;
const SMALL_OPERATIONS = 8_000;
const firstSeed = Number(process.env.TIERLIMIT_SEED ?? 20_261);

// How often each rule has to be used at least, over all seeds: a comparison of what hardly happens says little.
const FLOORS = {
  'answer: allow': 10_000,
  'answer: allowMany': 2_500,
  'answer: clock': 800,
  'answer: clock-error': 30,
  'answer: decision': 40_000,
  'answer: invalid-cost': 150,
  'answer: invalid-time': 200,
  'answer: refused': 400,
  'answer: report': 5_000,
  'answer: settlement': 2_000,
  'answer: shadowStats': 400,
  'answer: stats': 500,
  'by handle': 10_000,
  'reason: cost-exceeds-capacity': 5_000,
  'reason: exhausted': 6_000,
  'reason: never-refills': 1_000,
  'reason: ok': 20_000,
  'fallback: invalid-tier-policy': 4_000,
  'fallback: no-tier': 6_000,
  'fallback: null': 15_000,
  'fallback: unknown-tier': 6_000,
  'judged by rate: exact': 40_000,
  'judged by rate: simplest': 5_000,
  'judged by rate: below': 4_000,
  'judged by a rounded capacity': 1_500,
  'never full': 1_500,
  'wait raised': 2_000,
  'wait beyond the clock': 10_000,
  clamped: 8_000,
  moved: 25_000,
  'moved and rounded': 6_000,
  obeyed: 600,
  'obeyed: token-bucket': 450,
  'obeyed: fixed-window': 70,
  'obeyed: sliding-window': 70,
  'obeyed: several limits': 130,
  'window ended that microsecond': 150,
  'several limits': 20_000,
  'one denies, another would admit': 8_000,
  'another than the first binds: admitted': 5_000,
  'another than the first binds: denied': 5_000,
  'binding tie: admitted': 1_000,
  'binding tie: denied': 2_000,
  'raised: keep': 10_000,
  'raised: fill': 800,
  'raised: proportional': 900,
  'raised: add': 900,
  'raised as setTier asked: fill': 100,
  'raised as setTier asked: proportional': 100,
  'raised as setTier asked: add': 100,
  'setTier changes the tier': 2_000,
  'setTier looked at a bucket': 400,
  prorated: 5_000,
  'prorated over several changes': 2_000,
  'prorated: no such limit meanwhile': 2_000,
  'prorated: older than the history': 200,
  'prorated: the last rate is the lower at the bound': 80,
  'prorated: the oldest rate is the lower at the bound': 80,
  'history is full': 500,
  'history dropped': 120,
  'refund clamped': 2_000,
  'refund of a window': 700,
  'settlement: settled': 400,
  'settlement: cancelled': 120,
  'settlement: denied': 200,
  'settlement: expired': 1_000,
  'settlement: already-settled': 80,
  'settlement: already-cancelled': 20,
  'settled just before it ends': 5,
  'settled as it ends': 4,
  'settled: a limit is gone': 50,
  'settled: no limit is left': 25,
  debt: 40,
  'shadow: bothAllow': 6_000,
  'shadow: bothDeny': 3_000,
  'shadow: onlyLiveAllows': 1_000,
  'shadow: onlyShadowAllows': 2_000,
  'shadow: call': 1_500,
  'shadow: assigned': 8_000,
  'shadow: document': 800,
  'shadow: none': 2_000,
  promoted: 80,
  restored: 150,
  'document: invalid-value': 20,
  'document: missing-member': 30,
  'document: not-representable': 80,
  'document: number-out-of-range': 25,
  'document: unknown-member': 40,
  'document: unknown-tier': 15,
  'document: wrong-type': 120,
  'tier: conflicting-members': 50,
  'tier: invalid-value': 400,
  'tier: missing-member': 130,
  'tier: not-representable': 800,
  'tier: rate-rounded': 2_500,
  'tier: unknown-member': 220,
  'tier: unknown-tier': 1_000,
  'tier: unsupported': 25,
  'tier: wrong-type': 350,
};
// Every way in which a token bucket may be set, alone and among others.
for (const onRaise of ['keep', 'fill', 'proportional', 'add']) {
  for (const accrual of ['at-next', 'prorated']) {
    FLOORS[`judged: one token-bucket ${onRaise} ${accrual}`] = 2_000;
    FLOORS[`judged: several token-bucket ${onRaise} ${accrual}`] = 2_000;
  }
}
for (const window of ['fixed-window', 'sliding-window']) {
  FLOORS[`judged: one ${window}`] = 4_000;
  FLOORS[`judged: several ${window}`] = 6_000;
}

const SMALL_FLOORS = {
  'answer: allow': 1_500,
  'answer: allowMany': 400,
  'answer: clock': 25,
  'answer: decision': 5_000,
  'by handle': 1_500,
  evicted: 4_000,
  'evicted: full': 2_500,
  'evicted: some day full': 1_500,
  'evicted: never full': 40,
  'evicted: not the first of all': 1_200,
  'evicted: token-bucket': 3_000,
  'evicted: fixed-window': 300,
  'evicted: sliding-window': 300,
  'answered otherwise for an eviction': 600,
  'several limits': 2_500,
  'settlement: settled': 40,
  'reason: cost-exceeds-capacity': 800,
  'reason: exhausted': 250,
  'reason: never-refills': 25,
  'reason: ok': 3_000,
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
   * @param {import('./scenario.js').Options} options
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
