// A service that gives out UUIDs, so many to each customer: a Cloudflare Worker with tierlimit in front of it.
import { PolicyError, TierLimiter } from 'tierlimit';

import policies from './policies.json';

// At module scope, so that it lives as long as the isolate. Decisions are for handlers.
const limiter = new TierLimiter({ policies });

// The customer and the tier of each API key: yours are in a database.
const customers = new Map([
  ['acme-key', { id: 'acme', tier: 'pro' }],
  ['globex-key', { id: 'globex', tier: 'free' }],
]);

export default {
  async fetch(request, env, ctx) {
    const key = request.headers.get('x-api-key') ?? '';
    const { pathname } = new URL(request.url);
    // Before the limiter: no policy can lock out whoever has to mend it.
    if (pathname === '/policies' && request.method === 'PUT') {
      if (!(await isOperator(key, env))) return json(403, { error: 'x-api-key is no operator' });
      return putPolicies(request, env);
    }

    const customer = customers.get(key);
    // Before it as well, since to it every name that it has not seen is a client with a full bucket.
    if (customer === undefined) return json(401, { error: 'x-api-key is not known' });

    await followPolicies(env, ctx);
    const { allowed, retryAfterMs } = limiter.check(customer.id, { tier: customer.tier });
    if (!allowed) {
      const headers = new Headers({ 'cache-control': 'no-store' });
      // In whole seconds, rounded up: who waits as long is admitted. null is never: the policy does not refill.
      if (retryAfterMs !== null) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)));
      return json(429, { error: 'too many requests', tier: customer.tier }, headers);
    }

    if (pathname !== '/uuid') return json(404, { error: 'there is only /uuid' });
    return json(200, { uuid: crypto.randomUUID() });
  },
};

/** KV tells every place on earth within a minute, and there is no use in asking it more often. */
const lookEveryMs = 60_000;
let nextLookMs = 0;
let policiesInForce = '';

/** Policies that were put through one isolate come to the others by KV: before their first decision, then by and by. */
async function followPolicies(env, ctx) {
  if (Date.now() < nextLookMs) return;
  const isFirst = nextLookMs === 0;
  nextLookMs = Date.now() + lookEveryMs;
  const look = env.POLICIES.get('policies').then((text) => {
    if (text !== null && text !== policiesInForce) setPolicies(text);
  });
  if (isFirst) await look;
  else ctx.waitUntil(look);
}

/** A policy change takes effect at each client's next request, and fills no bucket. */
function setPolicies(text) {
  const report = limiter.setPolicies(text);
  policiesInForce = text;
  return report;
}

async function putPolicies(request, env) {
  try {
    const text = await request.text();
    // Tiers that are invalid are listed in the answer; `default` judges their clients.
    const report = setPolicies(text);
    nextLookMs = Date.now() + lookEveryMs;
    await env.POLICIES.put('policies', text);
    return json(200, report);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return json(400, { error: error.message, line: error.line, column: error.column });
  }
}

/** Compares hashes, which are all of one length, in a time that tells nothing about the secret. */
async function isOperator(key, { OPERATOR_KEY }) {
  if (!OPERATOR_KEY) return false;
  const hash = (text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(await hash(key), await hash(OPERATOR_KEY));
}

const json = (status, body, headers) => Response.json(body, { status, headers });
