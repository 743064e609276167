// A service that gives out UUIDs, so many to each customer: Express with tierlimit in front of it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import express from 'express';
import { TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/express';
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

const app = express();
app.disable('x-powered-by');
app.use(
  rateLimit({
    limiter,
    // Keys that do not exist count for the address that they come from, and so does who has none.
    client: firstOf(apiKey({ isKnown }), address({ hops })),
    // Only a key gives a tier. Who has none is judged by the policies' default.
    tier: (request) => tiers.get(request.get('x-api-key')),
  }),
);

// Behind the limiter, so that guesses count.
app.use((request, response, next) => {
  const key = request.get('x-api-key');
  if (!key || isKnown(key)) next();
  else response.status(401).json({ error: 'x-api-key is not known' });
});

app.get('/uuid', (request, response) => {
  response.json({ uuid: randomUUID() });
});

app.use((request, response) => {
  response.status(404).json({ error: 'there is only /uuid' });
});

// node server.js [PORT]; 0 takes a free one.
const server = app.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`http://127.0.0.1:${server.address().port}/uuid`);
});
