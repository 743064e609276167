// The fetch adapter in a worker.
import { contractInWorker } from '../worker.js';

contractInWorker(
  'a worker',
  `
  import { controlled } from './app/controlled.js';
  import { fetchApp } from './app/fetch-app.js';
  export default { fetch: controlled(fetchApp) };`,
);
