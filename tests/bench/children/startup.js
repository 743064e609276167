// From nothing to a first decision: startup.js <what>. Prints how many milliseconds that took.
import { readFileSync } from 'node:fs';

const policies = { default: { capacity: 5, refillPerSecond: 1 } };

/** @type {Record<string, () => Promise<unknown>>} */
const starts = {
  nothing: async () => true,
  async tierlimit() {
    const { TierLimiter } = await import('../../../js/src/index.js');
    return new TierLimiter({ policies }).allow('acme');
  },
  async 'tierlimit/slim'() {
    const { withModule } = await import('../../../js/src/slim.js');
    const bytes = readFileSync(new URL('../../../js/dist/core.wasm', import.meta.url));
    const { TierLimiter } = withModule(new WebAssembly.Module(bytes));
    return new TierLimiter({ policies }).allow('acme');
  },
  async limiter() {
    const { TokenBucket } = await import('limiter');
    const bucket = new TokenBucket({ bucketSize: 5, tokensPerInterval: 1, interval: 'second' });
    bucket.content = 5;
    return new Map([['acme', bucket]]).get('acme')?.tryRemoveTokens(1);
  },
  async 'rate-limiter-flexible'() {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    await new RateLimiterMemory({ points: 5, duration: 1 }).consume('acme');
    return true;
  },
  async 'express-rate-limit'() {
    const { MemoryStore } = await import('express-rate-limit');
    const store = new MemoryStore();
    store.init(/** @type {any} */ ({ windowMs: 1000 }));
    return (await store.increment('acme')).totalHits <= 5;
  },
};

const start = performance.now();
const admitted = await starts[process.argv[2]]();
const end = performance.now();
if (admitted !== true) throw new Error('the first request was not admitted');
process.stdout.write(JSON.stringify(end - start));
