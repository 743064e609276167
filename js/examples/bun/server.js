// A service that gives out UUIDs, so many to each customer: Bun.serve with tierlimit in front of it.
import { PolicyError, TierLimiter } from 'tierlimit';

const readPolicies = () => Bun.file(new URL('policies.json', import.meta.url)).text();
const limiter = new TierLimiter({ policies: await readPolicies() });

// The customer and the tier of each API key: yours are in a database.
const customers = new Map([
  ['acme-key', { id: 'acme', tier: 'pro' }],
  ['globex-key', { id: 'globex', tier: 'free' }],
]);

/**
 * Lets a route answer those who have a key and a token left.
 * @param {(request: Request) => Response | Promise<Response>} route
 */
const limited = (route) => (request) => {
  const customer = customers.get(request.headers.get('x-api-key'));
  // Before the limiter, to which every name that it has not seen is a client with a full bucket.
  if (customer === undefined) {
    return Response.json({ error: 'x-api-key is not known' }, { status: 401 });
  }

  const { allowed, retryAfterMs } = limiter.check(customer.id, { tier: customer.tier });
  if (allowed) return route(request);
  const headers = new Headers({ 'cache-control': 'no-store' });
  // In whole seconds, rounded up: who waits as long is admitted. null is never: the policy does not refill.
  if (retryAfterMs !== null) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  const body = { error: 'too many requests', tier: customer.tier };
  return Response.json(body, { status: 429, headers });
};

// bun server.js [PORT]; 0 takes a free one.
const server = Bun.serve({
  port: Number(process.argv[2] ?? 8080),
  hostname: '127.0.0.1',
  routes: { '/uuid': limited(() => Response.json({ uuid: crypto.randomUUID() })) },
  fetch: limited(() => Response.json({ error: 'there is only /uuid' }, { status: 404 })),
});
console.log(new URL('uuid', server.url).href);

// A policy change takes effect at each client's next request, and fills no bucket.
process.on('SIGHUP', async () => {
  try {
    const { revision, rejected } = limiter.setPolicies(await readPolicies());
    console.log(`policies.json: revision ${revision}`);
    // Tiers that are invalid do not stop the others; `default` judges their clients.
    for (const { message, path } of rejected) console.warn(`policies.json: ${path}: ${message}`);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    console.error(`policies.json: ${error.message}; the policies before stay in force`);
  }
});
console.log(`kill -HUP ${process.pid} loads policies.json again`);
