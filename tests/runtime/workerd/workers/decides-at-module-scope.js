import { TierLimiter } from 'tierlimit';

const limiter = new TierLimiter({ policies: { default: { capacity: 1, refillPerSecond: 0 } } });
const allowed = limiter.allow('acme');

export default { fetch: () => Response.json(allowed) };
