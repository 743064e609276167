// The plain exports and their buffers, as bindings/README.md documents them: without embind for a decision, without the
// wrapper at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createModule } from 'tierlimit/module';

import { Random } from '../model/random.js';
import { clocked, only } from './support/limiter.js';

const module = createModule();
const encoder = new TextEncoder();

const asAssigned = -1;
const unknownTier = -2;
const reasons = ['ok', 'exhausted', 'cost-exceeds-capacity', 'never-refills', 'table-full'];
const fallbacks = [null, 'no-tier', 'unknown-tier', 'invalid-tier-policy'];

function made(policies, seeded = true, sweep = true) {
  const limiter = new module.TierLimiter(JSON.stringify(policies), 1000, 1e6, false, false, sweep);
  if (seeded) limiter.seed(1, 2, 3, 4);
  return limiter;
}

/** Puts bytes into the key buffer, at the address that it has then. */
function put(bytes) {
  const address = module._tierlimit_key(bytes.length) >>> 0;
  assert.notEqual(address, 0);
  module.HEAPU8.set(bytes, address);
  return bytes.length;
}

const key = (name) => put(encoder.encode(name));

/** The fields of the result buffer. */
function answer() {
  const view = new DataView(module.HEAPU8.buffer, module._tierlimit_answer() >>> 0);
  return {
    limit: view.getFloat64(0, true),
    remaining: view.getFloat64(8, true),
    retryMs: view.getFloat64(16, true),
    resetMs: view.getFloat64(24, true),
    touchedMs: view.getFloat64(32, true),
    reason: reasons[view.getInt32(40, true)],
    fallback: fallbacks[view.getInt32(44, true)],
    tier: view.getInt32(48, true),
  };
}

test('allow tells admitted from denied', () => {
  const limiter = made(only(2, 1));
  const handle = limiter.handle();
  const allow = (cost, nowMs) => module._tierlimit_allow(handle, key('c'), asAssigned, cost, nowMs);
  assert.deepEqual([allow(1, 0), allow(1, 0), allow(1, 0), allow(1, 1000)], [1, 1, 0, 1]);
  assert.equal(allow(3, 1e6), 0);
  limiter.delete();
});

test('check and peek leave the answer in the buffer', () => {
  const limiter = made({ ...only(2.5, 0.5), tiers: { pro: { capacity: 4, refillPerSecond: 0 } } });
  const handle = limiter.handle();
  assert.equal(module._tierlimit_check(handle, key('c'), asAssigned, 2, 0), 1);
  const { touchedMs, ...admitted } = answer();
  assert.equal(typeof touchedMs, 'number');
  assert.deepEqual(admitted, {
    limit: 2.5,
    remaining: 0,
    retryMs: 0,
    resetMs: 4000,
    reason: 'ok',
    fallback: 'no-tier',
    tier: -1,
  });
  assert.equal(module._tierlimit_peek(handle, key('c'), asAssigned, 1, 500), 0);
  assert.deepEqual([answer().remaining, answer().retryMs, answer().reason], [0, 500, 'exhausted']);
  assert.equal(module._tierlimit_peek(handle, key('new'), asAssigned, 2, 500), 1);
  assert.deepEqual([answer().remaining, answer().retryMs, answer().resetMs], [2, 0, 0]);

  const pro = module._tierlimit_tier(handle, key('pro'));
  assert.ok(pro >= 0);
  assert.equal(limiter.tierName(pro), 'pro');
  assert.equal(module._tierlimit_check(handle, key('d'), pro, 4, 0), 1);
  assert.deepEqual([answer().limit, answer().tier, answer().fallback], [4, pro, null]);
  // -1 stands for never.
  assert.deepEqual([answer().retryMs, answer().resetMs], [0, -1]);
  assert.equal(module._tierlimit_check(handle, key('d'), pro, 1, 0), 0);
  assert.deepEqual(
    [answer().retryMs, answer().resetMs, answer().reason],
    [-1, -1, 'never-refills'],
  );
  assert.equal(module._tierlimit_check(handle, key('e'), unknownTier, 9, 0), 0);
  assert.deepEqual(
    [answer().reason, answer().fallback, answer().tier],
    ['cost-exceeds-capacity', 'unknown-tier', -1],
  );
  limiter.delete();
});

test('why there is no decision is a number below 0', () => {
  const limiter = made(only(2, 1));
  const handle = limiter.handle();
  module._tierlimit_check(handle, key('c'), asAssigned, 1, 1000.5);
  const unseeded = made(only(2, 1), false);
  const refused = new module.TierLimiter('{');
  refused.seed(1, 2, 3, 4);
  for (const ask of [module._tierlimit_allow, module._tierlimit_check, module._tierlimit_peek]) {
    const asked = (cost, nowMs, of = handle) => ask(of, key('c'), asAssigned, cost, nowMs);
    assert.equal(asked(1, 1000.499), -1);
    assert.equal(answer().touchedMs, 1000.5);
    for (const nowMs of [NaN, Infinity, 2 ** 53]) assert.equal(asked(1, nowMs), -2);
    for (const cost of [0, -1, 0.5, 1.5, NaN, 2 ** 53, Infinity])
      assert.equal(asked(cost, 1001), -3);
    assert.equal(asked(1, 0, unseeded.handle()), -4);
    assert.equal(asked(1, 0, refused.handle()), -5);
  }
  const { allowed, denied } = limiter.stats();
  assert.deepEqual([allowed, denied], [1, 0]);
  for (const it of [limiter, unseeded, refused]) it.delete();
});

test('the key buffer is as large as was asked for, and shared', () => {
  const [limiter, other] = [made(only(1, 0)), made(only(1, 0))];
  const first = module._tierlimit_key(16);
  assert.equal(module._tierlimit_key(8), first);
  const larger = module._tierlimit_key(1_000_000) >>> 0;
  assert.ok(larger + 1_000_000 <= module.HEAPU8.length);
  assert.equal(module._tierlimit_key(2 ** 32 - 1), 0);
  assert.equal(module._tierlimit_key(16) >>> 0, larger);

  // What is in it stays, whatever embind and other limiters do with strings of their own.
  const bytes = key('client');
  other.allow('another client', 1, 0);
  limiter.setTier('and another', 'tier');
  for (const { handle, expected } of [
    { handle: limiter.handle(), expected: [1, 0] },
    { handle: other.handle(), expected: [1, 0] },
  ]) {
    const ask = () => module._tierlimit_allow(handle, bytes, asAssigned, 1, 0);
    assert.deepEqual([ask(), ask()], expected);
  }
  limiter.delete();
  other.delete();
});

test('whether memory can be had', () => {
  assert.ok(module._tierlimit_memory(1000));
  assert.ok(!module._tierlimit_memory(2 ** 32 - 1));
  const { byteLength } = module.HEAPU8;
  assert.ok(module._tierlimit_memory(2 * byteLength));
  assert.ok(module.HEAPU8.byteLength > 2 * byteLength);
});

test('numbers of tiers are those of names, until the next document', () => {
  const tier = { capacity: 2, refillPerSecond: 0 };
  const limiter = made({ ...only(1, 0), tiers: { a: tier, b: tier, ü: tier, broken: {} } });
  const numberOf = (name) => module._tierlimit_tier(limiter.handle(), key(name));
  const names = ['a', 'b', 'ü', 'broken'];
  const numbers = names.map(numberOf);
  assert.equal(new Set(numbers).size, 4);
  assert.deepEqual(
    numbers.map((number) => limiter.tierName(number)),
    names,
  );
  limiter.setTier('c', 'elsewhere');
  for (const unknown of ['', 'A', 'elsewhere']) assert.equal(numberOf(unknown), unknownTier);
  // The client's own tier has a number though it is not in the document.
  module._tierlimit_peek(limiter.handle(), key('c'), asAssigned, 1, 0);
  assert.equal(answer().fallback, 'unknown-tier');
  assert.equal(limiter.tierName(answer().tier), 'elsewhere');
  module._tierlimit_peek(limiter.handle(), key('x'), numberOf('broken'), 1, 0);
  assert.deepEqual([answer().fallback, answer().tier], ['invalid-tier-policy', numbers[3]]);
  for (const none of [4_000_000_000, 1000, 2 ** 31]) assert.equal(limiter.tierName(none), null);
  limiter.delete();
});

test('embind, the wrapper and the exports are about the same clients', () => {
  const limiter = made(only(3, 0));
  const { limiter: wrapped } = clocked(only(3, 0));
  const names = {
    é: [0xc3, 0xa9],
    '😀': [0xf0, 0x9f, 0x98, 0x80],
    '\ud800': [0xed, 0xa0, 0x80],
    '': [],
  };
  for (const [name, bytes] of Object.entries(names)) {
    assert.equal(limiter.allow(name, 1, 0), true);
    assert.equal(module._tierlimit_allow(limiter.handle(), put(bytes), asAssigned, 1, 0), 1);
    assert.equal(limiter.peek(name, 1, 0).remaining, 1);
    assert.equal(wrapped.check(name).remaining, 2);
  }
  limiter.delete();
});

test('the exports and embind decide alike', () => {
  const random = new Random(8);
  const policies = { ...only(4, 1.5), tiers: { pro: { capacity: 7.5, refillPerSecond: 0.3 } } };
  const [first, second] = [made(policies, true, false), made(policies, true, false)];
  const pro = module._tierlimit_tier(first.handle(), key('pro'));
  let nowMs = 0;
  for (let i = 0; i < 2000; i += 1) {
    nowMs += random.whole(0, 900_000) / 1000;
    const client = `c${random.whole(0, 4)}`;
    const cost = random.whole(1, 9);
    const tier = random.pick([[], ['pro'], ['none']]);
    const number = { pro, none: unknownTier }[tier[0]] ?? asAssigned;
    const outcome = module._tierlimit_check(first.handle(), key(client), number, cost, nowMs);
    const { touchedMs, tier: named, retryMs, ...told } = answer();
    const expected = second.check(client, cost, nowMs, ...tier);
    assert.ok(touchedMs >= 0 && named >= -1);
    assert.deepEqual(
      { ...told, allowed: outcome === 1, retryAfterMs: retryMs < 0 ? null : retryMs },
      Object.fromEntries(
        ['allowed', 'limit', 'remaining', 'retryAfterMs', 'resetMs', 'reason', 'fallback'].map(
          (name) => [name, expected[name]],
        ),
      ),
    );
  }
  first.delete();
  second.delete();
});
