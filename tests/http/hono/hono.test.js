// The Hono adapter, on Node's http server by way of @hono/node-server.
import { honoApp } from '../app/hono-app.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { contract } from '../contract.js';
import { load } from '../packages/packages.js';

const { Hono } = await load('hono');
const { createAdaptorServer } = await load('@hono/node-server');

contract({
  name: 'Hono 4 on Node',
  start: async (setup) => {
    const world = new World(setup);
    return running(createAdaptorServer({ fetch: honoApp(Hono, world).fetch }), world);
  },
});
