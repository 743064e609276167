// A caller's stack may run over in the midst of a call of the module, which leaves its memory as it happened to be.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { createModule } from 'tierlimit/module';

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

for (const [name, call] of Object.entries({
  check: (limiter) => limiter.check('another'),
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
      let decision;
      try {
        decision = limiter.peek('acme');
      } catch (error) {
        assert.match(error.message, /broke off in an earlier call/);
        assert.throws(() => limiter.allow('acme'), /broke off in an earlier call/);
        limiter.dispose();
        // Another one has a module of its own to live in.
        decision = make().peek('acme');
      }
      assert.deepEqual([decision.limit, decision.remaining, decision.tier], [7.5, 7, 't']);
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
    () => module._tierlimit_key(1),
  ]) {
    assert.throws(
      call,
      (error) => error.cause === module.broken && /broke off/.test(error.message),
    );
  }
  limiter.delete();
});
