// What happens at module scope: to a limiter that is made there, and to what a limiter must not do there.
import { uses } from './watch.js';
// Behind what watches it: what is imported first is evaluated first.
import { TierLimiter } from 'tierlimit';

const policies = (capacity) => ({
  default: { capacity, refillPerSecond: 0 },
  tiers: { pro: { capacity: 9, refillPerSecond: 0 } },
});

const limiter = new TierLimiter({ policies: policies(1) });
limiter.setPolicies(policies(2));
limiter.setTier('acme', 'pro');
const handle = limiter.client('initech');
const named = TierLimiter.forIsolate('module-scope', { policies: policies(3) });
const usedToMake = uses();

/** The error that a call throws, as JSON can tell it; null where it throws none. */
function errorOf(call) {
  try {
    call();
    return null;
  } catch ({ message, cause }) {
    return { message, cause: cause?.message };
  }
}

const refusals = {
  allow: errorOf(() => limiter.allow('acme')),
  check: errorOf(() => named.check('acme')),
  allowMany: errorOf(() => limiter.allowMany(['acme'])),
  'client.allow': errorOf(() => handle.allow()),
};

const usedBefore = uses().length;
const attempts = {
  setTimeout: errorOf(() => setTimeout(() => {}, 0)),
  setInterval: errorOf(() => setInterval(() => {}, 1)),
  getRandomValues: errorOf(() => crypto.getRandomValues(new Uint8Array(16))),
  randomUUID: errorOf(() => crypto.randomUUID()),
  // Newer dates give a promise that is rejected.
  fetch: errorOf(() =>
    fetch('http://localhost/').catch(({ message }) => {
      attempts.fetch = { message };
    }),
  ),
};
const readings = [Date.now(), performance.now(), new Date().getTime()];
const usedToTry = uses().slice(usedBefore);

export default {
  fetch() {
    const { remaining, tier } = limiter.check('acme');
    return Response.json({
      usedToMake,
      refusals,
      attempts,
      readings,
      usedToTry,
      acme: { remaining, tier },
      remaining: [
        handle.check().remaining,
        limiter.check('globex').remaining,
        named.check('globex').remaining,
      ],
      revision: limiter.revision,
    });
  },
};
