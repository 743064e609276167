// The Express adapter, with Express 4.
import { createServer } from 'node:http';

import { expressApp } from '../app/express-app.js';
import { expressTests } from '../app/express-tests.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { contract } from '../contract.js';
import { packages } from '../packages/packages.js';

const express = packages('express4');

contract({
  name: 'Express 4',
  start: async (setup) => {
    const world = new World(setup);
    return running(createServer(expressApp(express, world)), world);
  },
});

expressTests(express);
