// Not bundled: two bundles, each with a copy of the package in it, in one isolate.
import { TierLimiter as First } from './first.js';
import { TierLimiter as Second } from './second.js';

const policies = (capacity) => ({ default: { capacity, refillPerSecond: 0 } });
const first = First.forIsolate('shared', { policies: policies(3) });

export default {
  fetch() {
    // The same policies, in force already, and then others.
    const second = Second.forIsolate('shared', { policies: policies(3) });
    const remaining = [first, second, first].map((limiter) => limiter.check('acme').remaining);
    Second.forIsolate('shared', { policies: policies(9) });
    return Response.json({
      copies: First !== Second,
      same: first === second,
      remaining,
      limit: first.check('globex').limit,
      apart: First.forIsolate('other', { policies: policies(3) }).check('acme').remaining,
    });
  },
};
