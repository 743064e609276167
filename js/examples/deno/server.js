// A service that gives out UUIDs, so many to each customer: Deno.serve with tierlimit in front of it.
import { PolicyError, TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/fetch';

// An import, because reading files would take one more permission.
import policies from './policies.json' with { type: 'json' };

const limiter = new TierLimiter({ policies });

// The tier of each API key: yours are in a database.
const tiers = new Map([
  ['acme-key', 'pro'],
  ['globex-key', 'free'],
]);
const isKnown = (key) => tiers.has(key);
// How many proxies of yours stand before this server: with one more than there are, clients choose their address.
const hops = 0;

const limited = rateLimit({
  limiter,
  // Keys that do not exist count for the address that they come from, and so does who has none.
  client: firstOf(apiKey({ isKnown }), address({ hops })),
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

/**
 * @param {Request} request
 * @param {Deno.ServeHandlerInfo} info who asks, for the limiter
 */
function handle(request, info) {
  const isOperator = request.headers.get('x-api-key') === 'operator-key';
  // Before the limiter: no policy can lock out whoever has to mend it.
  if (isOperator && request.method === 'PUT' && new URL(request.url).pathname === '/policies') {
    return putPolicies(request);
  }
  return answer(request, info);
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

const json = (status, body) => Response.json(body, { status });

// deno run --allow-net server.js [PORT]; 0 takes a free one.
const onListen = ({ hostname, port }) => console.log(`http://${hostname}:${port}/uuid`);
Deno.serve({ port: Number(Deno.args[0] ?? 8080), hostname: '127.0.0.1', onListen }, handle);
