// A service that gives out UUIDs, so many to each customer: Deno.serve with tierlimit in front of it.
import { PolicyError, TierLimiter } from 'tierlimit';

// An import, because reading files would take one more permission.
import policies from './policies.json' with { type: 'json' };

const limiter = new TierLimiter({ policies });

// The customer and the tier of each API key: yours are in a database.
const customers = new Map([
  ['acme-key', { id: 'acme', tier: 'pro' }],
  ['globex-key', { id: 'globex', tier: 'free' }],
  ['operator-key', { id: 'operator', operator: true }],
]);

/** @param {Request} request */
function handle(request) {
  const customer = customers.get(request.headers.get('x-api-key'));
  // Before the limiter, to which every name that it has not seen is a client with a full bucket.
  if (customer === undefined) return json(401, { error: 'x-api-key is not known' });

  const { pathname } = new URL(request.url);
  // Before it as well: no policy can lock out whoever has to mend it.
  if (pathname === '/policies' && request.method === 'PUT' && customer.operator) {
    return putPolicies(request);
  }

  const { allowed, retryAfterMs } = limiter.check(customer.id, { tier: customer.tier });
  if (!allowed) {
    const headers = new Headers({ 'cache-control': 'no-store' });
    // In whole seconds, rounded up: who waits as long is admitted. null is never: the policy does not refill.
    if (retryAfterMs !== null) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)));
    return json(429, { error: 'too many requests', tier: customer.tier }, headers);
  }

  if (pathname !== '/uuid') return json(404, { error: 'there is only /uuid' });
  return json(200, { uuid: crypto.randomUUID() });
}

/** A policy change takes effect at each client's next request, and fills no bucket. */
async function putPolicies(request) {
  try {
    // Tiers that are invalid are listed in the answer; `default` judges their clients.
    return json(200, limiter.setPolicies(await request.text()));
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return json(400, { error: error.message, line: error.line, column: error.column });
  }
}

const json = (status, body, headers) => Response.json(body, { status, headers });

// deno run --allow-net server.js [PORT]; 0 takes a free one.
const onListen = ({ hostname, port }) => console.log(`http://${hostname}:${port}/uuid`);
Deno.serve({ port: Number(Deno.args[0] ?? 8080), hostname: '127.0.0.1', onListen }, handle);
