// A service that gives out UUIDs over WebSockets, so many to each customer: the library ws with tierlimit in front of it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { TierLimiter } from 'tierlimit';
import { address, apiKey, firstOf } from 'tierlimit/clients';
import { byBytes, messageLimit } from 'tierlimit/websocket';
import { WebSocketServer } from 'ws';

const policies = readFileSync(new URL('policies.json', import.meta.url), 'utf8');
const limiter = new TierLimiter({ policies });

// The tier of each API key: yours are in a database.
const tiers = new Map([
  ['acme-key', 'pro'],
  ['globex-key', 'free'],
]);
const isKnown = (key) => tiers.has(key);
// How many proxies of yours stand before this server: with one more than there are, clients choose their address.
const hops = Number(process.env.PROXIES ?? 0);

const limit = messageLimit({
  limiter,
  // Whoever opens more connections has no more messages: they share the bucket of their key, or of their address.
  client: firstOf(apiKey({ isKnown }), address({ hops })),
  // Only a key gives a tier. Who has none is judged by the policies' default.
  tier: (request) => tiers.get(request.headers['x-api-key']),
  cost: byBytes(1024),
  // With JSON that says when to try again. Or 'drop', or 'close'.
  onRefusal: 'answer',
});

// node server.js [PORT]; 0 takes a free one.
const port = Number(process.argv[2] ?? 8080);
const server = new WebSocketServer({ port, host: '127.0.0.1', maxPayload: 64 * 1024 });

server.on('connection', (socket, request) => {
  socket.on('error', (error) => console.error(error.message));
  limit(request).wrap(socket, (data) => {
    socket.send(JSON.stringify({ uuid: randomUUID(), for: `${data}` }));
  });
});
server.on('listening', () => console.log(`ws://127.0.0.1:${server.address().port}/`));
