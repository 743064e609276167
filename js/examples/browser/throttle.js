// Holds calls back until a limiter admits them.
import { TierLimiter } from 'tierlimit';

// A timer of more than 24.8 days would go off at once.
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 2 ** 31 - 1)));

export class Throttle {
  #limiter;
  #last = Promise.resolve();

  /** @param {string} policies of the one client that there is: this page */
  constructor(policies) {
    this.#limiter = new TierLimiter({ policies });
  }

  /**
   * Calls when those before are answered and there is a token. A server then sees them in the pace they were admitted in,
   * however slow the network is; all at once they could arrive closer together than they were sent.
   * @param {() => Promise<Response>} call
   * @returns {Promise<Response>}
   */
  run(call) {
    const response = this.#last.then(() => this.#call(call));
    this.#last = response.then(
      () => {},
      () => {},
    );
    return response;
  }

  async #call(call) {
    for (;;) {
      const { allowed, retryAfterMs } = this.#limiter.check('page');
      if (allowed) {
        const response = await call();
        if (response.status !== 429) return response;
        // The server counts what other tabs send too, and it decides.
        await wait(1000 * Number(response.headers.get('retry-after') ?? 1));
      } else {
        // null is never: a policy that does not refill.
        if (retryAfterMs === null) throw new Error('no call will be admitted any more');
        await wait(retryAfterMs);
      }
    }
  }
}
