// A service that gives out UUIDs, so many to each customer: Bun.serve with tierlimit in front of it.
import { PolicyError, TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/fetch';

const readPolicies = () => Bun.file(new URL('policies.json', import.meta.url)).text();
const limiter = new TierLimiter({ policies: await readPolicies() });

// The tier of each API key: yours are in a database.
const tiers = new Map([
  ['acme-key', 'pro'],
  ['globex-key', 'free'],
]);
const isKnown = (key) => tiers.has(key);
// How many proxies of yours stand before this server: with one more than there are, clients choose their address.
const hops = Number(process.env.PROXIES ?? 0);

const limited = rateLimit({
  limiter,
  // Keys that do not exist count for the address that they come from, and so does who has none.
  client: firstOf(apiKey({ isKnown }), address({ hops })),
  // Only a key gives a tier. Who has none is judged by the policies' default.
  tier: (request) => tiers.get(request.headers.get('x-api-key')),
});

/**
 * Lets a route answer those who have a token left and, if they have a key, one that is known.
 * @param {(request: Request) => Response | Promise<Response>} route
 */
const answer = (route) =>
  limited((request) => {
    const key = request.headers.get('x-api-key');
    // Behind the limiter, so that guesses count.
    if (!key || isKnown(key)) return route(request);
    return Response.json({ error: 'x-api-key is not known' }, { status: 401 });
  });

// bun server.js [PORT]; 0 takes a free one.
const server = Bun.serve({
  port: Number(process.argv[2] ?? 8080),
  hostname: '127.0.0.1',
  routes: { '/uuid': answer(() => Response.json({ uuid: crypto.randomUUID() })) },
  fetch: answer(() => Response.json({ error: 'there is only /uuid' }, { status: 404 })),
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
