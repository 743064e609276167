// The fetch adapter around what @hono/node-server serves: there it writes to Node's own response.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rateLimit } from 'tierlimit/fetch';
import { rateLimit as inHono } from 'tierlimit/hono';

import { fetchApp } from '../app/fetch-app.js';
import { clientOf, limiterOf } from '../app/own.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { HttpClient } from '../client.js';
import { contract } from '../contract.js';
import { load } from '../packages/packages.js';

const { Hono } = await load('hono');
const { createAdaptorServer } = await load('@hono/node-server');

contract({
  name: 'fetch handler on @hono/node-server',
  start: async (setup) => {
    const world = new World(setup);
    return running(createAdaptorServer({ fetch: fetchApp(world) }), world);
  },
});

test('around an app of Hono: the address of the peer, and the fields of a limiter inside', async (t) => {
  const told = [];
  const limited = rateLimit({
    limiter: limiterOf(5),
    headers: { name: 'all' },
    onDecision: (_decision, { client }) => told.push(client),
  });
  const app = new Hono();
  app.use('/inner', inHono({ limiter: limiterOf(1), client: clientOf }));
  app.get('/inner', (c) => c.text('hello'));
  app.get('/', (c) => c.text('hello'));
  const { url, close } = await running(createAdaptorServer({ fetch: limited(app.fetch) }));
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  for (const [path, status, fields] of [
    ['/', 200, '"all";r=4'],
    ['/inner', 200, '"all";r=3, "main";r=0'],
    ['/inner', 429, '"all";r=2, "main";r=0'],
    ['/nowhere', 404, '"all";r=1'],
  ]) {
    const { status: got, headers } = await http.ask(path, {});
    assert.deepEqual([got, headers.ratelimit], [status, fields]);
  }
  assert.deepEqual(told, Array(4).fill('ip:127.0.0.1'));
});
