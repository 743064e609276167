// A server of a framework, which says its port.
// node tests/bench/load/server.js express|fastify|hono bare|empty|fields|head|tierlimit|usual|around|empty-around
import { frameworks } from './frameworks.js';

const [framework, limiter] = process.argv.slice(2);
const server = await frameworks[framework](limiter);
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(port);
});
