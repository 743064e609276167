// What policy sources tell by their hooks, kept until a test asks for it.

/**
 * Hooks for a source. `next` gives what they were called with: each call once, in their order, as soon as there is one.
 */
export function told() {
  const calls = [];
  const waiting = [];
  const take = (call) => (waiting.length > 0 ? waiting.shift()(call) : calls.push(call));
  return {
    hooks: {
      onApplied: (report, status) => take({ kind: 'applied', report, status }),
      onRefused: (error, status) => take({ kind: 'refused', error, status }),
    },
    /** @returns {Promise<{ kind: string, report?: object, error?: Error, status: object }>} */
    next: () =>
      calls.length > 0
        ? Promise.resolve(calls.shift())
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    /** Calls that nobody has asked for. */
    calls,
  };
}

/** A limiter that answers later, as a distributed one does: each call waits until the test settles it. */
export class LaterLimiter {
  /** Documents in the order in which they have come into force, whatever that of the calls. */
  inForce = [];
  /** What each call waits for. @type {{ policies: unknown, accept(): void, refuse(error: Error): void }[]} */
  calls = [];
  #called = () => {};

  setPolicies(policies) {
    return new Promise((resolve, reject) => {
      this.calls.push({
        policies,
        accept: () => {
          this.inForce.push(policies);
          resolve({ revision: this.inForce.length, rejected: [], warnings: [] });
        },
        refuse: reject,
      });
      this.#called();
    });
  }

  /** Resolves at the next call. */
  called() {
    return new Promise((resolve) => {
      this.#called = resolve;
    });
  }
}
