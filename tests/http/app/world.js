// What an app under test is made with, in every runtime: a limiter whose clock the test moves, options for the adapter, and
// what the test can ask afterwards. Nothing of Node.js is in here.
import { TierLimiter } from 'tierlimit';

/**
 * What a test says of the app that it wants: JSON, since the app may be in another process.
 *
 * @typedef {object} Setup
 * @property {object} policies
 * @property {object} [options] of the adapter, as far as they are JSON
 * @property {object} [innerPolicies] of the limiter of /nested
 * @property {object} [innerOptions] of its adapter
 * @property {boolean} [byAddress] whether the client is the default, the peer's address, in place of the header x-client
 * @property {boolean} [customBody] whether a function makes the body of a refusal
 */

/** @typedef {{ advanceMs?: number, peek?: string }} Command */

/** So many decisions are told. */
const kept = 10;

export class World {
  /** Of the adapter that limits the whole app. */
  options;
  /** Of the one that limits /nested too; null where there is none. */
  inner = null;

  #limiter;
  #nowMs = 0;
  #entered = 0;
  #left = 0;
  #decided = 0;
  /** The first of them. */
  #decisions = [];
  #warnings = [];

  /** @param {Setup} setup */
  constructor({ policies, options, innerPolicies, innerOptions, byAddress, customBody }) {
    const now = () => this.#nowMs;
    this.#limiter = new TierLimiter({ policies, now });
    const common = {
      ...(byAddress ? {} : { client: (_request, source) => source.header('x-client') }),
      cost: (_request, source) => Number(source.header('x-cost') ?? 1),
      onWarning: (message) => this.#warnings.push(message),
    };
    this.options = {
      ...common,
      limiter: this.#limiter,
      onDecision: (decision, { client, refused }) => {
        this.#decided += 1;
        if (this.#decided <= kept) this.#decisions.push([client, decision.allowed, refused]);
      },
      ...(customBody ? { body: ({ remaining }) => ({ slow: 'down', remaining }) } : {}),
      ...options,
    };
    if (innerPolicies) {
      const limiter = new TierLimiter({ policies: innerPolicies, now });
      this.inner = { ...common, limiter, ...innerOptions };
    }
  }

  /** A request of /slow or /stream waits. */
  enter() {
    this.#entered += 1;
  }

  /** Its client went away. */
  left() {
    this.#left += 1;
  }

  /**
   * Does what the test says, and tells how things are.
   * @param {Command} [command]
   */
  control({ advanceMs = 0, peek } = {}) {
    this.#nowMs += advanceMs;
    return {
      nowMs: this.#nowMs,
      entered: this.#entered,
      left: this.#left,
      decided: this.#decided,
      decisions: this.#decisions,
      warnings: this.#warnings,
      remaining: peek === undefined ? null : this.#limiter.peek(peek).remaining,
    };
  }
}
