// A service that gives out UUIDs, so many to each customer: Hono with tierlimit in front of it, on Node.js.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/hono';
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

const app = new Hono();
app.use(
  rateLimit({
    limiter,
    // Keys that do not exist count for the address that they come from, and so does who has none.
    client: firstOf(apiKey({ isKnown }), address({ hops })),
    // Only a key gives a tier. Who has none is judged by the policies' default.
    tier: (c) => tiers.get(c.req.header('x-api-key')),
  }),
);

// Behind the limiter, so that guesses count.
app.use((c, next) => {
  const key = c.req.header('x-api-key');
  return !key || isKnown(key) ? next() : c.json({ error: 'x-api-key is not known' }, 401);
});

app.get('/uuid', (c) => c.json({ uuid: randomUUID() }));

app.notFound((c) => c.json({ error: 'there is only /uuid' }, 404));

// node server.js [PORT]; 0 takes a free one.
const options = {
  fetch: app.fetch,
  port: Number(process.argv[2] ?? 8080),
  hostname: '127.0.0.1',
};
serve(options, ({ port }) => console.log(`http://127.0.0.1:${port}/uuid`));
