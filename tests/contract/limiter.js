/**
 * What a limiter does in every runtime. This file imports nothing and uses nothing but the language, so that it runs
 * wherever the package does: it is copied beside it, or bundled with it.
 * @module
 */

/**
 * What `tierlimit` exports, or `withModule` of `tierlimit/slim` gives with the errors beside it.
 * @typedef {Pick<typeof import('tierlimit'), 'TierLimiter' | 'PolicyError' | 'ClockError'>} Package
 */

const policies = (capacity, refillPerSecond) => ({ default: { capacity, refillPerSecond } });

function equal(actual, expected) {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${a} instead of ${b}`);
}

/** The error that a call throws. */
function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** Calls the body with a limiter and with what sets its time. */
function withLimiter(TierLimiter, options, body) {
  let nowMs = 0;
  const limiter = new TierLimiter({ now: () => nowMs, ...options });
  try {
    return body(limiter, (ms) => {
      nowMs = ms;
    });
  } finally {
    limiter.dispose();
  }
}

const many = 100_000;

/** @type {Record<string, (tierlimit: Package) => void>} */
const clauses = {
  'worked case'({ TierLimiter }) {
    withLimiter(TierLimiter, { policies: policies(5, 1) }, (limiter, setTime) => {
      const allowed = (times) =>
        Array.from({ length: times }, () => +limiter.allow('acme')).join('');
      equal(allowed(6), '111110');
      const { reason, retryAfterMs, remaining } = limiter.check('acme');
      equal([reason, retryAfterMs, remaining], ['exhausted', 1000, 0]);
      setTime(2000);
      equal(allowed(3), '110');
      limiter.setPolicies(policies(10, 2));
      equal(limiter.peek('acme').remaining, 0);
      setTime(5000);
      equal(limiter.peek('acme').remaining, 6);
      limiter.setPolicies(policies(2, 2));
      equal(limiter.peek('acme').remaining, 2);
    });
  },

  'live change'({ TierLimiter }) {
    const tiers = { pro: { capacity: 100, refill: { tokens: 100, seconds: 60 } } };
    withLimiter(TierLimiter, { policies: policies(2, 0) }, (limiter) => {
      equal(limiter.check('acme', { tier: 'pro' }).fallback, 'unknown-tier');
      const report = limiter.setPolicies(JSON.stringify({ ...policies(2, 0), tiers }));
      equal([report.revision, report.rejected.length, limiter.revision], [2, 0, 2]);
      limiter.setTier('globex', 'pro');
      equal(limiter.check('globex', { cost: 30 }).remaining, 70);
      // A client that changes tier keeps its balance.
      const { remaining, limit, tier, fallback } = limiter.check('acme', { tier: 'pro' });
      equal([remaining, limit, tier, fallback], [0, 100, 'pro', null]);
      // What is reloaded changes nothing.
      limiter.setPolicies({ tiers, ...policies(2, 0) });
      equal([limiter.peek('acme').remaining, limiter.peek('globex').remaining], [0, 70]);
    });
  },

  'bad policy'({ TierLimiter, PolicyError }) {
    withLimiter(TierLimiter, { policies: policies(3, 0) }, (limiter) => {
      for (const [bad, code] of [
        ['{ "default": { "capacity": 0, "refillPerSecond": 1 } }', 'invalid-value'],
        [
          '{ "default": { "capacity": 5, "capacity": 6, "refillPerSecond": 1 } }',
          'duplicate-member',
        ],
        ['{ "default": ', 'syntax'],
        ['['.repeat(many), 'too-deep'],
        [{ tiers: {} }, 'missing-member'],
      ]) {
        const error = thrown(() => limiter.setPolicies(bad));
        equal(
          [error instanceof PolicyError, error instanceof Error, error.code],
          [true, true, code],
        );
        equal([typeof error.message, error.message.length > 20], ['string', true]);
      }
      equal([limiter.revision, limiter.check('acme').remaining], [1, 2]);
      for (const cost of [0, -1, 1.5, NaN, Infinity, 2 ** 53, '5', null, true, {}, []]) {
        const error = thrown(() => limiter.allow('acme', cost));
        equal(
          [error instanceof TypeError || error instanceof RangeError, /cost/.test(error.message)],
          [true, true],
        );
      }
      equal(thrown(() => limiter.allow(5)) instanceof TypeError, true);
      equal(limiter.peek('acme').remaining, 2);
    });
    const error = thrown(() => new TierLimiter({ policies: '{}' }));
    equal([error instanceof PolicyError, error.path, error.code], [true, '', 'missing-member']);
  },

  '100,000 clients'({ TierLimiter }) {
    withLimiter(TierLimiter, { policies: policies(2, 0.001) }, (limiter, setTime) => {
      const handle = limiter.client('client 0');
      handle.allow();
      const before = limiter.stats();
      for (let i = 0; i < many; i += 1) {
        if (!limiter.allow(`client ${i}`)) throw new Error(`client ${i} was denied`);
      }
      const after = limiter.stats();
      equal([before.buckets, after.buckets, after.evictions], [1, many, 0]);
      equal([after.bytes > before.bytes, after.bytes < 80 * many], [true, true]);
      // What was handed out before the table grew is still good, and everybody has the balance that is theirs.
      equal([before.buckets, handle.allow()], [1, false]);
      for (let i = 1; i < many; i += 997) equal(limiter.peek(`client ${i}`).remaining, 1);
      setTime(1_000_000);
      equal(limiter.peek('client 7').remaining, 2);
    });
  },

  clock({ TierLimiter, ClockError }) {
    withLimiter(TierLimiter, { policies: policies(10, 10) }, (limiter, setTime) => {
      setTime(1000);
      for (let i = 0; i < 10; i += 1) limiter.allow('acme');
      setTime(900);
      const error = thrown(() => limiter.allow('acme'));
      equal([error instanceof ClockError, error.nowMs, error.touchedMs], [true, 900, 1000]);
      setTime(1000);
      equal(limiter.allow('acme'), false);
      setTime(1099.999);
      equal(limiter.check('acme').retryAfterMs, 0.001);
      setTime(1100);
      equal(limiter.allow('acme'), true);
    });
    withLimiter(
      TierLimiter,
      { policies: policies(1, 1), onClockBackward: 'hold' },
      (limiter, setTime) => {
        setTime(1000);
        limiter.allow('acme');
        setTime(0);
        equal([limiter.allow('acme'), limiter.stats().clockRegressions], [false, 1]);
      },
    );
    for (const reading of [NaN, Infinity, '5', undefined]) {
      const limiter = new TierLimiter({ policies: policies(1, 1), now: () => reading });
      equal(/now\(\)/.test(thrown(() => limiter.allow('acme')).message), true);
      limiter.dispose();
    }
    // The runtime's own clock, and its random bytes.
    const limiter = new TierLimiter({ policies: policies(1, 0) });
    equal([limiter.allow('acme'), limiter.allow('acme')], [true, false]);
    limiter.dispose();
  },

  dispose({ TierLimiter }) {
    for (let i = 0; i < 1000; i += 1) {
      withLimiter(TierLimiter, { policies: policies(1, 0) }, (limiter) => {
        equal([limiter.allow('acme'), limiter.allow('acme')], [true, false]);
      });
    }
    const limiter = new TierLimiter({ policies: policies(1, 0) });
    const handle = limiter.client('acme');
    limiter.dispose();
    limiter.dispose();
    for (const call of [() => limiter.allow('acme'), () => handle.allow(), () => limiter.stats()]) {
      const error = thrown(call);
      equal([error instanceof Error, /dispose/.test(error.message)], [true, true]);
    }
    if (Symbol.dispose !== undefined) {
      equal(typeof limiter[Symbol.dispose], 'function');
    }
    const first = TierLimiter.forIsolate('contract', { policies: policies(1, 0) });
    equal(TierLimiter.forIsolate('contract', { policies: policies(1, 0) }) === first, true);
    first.dispose();
    const second = TierLimiter.forIsolate('contract', { policies: policies(1, 0) });
    equal([second !== first, second.allow('acme')], [true, true]);
    second.dispose();
  },
};

/** What there is to keep. */
export const clauseNames = Object.keys(clauses);

/**
 * Tries everything.
 * @param {Package} tierlimit
 * @returns {Record<string, string>} `ok` or what is wrong, by clause
 */
export function contract(tierlimit) {
  /** @type {Record<string, string>} */
  const outcomes = {};
  for (const [name, clause] of Object.entries(clauses)) {
    try {
      clause(tierlimit);
      outcomes[name] = 'ok';
    } catch (error) {
      outcomes[name] = `${error?.stack ?? error}`;
    }
  }
  return outcomes;
}
