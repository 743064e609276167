// The Fastify adapter.
import { fastifyApp } from '../app/fastify-app.js';
import { World } from '../app/world.js';
import { contract } from '../contract.js';
import { packages } from '../packages/packages.js';

const fastify = packages('fastify');

contract({
  name: 'Fastify 5',
  start: async (setup) => {
    const world = new World(setup);
    const app = fastifyApp(fastify, world);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, control: async (command) => world.control(command), close: () => app.close() };
  },
});
