// A server of Node's that runs, as the tests want it.
import { once } from 'node:events';

/**
 * @param {import('node:net').Server} server
 * @param {import('./world.js').World} [world]
 * @returns {Promise<import('../contract.js').Running>}
 */
export async function running(server, world) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    control: async (command) => world.control(command),
    close: () => {
      server.close();
      server.closeAllConnections?.();
    },
  };
}
