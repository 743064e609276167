// Who has to go where there is no room, with windows and several limits.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clocked } from './support/limiter.js';

const window = (algorithm) => ({ default: { algorithm, limit: 100, windowSeconds: 60 } });

for (const algorithm of ['sliding-window', 'fixed-window']) {
  test(`a flood of new names does not give a spent ${algorithm} back`, () => {
    for (const maxClients of [8, 100, 1000]) {
      const { limiter, clock } = clocked(window(algorithm), { maxClients });
      assert.equal(limiter.allow('attacker', 100), true);
      for (let i = 0; i < 5000; i += 1) {
        clock.ms += 0.5;
        limiter.allow(`stranger ${i}`);
        if (i % 50 === 0) assert.equal(limiter.allow('attacker'), false, `${maxClients}, ${i}`);
      }
    }
  });
}

test('of several limits that are judged together the quick one is not given back either', () => {
  const limits = [
    { name: 'a', capacity: 10, refillPerSecond: 0.01 },
    { name: 'b', capacity: 20, refillPerSecond: 0.001 },
    { name: 'c', capacity: 5, refillPerSecond: 0.1 },
  ];
  const { limiter, clock } = clocked({ default: { limits } }, { maxClients: 300 });
  assert.equal(limiter.allow('victim', 5), true);
  for (let i = 0; i < 3000; i += 1) {
    clock.ms += 1;
    limiter.allow(`stranger ${i}`);
    if (i % 50 === 0) assert.equal(limiter.allow('victim', 2), false, `${i}`);
  }
});

test('a flood of plain names leaves room for the logs of sliding windows', () => {
  const policies = {
    default: { capacity: 5, refillPerSecond: 0.01 },
    tiers: { pro: { algorithm: 'sliding-window', limit: 100, windowSeconds: 60 } },
  };
  const { limiter } = clocked(policies, { maxBytes: 2 ** 18 });
  for (let i = 0; i < 20_000; i += 1) limiter.allow(`stranger ${i}`);
  for (let i = 0; i < 200; i += 1) {
    const tier = 'pro';
    assert.equal(limiter.peek(`client ${i}`, { tier }).allowed, true, `${i}`);
    assert.equal(limiter.check(`client ${i}`, { tier }).allowed, true, `${i}`);
  }
  assert.ok(limiter.stats().bytes <= 2 ** 18);
});

test('who grows a log does so at the expense of nobody who has spent more', () => {
  const policies = { default: { algorithm: 'sliding-window', limit: 10_000, windowSeconds: 60 } };
  const { limiter, clock } = clocked(policies, { maxBytes: 2 ** 18 });
  for (let i = 0; i < 500; i += 1) limiter.allow(`victim ${i}`, 10_000);
  for (let i = 0; i < 20_000; i += 1) {
    clock.ms += 0.1;
    limiter.allow(`growing ${i % 4}`);
  }
  for (let i = 0; i < 500; i += 1) assert.equal(limiter.peek(`victim ${i}`).remaining, 0, `${i}`);
});

test('deny: the wait is until there is room for all limits of a client', () => {
  const limits = [
    { name: 'a', capacity: 1, refillPerSecond: 1 },
    { name: 'b', capacity: 1, refillPerSecond: 0.5 },
    { name: 'c', capacity: 1, refillPerSecond: 0.25 },
  ];
  const { limiter, clock } = clocked({ default: { limits } }, { maxClients: 9, onFull: 'deny' });
  for (const [client, ms] of [
    ['x', 0],
    ['y', 100],
    ['z', 200],
  ]) {
    clock.ms = ms;
    assert.equal(limiter.allow(client), true);
  }
  const denied = limiter.check('w');
  assert.equal(denied.reason, 'table-full');
  clock.ms += denied.retryAfterMs - 0.001;
  assert.equal(limiter.peek('w').allowed, false);
  clock.ms += 0.001;
  assert.equal(limiter.peek('w').allowed, true);
  assert.equal(limiter.allow('w'), true);
});

test('table-full also where others may be evicted: a log that finds no memory, of a client that is known', () => {
  const policies = { default: { algorithm: 'sliding-window', limit: 10_000, windowSeconds: 60 } };
  const use = ({ limiter, clock }, client, most) => {
    for (let used = 0; used < most; used += 1) {
      clock.ms += 0.001;
      const { allowed, reason, remaining } = limiter.check(client);
      if (!allowed) return { used, reason, remaining };
    }
    return { used: most };
  };
  for (const onFull of ['evict', 'deny']) {
    // Nobody else has a log. With room for the one that it has and the longer one it goes on.
    const alone = use(clocked(policies, { onFull, maxBytes: 2 ** 16 }), 'alone', 10_000);
    assert.deepEqual(alone, { used: 4096, reason: 'table-full', remaining: 5904 }, onFull);
    assert.deepEqual(use(clocked(policies, { onFull, maxBytes: 147_000 }), 'alone', 10_000), {
      used: 10_000,
    });
  }
  // Somebody else has, who has spent more, by more at a time.
  const here = clocked(policies, { maxBytes: 2 ** 14 });
  assert.equal(here.limiter.allow('spender', 9000), true);
  const { used, reason } = use(here, 'known', 10_000);
  assert.deepEqual([used < 2000, reason], [true, 'table-full']);
  assert.equal(here.limiter.peek('spender').remaining, 1000);
  assert.equal(here.limiter.stats().evictions, 0);
});
