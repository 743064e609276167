// Decisions while the runtime's clock stands still.
import { TierLimiter } from 'tierlimit';

/** A thousand tokens for each microsecond that the clock moves on. */
const policies = { default: { capacity: 20, refillPerSecond: 1e9 } };
// The seed makes decisions possible at module scope.
const limiter = new TierLimiter({ policies, seed: new Uint8Array(16) });

/** Fifty decisions, with work between them, and what the clock says before and after. */
function fifty() {
  const before = performance.now();
  let work = 0;
  const decisions = Array.from({ length: 50 }, () => {
    for (let i = 0; i < 100_000; i += 1) work += Math.sqrt(i);
    return limiter.check('acme');
  });
  return { before, decisions, after: performance.now(), work };
}

const atModuleScope = fifty();

export default {
  async fetch() {
    const before = limiter.check('globex').remaining;
    // In some versions the clock of a request does not go beyond the time at which a timer of it is due.
    const due = new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    const inRequest = fifty();
    await due;
    return Response.json({ before, atModuleScope, inRequest });
  },
};
