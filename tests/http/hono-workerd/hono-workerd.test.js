// The Hono adapter in a worker.
import { fileURLToPath } from 'node:url';

import { contractInWorker } from '../worker.js';

const hono = fileURLToPath(new URL('../packages/node_modules/hono/dist/index.js', import.meta.url));

contractInWorker(
  'Hono 4 in a worker',
  `
  import { Hono } from 'hono';
  import { controlled } from './app/controlled.js';
  import { honoApp } from './app/hono-app.js';
  export default { fetch: controlled((world) => honoApp(Hono, world).fetch) };`,
  [`--alias:hono=${hono}`],
);
