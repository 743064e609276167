// A service that gives out UUIDs, so many to each customer: a Cloudflare Worker with tierlimit in front of it.
import { PolicyError, TierLimiter } from 'tierlimit';
import { apiKey, cloudflare, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/fetch';
import { pollKv } from 'tierlimit/policies';

import policies from './policies.json';

// At module scope, so that it lives as long as the isolate. Decisions are for handlers.
const limiter = new TierLimiter({ policies });

// The tier of each API key: yours are in a database.
const tiers = new Map([
  ['acme-key', 'pro'],
  ['globex-key', 'free'],
]);
const isKnown = (key) => tiers.has(key);

const limited = rateLimit({
  limiter,
  // Keys that do not exist count for the address that they come from, and so does who has none.
  client: firstOf(apiKey({ isKnown }), cloudflare()),
  // Only a key gives a tier. Who has none is judged by the policies' default.
  tier: (request) => tiers.get(request.headers.get('x-api-key')),
});

const answer = limited((request) => {
  const key = request.headers.get('x-api-key');
  // Behind the limiter, so that guesses count.
  if (key && !isKnown(key)) return json(401, { error: 'x-api-key is not known' });
  if (new URL(request.url).pathname !== '/uuid') return json(404, { error: 'there is only /uuid' });
  return json(200, { uuid: crypto.randomUUID() });
});

export default {
  async fetch(request, env, ctx) {
    await followPolicies(env, ctx);
    const { pathname } = new URL(request.url);
    // Before the limiter: no policy can lock out whoever has to mend it.
    if (pathname === '/policies' && request.method === 'PUT') {
      const key = request.headers.get('x-api-key') ?? '';
      if (!(await isOperator(key, env))) return json(403, { error: 'x-api-key is no operator' });
      return putPolicies(request, env);
    }
    return answer(request);
  },
};

let source;

/**
 * Policies that were put through one isolate come to the others by KV: before their first decision, then by and by. KV
 * tells every place on earth within a minute, and there is no use in asking it more often.
 */
async function followPolicies(env, ctx) {
  const isFirst = source === undefined;
  source ??= pollKv({ limiter, namespace: env.POLICIES, key: 'policies', intervalMs: 60_000 });
  const look = source.refresh(ctx);
  if (isFirst) await look;
}

async function putPolicies(request, env) {
  try {
    const text = await request.text();
    // A policy change takes effect at each client's next request, and fills no bucket. Tiers that are invalid are listed
    // in the answer; `default` judges their clients.
    const report = limiter.setPolicies(text);
    // By the version what KV still gives of before is told from what comes later.
    await env.POLICIES.put('policies', text, { metadata: { version: Date.now() } });
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

const json = (status, body) => Response.json(body, { status });
