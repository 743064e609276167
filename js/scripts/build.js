// npm run build, and npm pack before it packs: js/dist/, which is the WebAssembly module and the types.
import { buildModule, buildTypes } from './builds.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

await prepared(async () => {
  await setUp('build');
  await buildModule();
  await buildTypes();
});
