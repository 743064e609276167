import { TierLimiter } from 'tierlimit';

const limiter = new TierLimiter({ policies: { default: { capacity: 2, refillPerSecond: 0 } } });

export default {
  fetch: () =>
    Response.json({ url: typeof import.meta.url, remaining: limiter.check('acme').remaining }),
};
