// npm run build, and npm pack before it packs: the WebAssembly module in js/dist/.
import { buildModule } from './builds.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

await prepared(async () => {
  await setUp('build');
  await buildModule();
});
