// npm start: the demo, in an edge runtime on this machine. Its options go through: npm start -- --port 9000
import { buildModule } from './builds.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

await prepared(async () => {
  await setUp('start');
  await buildModule();
});
await import('../src/demo/serve.js');
