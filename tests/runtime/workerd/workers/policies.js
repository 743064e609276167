// A limiter whose policies come from elsewhere: sources that are made at module scope, or with the first request, and
// looked at from within requests. The test sets their clock, and what is behind them.
import { uses } from './watch.js';
// Behind what watches it: what is imported first is evaluated first.
import { TierLimiter } from 'tierlimit';
import { prometheusContentType, prometheusMetrics, prometheusText } from 'tierlimit/metrics';
import { pollKv, pollUrl } from 'tierlimit/policies';

const policies = { default: { capacity: 1, refillPerSecond: 0 } };
let nowMs = 0;
let upstream;

const limiters = {
  url: new TierLimiter({ policies }),
  kv: new TierLimiter({ policies }),
};
const shared = { intervalMs: 1000, timeoutMs: 60_000, now: () => nowMs };
const sources = {
  url: pollUrl({
    ...shared,
    limiter: limiters.url,
    url: 'http://upstream/policies.json',
    fetch: (url, init) => upstream.fetch(url, init),
  }),
};
const metrics = prometheusMetrics({ limiter: limiters.url, source: sources.url });
const usedToMake = uses();

/** Errors as JSON can tell them. */
const told = (trouble) => trouble && { ...trouble, error: trouble.error.message };

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    const [, kind, how] = pathname.split('/');
    nowMs = Number(searchParams.get('now') ?? nowMs);
    upstream = env.UPSTREAM;
    if (pathname === '/metrics') {
      metrics.record(limiters.url.check('acme'));
      const headers = { 'content-type': prometheusContentType };
      return new Response(await prometheusText(metrics), { headers });
    }
    sources.kv ??= pollKv({
      ...shared,
      limiter: limiters.kv,
      namespace: env.POLICIES,
      key: 'limits/for all',
    });
    const source = sources[kind];
    let outcome = null;
    if (how === 'await') outcome = await source.refresh();
    // The answer does not wait for it, and so the request may be over first.
    if (how === 'wait-until') source.refresh(ctx);
    if (how === 'leave') {
      source.refresh();
      await upstream.fetch('http://upstream/until-told');
    }
    const { limit } = limiters[kind].peek('nobody');
    const { refused, unreadable, ...status } = source.status();
    return Response.json({
      usedToMake,
      outcome,
      limit,
      status: { ...status, refused: told(refused), unreadable: told(unreadable) },
    });
  },
};
