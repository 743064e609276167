// Memory: it grows under whatever was handed out, it is given back, and when there is no more of it nobody notices but
// the clients for whom there is no room.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PolicyError, TierLimiter } from 'tierlimit';
import { withModule } from 'tierlimit/slim';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { byMain, clocked, only, seed, thrown } from './support/limiter.js';
import { coreBytes, coreWithin, watchMemories } from './support/memory.js';

const memories = watchMemories();

/** Bytes of the memory that the limiters of this package share. */
const shared = () => memories[0].buffer.byteLength;

/** A class over a module of its own, whose memory has room for little, and the bytes of that memory. */
function alone() {
  const { TierLimiter: Limiter } = withModule(coreBytes());
  const memory = memories.at(-1);
  return { Limiter, bytes: () => memory.buffer.byteLength };
}

/** Calls with 0, 1, 2, … until memory has grown this often; returns how often it was called. */
function untilGrown(times, call) {
  let grown = 0;
  for (let i = 0; i < 1e7; i += 1) {
    const before = shared();
    call(i);
    if (shared() > before) grown += 1;
    if (grown === times) return i + 1;
  }
  throw new Error('memory does not grow');
}

test('case 25: decisions are right when memory grows beneath them, and what was handed out stays', () => {
  const policies = {
    ...only(3, 1),
    tiers: { tür: { capacity: 5, refillPerSecond: 1 }, broken: {} },
    clients: { lost: 'nowhere' },
  };
  const { limiter, clock, take } = clocked(policies, { maxClients: 2 ** 22, maxBytes: 2 ** 28 });
  const other = clocked(only(2, 0));
  assert.equal(other.take('mine', 7).remaining, 1);

  const decision = take('seen', 1000, 2, 'tür');
  const stats = limiter.stats();
  const { rejected } = limiter;
  const handedOut = { decision, stats, rejected };
  const copy = structuredClone(handedOut);

  const expected = [
    {
      allowed: true,
      limit: 3,
      remaining: 2,
      retryAfterMs: 0,
      resetMs: 1000,
      windowMs: 3000,
      moreAfterMs: 1000,
      tier: null,
    },
    {
      allowed: true,
      limit: 5,
      remaining: 4,
      retryAfterMs: 0,
      resetMs: 1000,
      windowMs: 5000,
      moreAfterMs: 1000,
      tier: 'tür',
    },
  ].map((part, i) => byMain({ ...part, reason: 'ok', fallback: i === 0 ? 'no-tier' : null }));
  const clients = untilGrown(2, (i) => {
    const tier = i % 2 === 1 ? 'tür' : undefined;
    assert.deepEqual(take(`client ${i}`, 1000, 1, tier), expected[i % 2]);
  });

  assert.deepEqual(handedOut, copy);
  assert.equal(take('seen', 1000, 1, 'tür').remaining, 2);
  assert.equal(take('client 0', 1000).remaining, 1);
  const last = clients % 2 === 0 ? clients - 1 : clients - 2;
  assert.equal(take(`client ${last}`, 1000, 1, 'tür').remaining, 3);
  assert.equal(limiter.stats().buckets, clients + 1);

  // Limiters share the memory, so growth comes from elsewhere too.
  assert.equal(other.take('mine', 7).remaining, 0);
  assert.throws(() => other.take('mine', 6), { nowMs: 6, touchedMs: 7 });
  assert.equal(limiter.peek('seen', { tier: 'tür' }).remaining, 2);
  clock.ms = 999;
  assert.throws(() => limiter.allow('seen'), { nowMs: 999, touchedMs: 1000 });
  limiter.dispose();
  other.limiter.dispose();
});

test('case 25: allow, peek, a clock error and the tier of a call are right after growth', () => {
  const { limiter, clock } = clocked(only(2, 1), { maxClients: 2 ** 22, maxBytes: 2 ** 28 });
  const { limiter: tiered } = clocked({
    ...only(1, 0),
    tiers: { a: { capacity: 4, refillPerSecond: 0 } },
  });
  limiter.allow('c');
  untilGrown(1, (i) => assert.equal(limiter.allow(`${i}`), true));
  assert.deepEqual([limiter.peek('c').remaining, limiter.peek('d').remaining], [1, 2]);
  let name = 'x';
  untilGrown(1, () => {
    name += name;
    assert.equal(tiered.check('c', { tier: name }).fallback, 'unknown-tier');
  });
  assert.equal(tiered.peek('c', { tier: 'a' }).limit, 4);
  name += name;
  untilGrown(1, () => {
    name += name;
    limiter.setTier(name, 'somewhere');
  });
  assert.equal(limiter.peek(name).tier, 'somewhere');
  untilGrown(1, () => {
    name += name;
    clock.ms = -1;
    assert.throws(() => limiter.allow('c', 1, name), { touchedMs: 0 });
  });
  limiter.dispose();
  tiered.dispose();
});

test('case 25: handles and batches are right when memory grows beneath them, and in the midst of them', () => {
  const { Limiter, bytes } = alone();
  const options = { maxClients: 2 ** 20, maxBytes: 2 ** 27 };
  const { limiter } = clocked(
    { ...only(3, 1), tiers: { tür: { capacity: 5, refillPerSecond: 1 } } },
    options,
    Limiter,
  );
  const handle = limiter.client('held', 'tür');
  const decision = handle.check();
  const few = limiter.allowMany(['held', 'a', 'a', 'a', 'a'], 1, 'tür');
  assert.equal(handle.allow(2), true);
  const copy = structuredClone({ decision, few });
  assert.deepEqual(few, [true, true, true, true, true]);

  // Names of all kinds: those that go through registers and those that go through a buffer.
  const names = Array.from({ length: 60_000 }, (_, i) =>
    i % 3 === 0 ? `name ${i}` : i % 3 === 1 ? `größer ${i}` : `${i}`.padStart(300, 'long '),
  );
  let before = bytes();
  const admitted = limiter.allowMany(names, 3);
  assert.ok(bytes() > before);
  assert.equal(admitted.length, names.length);
  assert.ok(admitted.every((each) => each === true));
  assert.deepEqual({ decision, few }, copy);
  assert.deepEqual([handle.allow(), handle.allow()], [true, false]);
  assert.equal(limiter.stats().buckets, names.length + 2);

  before = bytes();
  for (let i = 0; bytes() === before; i += 1) {
    const other = limiter.client(`other ${i}`);
    assert.deepEqual([other.check().remaining, other.allow(2), other.allow()], [2, true, false]);
  }
  const again = limiter.allowMany([...names, 'fresh']);
  assert.equal(again.pop(), true);
  assert.ok(again.every((each) => each === false));
  assert.equal(handle.peek().remaining, 0);
  limiter.dispose();
});

test('case 26: ten thousand failures leave memory as it was', () => {
  const { Limiter, bytes } = alone();
  const { limiter, clock, take } = clocked(only(3, 1), {}, Limiter);
  const { limiter: strict } = clocked(only(3, 1), { strict: true }, Limiter);
  take('c', 1000);
  const documents = [
    '',
    '{"default":{"capacity":3,"refillPerSecond":1},}',
    '['.repeat(1000),
    '{"default":{"capacity":3,"capacity":3}}',
    JSON.stringify({ default: { capacity: 0.1, refillPerSecond: -1, more: ['x'.repeat(5000)] } }),
    JSON.stringify({ ...only(3, 1), [`${'~/'.repeat(500)}`]: 1 }),
    JSON.stringify({ ...only(3, 1), clients: { a: 'b', c: 5 } }),
    JSON.stringify(only(9e18, 1e-300)),
    '{"default":{"capacity":1e400,"refillPerSecond":1}}',
    '{"default":{"capacity":3,"refillPerSecond":1,"\\ud800":1}}',
  ];
  const failures = [
    ...documents.map((text) => () => limiter.setPolicies(text)),
    ...documents.map((policies) => () => new Limiter({ policies, seed })),
    () => strict.setPolicies({ ...only(3, 1), tiers: { a: {} } }),
    () => limiter.allow('c'),
    () => limiter.check('c', { tier: 'unknown' }),
    () => limiter.peek('c'),
    () => limiter.check('d', { cost: 0.5 }),
    () => limiter.setTier('d', 5),
    () => limiter.setPolicies(5n),
  ];
  clock.ms = 999;
  const round = () => {
    for (const failure of failures) assert.ok(thrown(failure) instanceof Error);
  };
  for (let i = 0; i < 20; i += 1) round();
  const [before, stats] = [bytes(), limiter.stats()];
  for (let i = 0; i < 10_000 / failures.length; i += 1) round();
  assert.equal(bytes(), before);
  assert.deepEqual(limiter.stats(), stats);
  assert.equal(take('c', 1000).remaining, 1);
});

test('case 33: a hundred thousand limiters, each disposed of, leave memory as it was', () => {
  const { Limiter, bytes } = alone();
  const policies = JSON.stringify({
    ...only(3, 1),
    tiers: { a: { capacity: 4, refillPerSecond: 1 } },
    clients: { c: 'a' },
  });
  const options = { policies, seed, now: () => 0 };
  const one = () => {
    const limiter = new Limiter(options);
    assert.equal(limiter.allow('c', 4), true);
    assert.equal(limiter.allow('c'), false);
    limiter.setTier('d', 'b');
    limiter.dispose();
  };
  for (let i = 0; i < 100; i += 1) one();
  const before = bytes();
  for (let i = 0; i < 100_000; i += 1) one();
  assert.equal(bytes(), before);
});

test('case 33: reloading documents and moving clients leaves memory as it was', () => {
  const { Limiter, bytes } = alone();
  const { limiter, take } = clocked(only(3, 1), { maxClients: 100 }, Limiter);
  const round = (i) => {
    const tiers = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `t${i}.${n}`,
        { capacity: n + 1 + (i % 7), refillPerSecond: i },
      ]),
    );
    limiter.setPolicies({ ...only(3, 1), tiers, clients: { [`c${i}`]: `t${i}.1` } });
    for (let n = 0; n < 20; n += 1) {
      take(`c${i}.${n}`, i, 1, `t${i}.${n}`);
      limiter.setTier(`c${n}`, `elsewhere ${i}`);
    }
  };
  for (let i = 0; i < 100; i += 1) round(i);
  const before = bytes();
  for (let i = 100; i < 1000; i += 1) round(i);
  assert.equal(bytes(), before);
  assert.equal(limiter.stats().assignments, 20);
  limiter.dispose();
});

test('case 33: a disposed limiter says so, whatever is asked of it, and disposing of it again does nothing', () => {
  const { limiter } = clocked(only(3, 1));
  const { limiter: survivor, take } = clocked(only(3, 1));
  take('c', 0);
  limiter.allow('c');
  const decision = limiter.check('c');
  assert.equal(limiter.dispose(), undefined);
  const uses = {
    allow: () => limiter.allow('c'),
    check: () => limiter.check('c'),
    peek: () => limiter.peek('c'),
    setPolicies: () => limiter.setPolicies(only(3, 1)),
    setTier: () => limiter.setTier('c', 'pro'),
    stats: () => limiter.stats(),
    revision: () => limiter.revision,
    rejected: () => limiter.rejected,
    warnings: () => limiter.warnings,
  };
  for (const use of Object.values(uses)) {
    assert.throws(use, { name: 'Error', message: 'the TierLimiter is disposed' });
  }
  for (let i = 0; i < 3; i += 1) limiter.dispose();
  assert.equal(decision.remaining, 1);
  assert.equal(survivor.peek('c').remaining, 2);
});

test('Symbol.dispose disposes', () => {
  assert.equal(typeof Symbol.dispose, 'symbol');
  const { limiter } = clocked(only(3, 1));
  limiter[Symbol.dispose]();
  assert.throws(() => limiter.allow('c'), /disposed/);
});

test('case 33: a method that is pulled off its limiter says so', () => {
  const { limiter } = clocked(only(3, 1));
  const getter = (name) =>
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(TierLimiter.prototype), name).get;
  for (const receiver of [
    undefined,
    null,
    {},
    5,
    TierLimiter,
    TierLimiter.prototype,
    Object.create(limiter),
  ]) {
    for (const name of ['allow', 'check', 'peek', 'setPolicies', 'setTier', 'stats', 'dispose']) {
      assert.throws(
        () => limiter[name].call(receiver, name === 'setPolicies' ? only(3, 1) : 'c', null),
        {
          name: 'TypeError',
          message: /^this must be a TierLimiter; got /,
        },
      );
    }
    for (const name of ['revision', 'rejected', 'warnings']) {
      assert.throws(() => getter(name).call(receiver), {
        name: 'TypeError',
        message: /^this must be a TierLimiter; got /,
      });
    }
  }
});

test('where there is no room the bucket goes that would be full soonest: a flood resets no drained client', () => {
  const { limiter, take } = clocked(only(10, 1), { maxClients: 64 });
  const drained = ['a', 'b', 'c', 'd', 'e'];
  for (const client of drained) take(client, 0, 10);
  for (let i = 0; i < 20_000; i += 1) {
    assert.equal(take(`flood ${i}`, 0).allowed, true);
    if (i % 1000 === 0)
      for (const client of drained) assert.equal(limiter.peek(client).allowed, false);
  }
  const { buckets, evictions, evictedTokens, swept, tableFull } = limiter.stats();
  assert.deepEqual(
    [buckets, evictions, evictedTokens, swept, tableFull],
    [64, 19_941, 19_941, 0, 0],
  );
  for (const client of drained) assert.equal(take(client, 999).allowed, false);
  for (const client of drained) assert.equal(take(client, 1000).allowed, true);
});

test('onFull: deny refuses new clients, and who is known goes on', () => {
  const { limiter, take } = clocked(only(4, 1), { maxClients: 8, onFull: 'deny' });
  for (let i = 0; i < 8; i += 1) take(`c${i}`, 0, 1 + (i % 4));
  const refused = byMain({
    allowed: false,
    limit: 4,
    remaining: 4,
    retryAfterMs: 1000,
    resetMs: 0,
    windowMs: 4000,
    moreAfterMs: 1000,
    tier: null,
    reason: 'table-full',
    fallback: 'no-tier',
  });
  assert.deepEqual(limiter.peek('new'), refused);
  assert.deepEqual(take('new', 0), refused);
  assert.equal(limiter.allow('new'), false);
  assert.equal(take('c0', 0).remaining, 2);
  const { buckets, allowed, denied, tableFull, evictions } = limiter.stats();
  assert.deepEqual([buckets, allowed, denied, tableFull, evictions], [8, 9, 2, 2, 0]);
  // c4, which has spent one token, is full first.
  assert.equal(take('new', 999.999).retryAfterMs, 0.001);
  assert.equal(take('new', 1000).remaining, 3);
  assert.equal(limiter.stats().buckets, 8);
});

test('onFull: deny, without sweeping: who was refused will be refused', () => {
  const { take } = clocked(only(4, 1), { maxClients: 8, onFull: 'deny', sweep: false });
  for (let i = 0; i < 8; i += 1) take(`c${i}`, 0);
  const { reason, retryAfterMs } = take('new', 0);
  assert.deepEqual([reason, retryAfterMs], ['table-full', null]);
  assert.equal(take('new', 1e9).reason, 'table-full');
  assert.equal(take('c0', 1e9).remaining, 3);
});

test('obeying the answer of a full table works', () => {
  const random = new Random(6);
  for (let round = 0; round < 300; round += 1) {
    const policies = {
      ...only(random.whole(1, 5), random.pick([0.1, 1, 3])),
      tiers: { pro: { capacity: random.whole(1, 50), refillPerSecond: random.pick([0, 0.3, 7]) } },
    };
    const maxClients = random.whole(8, 40);
    const { limiter, clock, take } = clocked(policies, { maxClients, onFull: 'deny' });
    for (let i = 0; limiter.stats().buckets < maxClients && i < 500; i += 1) {
      take(
        `c${i}`,
        clock.ms + random.whole(0, 50),
        random.whole(1, 5),
        random.pick([undefined, 'pro']),
      );
    }
    const tier = random.pick([undefined, 'pro']);
    const { reason, retryAfterMs } = take('new', clock.ms, 1, tier);
    if (reason !== 'table-full' || retryAfterMs === null) continue;
    assert.ok(retryAfterMs > 0);
    const at = clock.ms;
    clock.ms = at + retryAfterMs - 0.001;
    assert.equal(limiter.peek('new', { tier }).reason, 'table-full');
    assert.equal(take('new', at + retryAfterMs, 1, tier).allowed, true);
    limiter.dispose();
  }
});

test('maxBytes bounds the table as maxClients does', () => {
  for (const maxBytes of [1024, 5000, 100_000]) {
    for (const onFull of ['evict', 'deny']) {
      const { limiter, take } = clocked(only(4, 1), { maxBytes, onFull });
      for (let i = 0; i < 5000; i += 1) {
        assert.equal(take(`c${i}`, 0).allowed || onFull === 'deny', true);
        assert.ok(limiter.stats().bytes <= maxBytes);
      }
      const { buckets, tableFull, evictions } = limiter.stats();
      assert.ok(buckets >= maxBytes / 32 / 4, `${buckets} in ${maxBytes} bytes`);
      assert.equal(tableFull + evictions, 5000 - buckets);
      limiter.dispose();
    }
  }
});

test('memory that cannot grow is a full table', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 20));
  for (const onFull of ['evict', 'deny']) {
    const { limiter, take } = clocked(only(10, 1), { onFull }, Limiter);
    take('drained', 0, 10);
    for (let i = 0; i < 20_000; i += 1) {
      const { allowed, reason } = take(`c${i}`, 0);
      if (!allowed) assert.deepEqual([onFull, reason], ['deny', 'table-full']);
    }
    const { buckets, evictions, tableFull } = limiter.stats();
    assert.ok(buckets > 5000 && buckets < 30_000, `${buckets}`);
    assert.equal(evictions + tableFull, 20_001 - buckets);
    assert.equal(take('drained', 999).allowed, false);
    assert.equal(take('drained', 1000).allowed, true);
    limiter.dispose();
  }
});

test('memory that another gives back is used again', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 21));
  for (const onFull of ['evict', 'deny']) {
    const { limiter, take } = clocked(only(10, 1), { onFull }, Limiter);
    const { limiter: other } = clocked(only(10, 1), { onFull: 'deny' }, Limiter);
    take('drained', 0, 10);
    let next = 0;
    while (next < 5000) assert.equal(take(`c${next++}`, 0).allowed, true);
    for (let i = 0; other.stats().tableFull < 2000; i += 1) other.allow(`other ${i}`);

    // The table is full, though neither maxClients nor maxBytes is reached: its own memory is not enough for more.
    const turnedAway = () => {
      const { evictions, tableFull } = limiter.stats();
      return evictions + tableFull;
    };
    for (let i = 0; i < 20_000; i += 1) {
      const { allowed, reason } = take(`c${next++}`, 0);
      if (!allowed) assert.deepEqual([onFull, reason], ['deny', 'table-full']);
    }
    assert.ok(turnedAway() > 5000, `${turnedAway()}`);
    const full = limiter.stats();
    assert.equal(full.buckets, full.allowed - full.evictions);

    other.dispose();
    // Failing to get memory takes long, so there is not another try for each.
    let before = turnedAway();
    while (limiter.stats().bytes === full.bytes) {
      take(`c${next++}`, 0);
      assert.ok(turnedAway() - before <= 1024);
    }
    before = turnedAway();
    for (let i = 0; i < 5000; i += 1) assert.equal(take(`c${next++}`, 0).allowed, true);
    assert.equal(turnedAway(), before);
    assert.equal(take('drained', 999).allowed, false);
    limiter.dispose();
  }
});

test('what does not fit the memory is refused, and the limiter goes on', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 21));
  const { limiter, take } = clocked(only(10, 1), {}, Limiter);
  assert.equal(take('c', 0).remaining, 9);

  const tiers = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [
      `tier ${i}`,
      { capacity: i + 1, refillPerSecond: 1 },
    ]),
  );
  const documents = [
    { ...only(10, 1), tiers },
    {
      ...only(10, 1),
      clients: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, 'a'])),
    },
    { ...only(10, 1), more: Array(200_000).fill(1) },
    JSON.stringify(only(10, 1)) + ' '.repeat(1e7),
    `{"default":{"capacity":10,"refillPerSecond":1},"a":"${'\\n'.repeat(200_000)}"}`,
  ];
  for (const policies of documents) {
    const error = thrown(() => limiter.setPolicies(policies));
    assert.ok(error instanceof PolicyError, `${error}`);
    assert.equal(error.code, 'out-of-memory');
    assert.ok(thrown(() => new Limiter({ policies })) instanceof PolicyError);
    assert.equal(limiter.peek('c').remaining, 9);
  }

  const long = 'x'.repeat(1e7);
  // The name of a client is read piece by piece.
  for (const left of [9, 8]) assert.equal(take(long, 0).remaining, left);
  for (const call of [
    () => limiter.check('c', { tier: long }),
    () => limiter.setTier(long, 'a'),
    () => limiter.setTier('a', long),
    () => limiter.setTier(long, null),
  ]) {
    assert.throws(call, { name: 'RangeError', message: /1000000[01] code units/ });
  }
  const full = thrown(() => {
    for (let i = 0; i < 1e6; i += 1) limiter.setTier(`client ${i}`, `tier ${i}`);
  });
  assert.ok(full instanceof RangeError, `${full}`);
  const { assignments } = limiter.stats();
  assert.ok(assignments > 1000);
  assert.equal(limiter.peek('client 0').tier, 'tier 0');
  assert.equal(take('c', 0).remaining, 8);
  limiter.dispose();
});

test('a document for which there is hardly memory is in force or refused, and nothing in between', () => {
  const bytes = 2 ** 22;
  const module = coreWithin(bytes);
  const tier = { capacity: 5, refillPerSecond: 0 };
  const named = (count, value) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, value(`${i}`)]));
  const first = { ...only(9, 0), tiers: named(700, () => tier) };
  for (const second of [
    { ...only(9, 0), clients: named(1500, (name) => `tier of ${name}`) },
    { ...only(9, 0), tiers: named(1500, () => null) },
  ]) {
    const seen = { accepted: 0, refused: 0 };
    for (let left = 2000; ; left -= 40) {
      const { TierLimiter: Limiter } = withModule(module);
      const { limiter, take } = clocked(first, {}, Limiter);
      take('c', 0, 1, '699');
      // Another limiter, which notes names down until its first decision, is to hold all memory but this.
      const eater = new Limiter({ policies: only(1, 0), now: () => 0 });
      try {
        for (let held = 0; held < bytes - left * 1024; held += 4096) {
          eater.setTier(`${held}`.padEnd(4000), 'a');
        }
      } catch (error) {
        assert.ok(error instanceof RangeError);
        break;
      }
      try {
        limiter.setPolicies(second);
        seen.accepted += 1;
        assert.deepEqual([limiter.revision, take('c', 0, 1, '700').tier], [2, '700']);
      } catch (error) {
        assert.equal(error.code, 'out-of-memory', error.stack);
        seen.refused += 1;
        assert.deepEqual([limiter.revision, take('c', 0, 1, '699').remaining], [1, 3]);
      }
      limiter.dispose();
    }
    assert.ok(seen.accepted > 0 && seen.refused > 10, JSON.stringify(seen));
  }
});

test('limiters for which there is no memory are refused, and those that there are go on', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 20));
  const limiters = [];
  const error = thrown(() => {
    for (let i = 0; i < 1e5; i += 1) {
      const { limiter } = clocked(only(2, 0), {}, Limiter);
      limiters.push(limiter);
      limiter.allow('c');
    }
  });
  assert.ok(error instanceof PolicyError, `${error}`);
  assert.equal(error.code, 'out-of-memory');
  assert.ok(limiters.length > 100, `${limiters.length}`);
  for (const limiter of limiters) assert.equal(limiter.check('c').remaining, 0);
  for (const limiter of limiters) limiter.dispose();
  assert.equal(clocked(only(2, 0), {}, Limiter).limiter.allow('c'), true);
});

test('a tier name out of a request that does not fit into memory is refused, and nothing is lost', () => {
  const { TierLimiter: Limiter } = withModule(coreWithin(2 ** 22));
  const { limiter } = clocked(only(2, 0), {}, Limiter);
  limiter.allow('c');
  const tier = 't'.repeat(1_000_000);
  for (const call of [
    () => limiter.allow('c', 1, tier),
    () => limiter.check('c', { tier }),
    () => limiter.client('c', tier).allow(),
  ]) {
    assert.throws(call, {
      name: 'RangeError',
      message: 'there is no memory for a text of 1000000 code units',
    });
  }
  assert.equal(limiter.check('c').remaining, 0);
});

test('no assignment is lost where memory is gone by the first decision', async () => {
  // Assignments find their places with the secret, for which another limiter of the module may have taken the memory.
  const { stdout, stderr } = await runScript(
    `
    import { TierLimiter } from 'tierlimit';
    const policies = { default: { capacity: 5, refillPerSecond: 1 } };
    const tiers = { pro: { capacity: 100, refillPerSecond: 1 } };
    const clients = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => ['d' + i, 'pro']));
    const limiter = new TierLimiter({ policies: { ...policies, tiers, clients }, now: () => 1 });
    for (let i = 0; i < 3000; i += 1) limiter.setTier('s' + i, 'pro');
    const others = [];
    try {
      for (;;) {
        const other = new TierLimiter({ policies, now: () => 1, onFull: 'deny' });
        others.push(other);
        for (let i = 0; other.check('x' + i).reason !== 'table-full'; i += 1);
      }
    } catch {}
    try {
      limiter.peek('d0');
      console.log('decided');
    } catch (error) {
      console.log(error.name, error.message);
    }
    for (const other of others) other.dispose();
    const tierOf = (client) => limiter.peek(client).tier;
    console.log(Object.keys(clients).every((client) => tierOf(client) === 'pro'));
    console.log(Array.from({ length: 3000 }, (_, i) => tierOf('s' + i)).every((tier) => tier === 'pro'));
    `,
    ['--wasm-max-mem-pages=30'],
  );
  assert.equal(stderr, '');
  assert.equal(
    stdout,
    'RangeError there is no memory for the clients assigned to tiers\ntrue\ntrue\n',
  );
});
