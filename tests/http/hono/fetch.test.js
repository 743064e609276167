// The fetch adapter around what @hono/node-server serves: there it writes to Node's own response.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { rateLimit } from 'tierlimit/fetch';
import { rateLimit as inHono } from 'tierlimit/hono';
import { rateLimit as onNode } from 'tierlimit/node';

import { fetchApp } from '../app/fetch-app.js';
import { clientOf, limiterOf } from '../app/own.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { HttpClient } from '../client.js';
import { contract } from '../contract.js';
import { load } from '../packages/packages.js';

const { Hono } = await load('hono');
const { createAdaptorServer, getRequestListener } = await load('@hono/node-server');

contract({
  name: 'fetch handler on @hono/node-server',
  start: async (setup) => {
    const world = new World(setup);
    return running(createAdaptorServer({ fetch: fetchApp(world) }), world);
  },
});

/**
 * @param {import('node:test').TestContext} t
 * @param {import('node:http').Server} server
 */
async function open(t, server) {
  const { url, close } = await running(server);
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  return http.ask.bind(http);
}

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
  const ask = await open(t, createAdaptorServer({ fetch: limited(app.fetch) }));
  for (const [path, status, fields] of [
    ['/', 200, '"all";r=4'],
    ['/inner', 200, '"all";r=3, "main";r=0'],
    ['/inner', 429, '"all";r=2, "main";r=0'],
    ['/nowhere', 404, '"all";r=1'],
  ]) {
    const { status: got, headers } = await ask(path, {});
    assert.deepEqual([got, headers.ratelimit], [status, fields]);
  }
  assert.deepEqual(told, Array(4).fill('ip:127.0.0.1'));
});

test('inside a limiter of the server: both are told of, also in a refusal', async (t) => {
  const limited = rateLimit({ limiter: limiterOf(1), client: () => 'acme' });
  const outer = onNode({ limiter: limiterOf(9), client: clientOf, headers: { name: 'all' } });
  const listener = getRequestListener(limited(() => new Response('hello')));
  const ask = await open(t, createServer(outer(listener)));
  for (const [status, fields] of [
    [200, '"all";r=8, "main";r=0'],
    [429, '"all";r=7, "main";r=0'],
  ]) {
    const { status: got, headers } = await ask('/', {});
    assert.deepEqual([got, headers.ratelimit], [status, fields]);
  }
});

test('what an option for the fields throws is thrown where the request comes in', async (t) => {
  const partitionKey = () => {
    throw new Error('no key');
  };
  const limited = rateLimit({
    limiter: limiterOf(5),
    client: () => 'acme',
    headers: { partitionKey },
  });
  const seen = [];
  const fetch = async (...args) => {
    try {
      return await limited(() => new Response('hello'))(...args);
    } catch (error) {
      seen.push(error.message);
      return new Response('caught', { status: 500 });
    }
  };
  const ask = await open(t, createAdaptorServer({ fetch }));
  const { status, text } = await ask('/', {});
  assert.deepEqual([status, text, seen], [500, 'caught', ['no key']]);
});
