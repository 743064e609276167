// A service that gives out UUIDs, so many to each customer: Fastify with tierlimit in front of it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import Fastify from 'fastify';
import { TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/fastify';
import { watchFile } from 'tierlimit/policies/file';

const path = new URL('policies.json', import.meta.url);
const limiter = new TierLimiter({ policies: readFileSync(path, 'utf8') });

// A policy change takes effect at each client's next request, and fills no bucket.
watchFile({
  path,
  limiter,
  onApplied: ({ revision }) => console.log(`policies.json: revision ${revision}`),
  onRefused: ({ message }) =>
    console.error(`policies.json: ${message}; the policies before stay in force`),
});

// The tier of each API key: yours are in a database.
const tiers = new Map([
  ['acme-key', 'pro'],
  ['globex-key', 'free'],
]);
const isKnown = (key) => tiers.has(key);
// How many proxies of yours stand before this server: with one more than there are, clients choose their address.
const hops = Number(process.env.PROXIES ?? 0);

const app = Fastify();
await app.register(rateLimit, {
  limiter,
  // Keys that do not exist count for the address that they come from, and so does who has none.
  client: firstOf(apiKey({ isKnown }), address({ hops })),
  // Only a key gives a tier. Who has none is judged by the policies' default.
  tier: (request) => tiers.get(request.headers['x-api-key']),
});

// Behind the limiter, so that guesses count.
app.addHook('onRequest', async (request, reply) => {
  const key = request.headers['x-api-key'];
  if (!key || isKnown(key)) return undefined;
  return reply.code(401).send({ error: 'x-api-key is not known' });
});

app.get('/uuid', async () => ({ uuid: randomUUID() }));

app.setNotFoundHandler(async (request, reply) => {
  reply.code(404);
  return { error: 'there is only /uuid' };
});

// node server.js [PORT]; 0 takes a free one.
const origin = await app.listen({ port: Number(process.argv[2] ?? 8080), host: '127.0.0.1' });
console.log(`${origin}/uuid`);
