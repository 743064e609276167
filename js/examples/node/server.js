// A service that gives out UUIDs, so many to each customer: node:http with tierlimit in front of it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { PolicyError, TierLimiter } from 'tierlimit';

const readPolicies = () => readFileSync(new URL('policies.json', import.meta.url), 'utf8');
const limiter = new TierLimiter({ policies: readPolicies() });

// The customer and the tier of each API key: yours are in a database.
const customers = new Map([
  ['acme-key', { id: 'acme', tier: 'pro' }],
  ['globex-key', { id: 'globex', tier: 'free' }],
]);

const server = createServer((request, response) => {
  const customer = customers.get(String(request.headers['x-api-key']));
  // Before the limiter, to which every name that it has not seen is a client with a full bucket.
  if (customer === undefined) return send(response, 401, { error: 'x-api-key is not known' });

  const { allowed, retryAfterMs } = limiter.check(customer.id, { tier: customer.tier });
  if (!allowed) {
    // In whole seconds, rounded up: who waits as long is admitted. null is never: the policy does not refill.
    if (retryAfterMs !== null) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000));
    response.setHeader('cache-control', 'no-store');
    return send(response, 429, { error: 'too many requests', tier: customer.tier });
  }

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
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/uuid`);
  console.log(`kill -HUP ${process.pid} loads policies.json again`);
});
