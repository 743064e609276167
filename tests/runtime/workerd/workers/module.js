// tierlimit/module: the WebAssembly module's own API, made at module scope and asked in fetch.
import { createModule } from 'tierlimit/module';

const policies = JSON.stringify({ default: { capacity: 2, refillPerSecond: 1 } });
const modules = [createModule(), createModule()];
const limiters = modules.map(({ TierLimiter }) => new TierLimiter(policies));

export default {
  fetch() {
    for (const limiter of limiters) limiter.seed(...crypto.getRandomValues(new Uint32Array(4)));
    const [first, second] = limiters;
    const answers = [first.allow('acme', 2, 0), first.check('acme', 1, 0).retryAfterMs];
    return Response.json({
      answers: [...answers, second.allow('acme', 2, 0)],
      apart: modules[0].HEAPU8.buffer !== modules[1].HEAPU8.buffer,
    });
  },
};
