// A caller's stack may run over in the midst of a call of the module, which leaves its memory as it happened to be.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { createModule } from 'tierlimit/module';

import { byMain } from './support/limiter.js';

const policies = {
  default: { capacity: 3, refillPerSecond: 0 },
  tiers: { t: { capacity: 7.5, refillPerSecond: 0 } },
  clients: { acme: 't' },
};

/** Calls at every depth until the stack runs over. */
function overflow(call) {
  const deeper = () => {
    call();
    deeper();
  };
  try {
    deeper();
  } catch (error) {
    return error;
  }
}

/** A name that is taken in in two pieces. */
const long = '€'.repeat(1366);

/** That a limiter gives right answers, to names that it has not been asked about. */
function assertRight(limiter, round) {
  const { limit, remaining, tier } = limiter.peek('acme');
  assert.deepEqual([limit, remaining, tier], [7.5, 7, 't']);
  const { allowed } = limiter.stats();
  const fresh = `fresh ${round}`;
  assert.deepEqual(
    limiter.check(`${long}${fresh}`),
    byMain({
      allowed: true,
      limit: 3,
      remaining: 2,
      retryAfterMs: 0,
      resetMs: null,
      windowMs: null,
      moreAfterMs: null,
      tier: null,
      reason: 'ok',
      fallback: 'no-tier',
    }),
  );
  assert.equal(limiter.client(`${long}${fresh}`).check().remaining, 1);
  assert.equal(limiter.client(fresh).allow(3), true);
  const names = [fresh, `${fresh} too`, `${long}${fresh}`, `${long}${fresh}`];
  assert.deepEqual(limiter.allowMany(names), [false, true, true, false]);
  assert.equal(limiter.stats().allowed, allowed + 5);
}

for (const [name, call] of Object.entries({
  allow: (limiter) => limiter.allow('another'),
  'allow, of a long name': (limiter) => limiter.allow(long),
  check: (limiter) => limiter.check('another'),
  allowMany: (limiter) => limiter.allowMany(['another', 'and another', long]),
  'allow of a client': (limiter) => limiter.client('another').allow(),
  setPolicies: (limiter) => limiter.setPolicies(policies),
  setTier: (limiter) => limiter.setTier('another', 't'),
  stats: (limiter) => limiter.stats(),
})) {
  test(`a stack that runs over in ${name}: answers are right, or there are none`, () => {
    const make = () =>
      TierLimiter.forIsolate(`stack of ${name}`, {
        policies,
        now: () => 0,
        seed: new Uint8Array(16),
      });
    for (let i = 0; i < 16; i += 1) {
      const limiter = make();
      assert.ok(overflow(() => call(limiter)) instanceof Error);
      let whole = true;
      try {
        limiter.peek('acme');
      } catch (error) {
        whole = false;
        assert.match(error.message, /broke off in an earlier call/);
        assert.throws(() => limiter.allow('acme'), /broke off in an earlier call/);
        limiter.dispose();
      }
      // Another one has a module of its own to live in.
      assertRight(whole ? limiter : make(), i);
    }
  });
}

test('a module that broke off in a call says so, and nothing else', () => {
  const module = createModule();
  const limiter = new module.TierLimiter(JSON.stringify(policies));
  limiter.seed(1, 2, 3, 4);
  for (let i = 0; i < 100 && !module.broken; i += 1) {
    overflow(() => limiter.setPolicies(JSON.stringify(policies)));
  }
  assert.ok(module.broken instanceof RangeError);
  for (const call of [
    () => limiter.check('acme', 1, 0),
    () => new module.TierLimiter('{}'),
    () => module._tierlimit_answer(),
    () => module._tierlimit_allow(0, 1, 0, 0, 0, 0, 0, 0, -1, 1, 0),
    () => module._tierlimit_batch_end(),
  ]) {
    assert.throws(
      call,
      (error) => error.cause === module.broken && /broke off/.test(error.message),
    );
  }
  limiter.delete();
});
