// The contract through tierlimit/slim, with the module as a worker imports it.
import module from 'tierlimit/core.wasm';
import { ClockError, PolicyError, withModule } from 'tierlimit/slim';

import { contract } from './limiter.js';

const { TierLimiter } = withModule(module);
const limiter = new TierLimiter({ policies: { default: { capacity: 2, refillPerSecond: 0 } } });

export default {
  fetch({ url }) {
    const { pathname } = new URL(url);
    return Response.json(
      pathname === '/contract'
        ? contract({ TierLimiter, PolicyError, ClockError })
        : limiter.check('acme').remaining,
    );
  },
};
