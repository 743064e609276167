// Limiters from npm, as their documentation has them used, one bucket for each client. They read their clocks
// themselves: performance.now() or Date.now(), which costs what it costs on the machine.
import { MemoryStore } from 'express-rate-limit';
import { TokenBucket } from 'limiter';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/** @import { Setting } from '../settings.js' */
/** @import { Subject } from './subject.js' */

const hourSeconds = 3600;

/**
 * A Map of token buckets.
 * @type {(setting: Setting) => Subject<string[]>}
 */
export function limiter({ limit }) {
  /** @type {Map<string, TokenBucket>} */
  const buckets = new Map();
  const allow = (/** @type {string} */ client, /** @type {number} */ cost) => {
    let bucket = buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket({
        bucketSize: limit.capacity,
        tokensPerInterval: limit.refillPerSecond,
        interval: 'second',
      });
      // Its buckets start empty.
      bucket.content = limit.capacity;
      buckets.set(client, bucket);
    }
    return bucket.tryRemoveTokens(cost);
  };
  return {
    name: 'limiter',
    meet: ({ names }, first) => {
      for (const name of names) allow(name, first);
    },
    prepare: ({ names }) => names,
    run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) if (allow(names[i], 1)) admitted += 1;
      return admitted;
    },
  };
}

/**
 * Counts requests in a window. The prefix that it puts before names by default costs it time and is left out.
 * @type {(setting: Setting) => Subject<string[]>}
 */
export function rateLimiterFlexible({ limit }) {
  const memory = new RateLimiterMemory({
    points: limit.capacity,
    duration: hourSeconds,
    keyPrefix: '',
  });
  return {
    name: 'rate-limiter-flexible',
    async: true,
    async meet({ names }, first) {
      for (const name of names) await memory.consume(name, first);
    },
    prepare: ({ names }) => names,
    async run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) {
        try {
          await memory.consume(names[i]);
          admitted += 1;
        } catch (refusal) {
          if (refusal instanceof Error) throw refusal;
        }
      }
      return admitted;
    },
    dispose() {
      // A timer for each client holds on to everything.
      for (const { key } of memory.dump().storage) void memory.delete(key);
    },
  };
}

/**
 * Counts requests in a window; what is more than the limit is for the middleware to see.
 * @type {(setting: Setting) => Subject<string[]>}
 */
export function expressRateLimit({ limit }) {
  const store = new MemoryStore();
  store.init(/** @type {any} */ ({ windowMs: hourSeconds * 1000 }));
  return {
    name: 'express-rate-limit',
    async: true,
    async meet({ names }, first) {
      for (const name of names) {
        for (let i = 0; i < first; i += 1) await store.increment(name);
      }
    },
    prepare: ({ names }) => names,
    async run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) {
        const { totalHits } = await store.increment(names[i]);
        if (totalHits <= limit.capacity) admitted += 1;
      }
      return admitted;
    },
    dispose: () => store.shutdown(),
  };
}
