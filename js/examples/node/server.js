// A service that gives out UUIDs, so many to each customer: node:http with tierlimit in front of it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { PolicyError, TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/node';

const readPolicies = () => readFileSync(new URL('policies.json', import.meta.url), 'utf8');
const limiter = new TierLimiter({ policies: readPolicies() });

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
  tier: (request) => tiers.get(request.headers['x-api-key']),
});

const handle = limited((request, response) => {
  const key = request.headers['x-api-key'];
  // Behind the limiter, so that guesses count.
  if (key && !isKnown(key)) return send(response, 401, { error: 'x-api-key is not known' });
  if (request.url !== '/uuid') return send(response, 404, { error: 'there is only /uuid' });
  return send(response, 200, { uuid: randomUUID() });
});

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}

// A policy change takes effect at each client's next request, and fills no bucket.
process.on('SIGHUP', () => {
  try {
    const { revision, rejected } = limiter.setPolicies(readPolicies());
    console.log(`policies.json: revision ${revision}`);
    // Tiers that are invalid do not stop the others; `default` judges their clients.
    for (const { message, path } of rejected) console.warn(`policies.json: ${path}: ${message}`);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    console.error(`policies.json: ${error.message}; the policies before stay in force`);
  }
});

// node server.js [PORT]; 0 takes a free one.
const server = createServer(handle).listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/uuid`);
  console.log(`kill -HUP ${process.pid} loads policies.json again`);
});
