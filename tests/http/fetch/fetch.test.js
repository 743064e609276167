// The fetch adapter, on Node's http server.
import { once } from 'node:events';

import { fetchApp } from '../app/fetch-app.js';
import { World } from '../app/world.js';
import { contract } from '../contract.js';
import { serverOf } from './bridge.js';

contract({
  name: 'fetch handler',
  start: async (setup) => {
    const world = new World(setup);
    const server = serverOf(fetchApp(world)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${server.address().port}`,
      control: async (command) => world.control(command),
      close: () => server.close(),
    };
  },
});
