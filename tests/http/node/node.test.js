// The adapter for Node's own servers.
import { createServer } from 'node:http';

import { nodeApp } from '../app/node-app.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { contract } from '../contract.js';

contract({
  name: 'node:http',
  start: async (setup) => {
    const world = new World(setup);
    return running(createServer(nodeApp(world)), world);
  },
});
