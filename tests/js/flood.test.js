// Floods of new names: whom they cost what, how much memory, and how much at a time. Counted, never timed.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { withModule } from 'tierlimit/slim';

import { Random } from '../model/random.js';
import { clocked, only, seed } from './support/limiter.js';
import { coreBytes, watchMemories } from './support/memory.js';

const memories = watchMemories();

/** A class over a module of its own, and the bytes of the module's memory. */
function alone() {
  const { TierLimiter: Limiter } = withModule(coreBytes());
  const memory = memories.at(-1);
  return { Limiter, memoryBytes: () => memory.buffer.byteLength };
}

/** Every bucket that was made is there, or was counted as it went. */
function addUp({ buckets, allowed, swept, evictions }) {
  assert.equal(buckets, allowed - swept - evictions);
}

/** Who has spent all, and new names that come `stepMs` after each other. */
const quotas = {
  'the clock stands still': { policies: only(10, 1), all: 10, stepMs: 0 },
  slow: { policies: { default: { capacity: 3, refill: { tokens: 1, seconds: 86_400 } } }, all: 3 },
  'never refills': { policies: only(10, 0), all: 10 },
  'never refills, and new names spend half': { policies: only(2, 0), all: 2, stepMs: 0 },
  'a tier slower than the flood, which is swept': {
    policies: { ...only(50, 1000), tiers: { free: { capacity: 5, refillPerSecond: 0.001 } } },
    all: 5,
    tier: 'free',
  },
  'a tier that never refills': {
    policies: { ...only(10, 1), tiers: { trial: { capacity: 5, refillPerSecond: 0 } } },
    all: 5,
    tier: 'trial',
    stepMs: 0.001,
  },
};

for (const [what, { policies, all, tier, stepMs = 1 }] of Object.entries(quotas)) {
  test(`who has spent all stays denied through five times maxClients new names: ${what}`, () => {
    for (const maxClients of [8, 9, 100, 1000, 10_000]) {
      // One, and half and three quarters of all that there is room for.
      for (const drained of [1, maxClients >> 1, maxClients - (maxClients >> 2)]) {
        const { limiter, clock, take } = clocked(policies, { maxClients });
        for (let i = 0; i < drained; i += 1) {
          assert.equal(take(`drained ${i}`, 0, all, tier).allowed, true);
        }
        const denied = (verb) => {
          for (let i = 0; i < drained; i += 1) {
            const { allowed } = limiter[verb](`drained ${i}`, { tier });
            assert.equal(allowed, false, `${i} of ${drained} of ${maxClients}: ${verb}`);
          }
        };
        for (let i = 0; i < 5 * maxClients; i += 1) {
          clock.ms = i * stepMs;
          assert.equal(limiter.allow(`new ${i}`), true);
          if (i % (2 * maxClients) === 0) denied('peek');
        }
        denied('peek');
        addUp(limiter.stats());
        denied('check');
        const { buckets, evictions, evictedTokens, tableFull } = limiter.stats();
        assert.ok(buckets <= maxClients);
        assert.equal(tableFull, 0);
        // Who had to go had spent one token at most.
        assert.ok(evictedTokens <= evictions);
        if (stepMs === 0) assert.equal(evictedTokens, evictions);
        limiter.dispose();
      }
    }
  });
}

test('who asks all the while stays denied, and so do those in a handle and in a batch', () => {
  const { limiter } = clocked(only(5, 0), { maxClients: 64 });
  const handle = limiter.client('handle');
  assert.deepEqual(limiter.allowMany(['batch', 'asks'], 5), [true, true]);
  assert.equal(handle.allow(5), true);
  for (let i = 0; i < 1000; i += 1) {
    // A batch is larger than the table is.
    const names = Array.from({ length: 100 }, (_, n) => `new ${i}.${n}`);
    assert.ok(limiter.allowMany(names).every(Boolean));
    assert.equal(limiter.allow('asks'), false);
  }
  assert.deepEqual(limiter.allowMany(['batch', 'handle', 'asks']), [false, false, false]);
  assert.equal(handle.allow(), false);
  assert.equal(limiter.stats().buckets, 64);
  addUp(limiter.stats());
});

test('case 34: a million unique names at maxClients 10,000: size and memory stay as they are', (t) => {
  // Nothing is ever full again; all is, one call later; and in between.
  for (const { refillPerSecond, stepMs, isSteady } of [
    { refillPerSecond: 1, stepMs: 0, isSteady: true },
    { refillPerSecond: 1000, stepMs: 1, isSteady: true },
    // Where buckets come and go by themselves, now and then a segment has one more than ever before and is split.
    { refillPerSecond: 1, stepMs: 0.2, isSteady: false },
  ]) {
    const { Limiter, memoryBytes } = alone();
    const { limiter, clock } = clocked(only(10, refillPerSecond), { maxClients: 10_000 }, Limiter);
    const warm = { bytes: 80 * 10_000, memory: 2 ** 20 };
    for (let i = 0; i < 1_000_000; i += 1) {
      clock.ms = i * stepMs;
      if (!limiter.allow(`client ${i}`)) assert.fail(`${i} is denied`);
      if (i % 1000 !== 999) continue;
      const { buckets, bytes } = limiter.stats();
      const memory = memoryBytes();
      assert.ok(buckets <= 10_000);
      assert.ok(bytes <= warm.bytes && memory <= warm.memory, `${i}: ${bytes}, ${memory}`);
      if (isSteady && i === 49_999) Object.assign(warm, { bytes, memory });
    }
    const stats = limiter.stats();
    addUp(stats);
    assert.equal(stats.swept > 0, stepMs > 0);
    if (stepMs === 0) assert.equal(stats.buckets, 10_000);
    t.diagnostic(
      `a million names at maxClients 10,000: ${stats.swept} swept, ${stats.evictions} evicted, ${stats.buckets} left ` +
        `in ${stats.bytes} bytes of ${memoryBytes()}`,
    );
    limiter.dispose();
  }
});

test('case 34: no single call takes more than a segment of memory or forgets more than a few', () => {
  const segmentBytes = 64 + 512 * 32;
  const { limiter, clock } = clocked(only(10, 1), { maxClients: 20_000 });
  let last = limiter.stats();
  const most = { bytes: 0, swept: 0, evictions: 0 };
  const call = (name) => {
    assert.equal(limiter.allow(name), true);
    const stats = limiter.stats();
    for (const counter of Object.keys(most)) {
      most[counter] = Math.max(most[counter], stats[counter] - last[counter]);
    }
    last = stats;
  };
  for (let i = 0; i < 40_000; i += 1) call(`client ${i}`);
  assert.equal(last.evictions, 20_000);
  assert.equal(last.swept, 0);
  // From now on all others are full whoever comes: one who is known, or a new one.
  for (let i = 0; i < 300_000 && last.buckets > 1; i += 1) {
    clock.ms += 10_000;
    call('known');
  }
  assert.equal(last.buckets, 1);
  for (let i = 0; i < 60_000; i += 1) {
    clock.ms += 10_000;
    call(`new ${i}`);
  }
  assert.ok(last.swept > 60_000, `${last.swept}`);
  // Beside a segment, what points at it.
  assert.ok(most.bytes <= segmentBytes + last.bytes / 64, JSON.stringify(most));
  assert.ok(most.swept >= 16 && most.swept <= 64, JSON.stringify(most));
  assert.equal(most.evictions, 1);
});

test('whom a flood evicts is a matter of the seed', () => {
  const evicted = (bytes) => {
    const { limiter, take } = clocked(only(10, 1), { maxClients: 200, seed: bytes });
    for (let i = 0; i < 200; i += 1) take(`client ${i}`, 0);
    for (let i = 0; i < 50; i += 1) take(`new ${i}`, 0, 10);
    const gone = [];
    for (let i = 0; i < 200; i += 1) if (limiter.peek(`client ${i}`).remaining === 10) gone.push(i);
    assert.ok(gone.length > 40, `${gone.length}`); // the others took the place of new ones
    limiter.dispose();
    return gone;
  };
  const here = evicted(seed);
  assert.deepEqual(evicted(seed), here);
  for (let byte = 0; byte < 16; byte += 1) {
    const there = evicted(seed.map((value, at) => (at === byte ? value ^ 0x80 : value)));
    const both = here.filter((i) => there.includes(i)).length;
    // By chance a quarter of the fifty.
    assert.ok(both < 30, `byte ${byte}: ${both} of ${here.length} the same`);
  }
});

test('limiters without a seed evict different clients', () => {
  const evicted = () => {
    const limiter = new TierLimiter({ policies: only(10, 1), now: () => 0, maxClients: 200 });
    for (let i = 0; i < 200; i += 1) limiter.allow(`client ${i}`);
    for (let i = 0; i < 50; i += 1) limiter.allow(`new ${i}`, 10);
    const gone = [];
    for (let i = 0; i < 200; i += 1) if (limiter.peek(`client ${i}`).remaining === 10) gone.push(i);
    limiter.dispose();
    return gone.join();
  };
  assert.equal(new Set(Array.from({ length: 20 }, evicted)).size, 20);
});

test('one handle survives growth, sweep and eviction', () => {
  const { Limiter, memoryBytes } = alone();
  const { limiter, clock } = clocked(only(10, 1), { maxClients: 20_000 }, Limiter);
  const handle = limiter.client('held');
  const same = (remaining) => {
    assert.equal(handle.peek().remaining, remaining);
    assert.deepEqual(handle.peek(), limiter.peek('held'));
  };
  assert.equal(handle.allow(4), true);

  // Growth: of the table by segments, and of linear memory.
  const [bytes, memory] = [limiter.stats().bytes, memoryBytes()];
  let next = 0;
  while (limiter.stats().buckets < 20_000) assert.equal(limiter.allow(`new ${next++}`, 2), true);
  assert.ok(limiter.stats().bytes > 100 * bytes && memoryBytes() > memory);
  same(6);
  assert.equal(handle.allow(), true);
  same(5);

  // Sweep: all are full again, and forgotten.
  const { swept, evictions } = limiter.stats();
  while (limiter.stats().buckets > 1) {
    clock.ms += 10_000;
    limiter.allow('passer-by');
  }
  assert.deepEqual([limiter.stats().swept - swept, limiter.stats().evictions], [20_000, evictions]);
  same(10);
  assert.equal(handle.check({ cost: 1 }).remaining, 9);
  same(9);

  // Eviction: the others have spent more.
  while (limiter.stats().buckets < 20_000) limiter.allow(`new ${next++}`, 9);
  same(9);
  for (let i = 0; limiter.peek('held').remaining === 9; i += 1) {
    assert.ok(i < 1_000_000, 'the held one is not evicted');
    limiter.allow(`new ${next++}`, 9);
  }
  assert.ok(limiter.stats().evictions > evictions);
  same(10);
  assert.equal(handle.allow(3), true);
  same(7);
  assert.equal(limiter.allow('held', 3), true);
  same(4);
  limiter.dispose();
});

test('counters add up, whatever happens to new names', () => {
  const policies = {
    ...only(10, 1),
    tiers: {
      slow: { capacity: 20, refillPerSecond: 0.01 },
      frozen: { capacity: 30, refillPerSecond: 0 },
    },
  };
  for (const onFull of ['evict', 'deny']) {
    for (const sweep of [true, false]) {
      for (const maxClients of [8, 100, 700]) {
        const random = new Random(maxClients);
        const { limiter, clock } = clocked(policies, { maxClients, onFull, sweep });
        let [allowed, spent] = [0, 0];
        for (let i = 0; i < 10_000; i += 1) {
          clock.ms += random.fraction() * (sweep ? 40_000 / maxClients : 1);
          const cost = random.whole(1, 10);
          // Few that never refill: in the end nobody else would be there.
          const tier = random.weighted([
            [3000, undefined],
            [1000, 'slow'],
            [1, 'frozen'],
          ]);
          if (!limiter.allow(`new ${i}`, cost, tier)) continue;
          allowed += 1;
          spent += cost;
        }
        const stats = limiter.stats();
        addUp(stats);
        assert.deepEqual([stats.allowed, stats.denied], [allowed, 10_000 - allowed]);
        assert.equal(stats.tableFull, stats.denied);
        assert.ok(stats.buckets <= maxClients && stats.evictedTokens <= spent);
        assert.deepEqual(
          [stats.evictions > 0, stats.tableFull > 0, stats.swept > 0, stats.evictedTokens > 0],
          [onFull === 'evict', onFull === 'deny', sweep, onFull === 'evict'],
        );
        limiter.dispose();
      }
    }
  }
});

test('case 36: a sweep before the bucket is full gives nothing back', () => {
  const { limiter, clock, take } = clocked(only(1, 0.001));
  assert.equal(take('c', 0).allowed, true);
  let swept = 0;
  for (const atMs of [300_000, 400_000, 600_000, 999_999]) {
    // Others, whose buckets stay full, and then many rounds of the sweep over sixteen slots.
    for (let i = 0; i < 10; i += 1) take(`other ${i}`, atMs - 1, 2);
    for (let i = 0; i < 1000; i += 1) take('passer-by', atMs, 2);
    swept += 10;
    // The passer-by too may be forgotten between the times it comes.
    assert.ok(limiter.stats().swept >= swept);
    assert.equal(limiter.stats().buckets, 2);
    assert.equal(limiter.peek('c').allowed, false);
  }
  assert.equal(take('c', 999_999).allowed, false);
  assert.equal(take('c', 1_000_000).allowed, true);
  clock.ms = 1_999_999;
  assert.equal(limiter.allow('c'), false);
});
