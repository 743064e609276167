// Limiters as bytes and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PolicyError, TierLimiter } from 'tierlimit';
import { clocked, only, thrown } from './support/limiter.js';

const bucket = (name, capacity, refillPerSecond, more) => ({
  name,
  capacity,
  refillPerSecond,
  ...more,
});
const policies = {
  default: { capacity: 5, refillPerSecond: 1 },
  tiers: {
    pro: {
      limits: [
        bucket('main', 10, 0.5, { accrual: 'prorated' }),
        { name: 'minute', algorithm: 'sliding-window', limit: 20, windowSeconds: 60 },
        { name: 'hour', algorithm: 'fixed-window', limit: 30, windowSeconds: 3600 },
      ],
    },
    broken: { capacity: 0, refillPerSecond: 1 },
  },
  clients: { acme: 'pro' },
};

/** A limiter with a past, stopped at 20 s. */
function used() {
  const { limiter, clock } = clocked(policies);
  clock.ms = 1000;
  limiter.allow('acme', 7);
  limiter.allow('initech', 5);
  limiter.setTier('globex', 'pro');
  clock.ms = 11_000;
  limiter.allow('acme', 2);
  limiter.allow('globex', 9);
  limiter.setPolicies({ ...policies, default: { capacity: 8, refillPerSecond: 0.1 } });
  clock.ms = 20_000;
  return { limiter, clock };
}

test('a restored limiter goes on at another clock as the one would have gone on', () => {
  for (const restoredMs of [0, 20_000, 5e8, -7e9]) {
    const { limiter, clock } = used();
    const bytes = limiter.snapshot();
    const other = { ms: restoredMs };
    const restored = TierLimiter.restore(bytes, { now: () => other.ms });
    assert.equal(restored.revision, 2);
    assert.equal(restored.stats().buckets, limiter.stats().buckets);
    assert.equal(restored.stats().assignments, 1);
    assert.equal(restored.stats().allowed, 0);
    for (const laterMs of [0, 1, 500, 1500, 40_000, 41_001, 60_000, 4e6]) {
      clock.ms = 20_000 + laterMs;
      other.ms = restoredMs + laterMs;
      for (const client of ['acme', 'globex', 'initech', 'new']) {
        assert.deepEqual(restored.check(client), limiter.check(client), `${client} ${laterMs}`);
      }
    }
  }
});

test('time between a snapshot and its restoring accrues nothing', () => {
  const { limiter, clock } = clocked(only(5, 1));
  clock.ms = 3_600_000;
  limiter.allow('drained', 5);
  const bytes = limiter.snapshot();
  const restored = TierLimiter.restore(bytes, { now: () => 9e9 });
  assert.equal(restored.allow('drained'), false);
  assert.equal(restored.peek('drained').resetMs, 5000);
  assert.equal(TierLimiter.restore(bytes, { now: () => 0 }).allow('drained'), false);
});

test('what is rejected is told again, without places in a text', () => {
  const { limiter } = used();
  const restored = TierLimiter.restore(limiter.snapshot(), { now: () => 0 });
  const told = ({ path, code, message }) => ({ path, code, message });
  assert.deepEqual(restored.rejected.map(told), limiter.rejected.map(told));
  assert.deepEqual(
    restored.rejected.map(({ line, column }) => [line, column]),
    [[null, null]],
  );
});

test('options are those of the restored one; what was accepted stays so under strict', () => {
  const { limiter } = used();
  const bytes = limiter.snapshot();
  const restored = TierLimiter.restore(bytes, { now: () => 0, strict: true, maxClients: 100 });
  assert.equal(restored.stats().maxClients, 100);
  assert.throws(() => restored.setPolicies(policies), PolicyError);
  assert.equal(restored.revision, 2);
});

test('a raise that setTier promised is still to come, once', () => {
  const { limiter, clock } = clocked({
    default: { capacity: 5, refillPerSecond: 0 },
    tiers: { pro: { capacity: 50, refillPerSecond: 0 } },
  });
  limiter.allow('acme', 5);
  limiter.setTier('acme', 'pro', { onRaise: 'fill' });
  const restored = TierLimiter.restore(limiter.snapshot(), { now: () => clock.ms });
  assert.equal(restored.check('acme', { cost: 10 }).remaining, 40);
  assert.equal(restored.check('acme', { cost: 40 }).remaining, 0);
  assert.equal(restored.allow('acme'), false);
});

test('reservations stay spent, and a candidate is not in it', () => {
  const { limiter } = clocked(only(10, 0));
  limiter.setShadowPolicies(only(5, 0));
  const reservation = limiter.reserve('acme', { cost: 6 });
  const restored = TierLimiter.restore(limiter.snapshot(), { now: () => 0 });
  reservation.cancel();
  assert.equal(limiter.peek('acme').remaining, 10);
  assert.equal(restored.peek('acme').remaining, 4);
  assert.deepEqual(restored.shadowStats(), []);
  assert.match(thrown(() => restored.promoteShadow()).message, /no shadow policies/);
});

test('bytes that are truncated, altered, of another format or order are refused with the reason', () => {
  const { limiter } = used();
  const bytes = limiter.snapshot();
  const reason = (wrong) => thrown(() => TierLimiter.restore(wrong));
  for (const length of [0, 1, 23, 24, 100, bytes.length - 1]) {
    const error = reason(bytes.slice(0, length));
    assert.ok(error instanceof RangeError);
    assert.match(
      error.message,
      new RegExp(`^bytes must be a snapshot; this Uint8Array of ${length} bytes `),
    );
  }
  for (let at = 24; at < bytes.length; at += 7) {
    const altered = Uint8Array.from(bytes);
    altered[at] ^= 1;
    assert.match(reason(altered).message, /is not as it was written$/);
  }
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  assert.match(reason(longer).message, /has not as many bytes as were written$/);
  const newer = Uint8Array.from(bytes);
  newer[4] = 3;
  assert.match(reason(newer).message, /is of a format that this version does not read$/);
  const turned = Uint8Array.from(bytes);
  turned.subarray(0, 4).reverse();
  assert.match(reason(turned).message, /was written by a machine with the other order of bytes$/);
  // Nothing is left behind: the same bytes in order are restored.
  assert.equal(TierLimiter.restore(bytes, { now: () => 0 }).revision, 2);
});

test('more buckets than there may be are refused', () => {
  const { limiter } = clocked(only(5, 1));
  for (let i = 0; i < 100; i += 1) limiter.allow(`client ${i}`);
  const bytes = limiter.snapshot();
  const full = thrown(() => TierLimiter.restore(bytes, { maxClients: 99 }));
  assert.match(full.message, /holds more than there is room for$/);
  assert.equal(TierLimiter.restore(bytes, { maxClients: 100 }).stats().buckets, 100);
});

test('arguments are checked', () => {
  for (const wrong of [undefined, null, 'bytes', [1], new ArrayBuffer(8), {}]) {
    assert.match(
      thrown(() => TierLimiter.restore(wrong)).message,
      /^bytes must be a Uint8Array; got /,
    );
  }
  const bytes = used().limiter.snapshot();
  for (const name of ['policies', 'seed', 'nwo']) {
    const error = thrown(() => TierLimiter.restore(bytes, { [name]: undefined }));
    assert.match(error.message, new RegExp(`there is no option "${name}"`));
  }
  assert.throws(() => TierLimiter.restore(bytes, { maxClients: 1 }), RangeError);
  assert.throws(() => TierLimiter.restore(bytes, { now: () => NaN }), RangeError);
});

test('a snapshot of a limiter that has decided nothing; and of a disposed one there is none', () => {
  const { limiter } = clocked(policies, { seed: undefined });
  limiter.setTier('globex', 'pro');
  const restored = TierLimiter.restore(limiter.snapshot(), { now: () => 0 });
  assert.equal(restored.peek('globex').tier, 'pro');
  assert.equal(restored.peek('acme').tier, 'pro');
  limiter.dispose();
  assert.match(thrown(() => limiter.snapshot()).message, /disposed/);
});
