// npm run bench: builds what is measured, brings what it is measured against, and measures. Options go through:
// npm run bench -- --help
import { spawnSync } from 'node:child_process';

import { buildModule } from './builds.js';
import { benchFolder, installNpmPackages } from './npm-packages.js';
import { at } from './project.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

await prepared(async () => {
  await setUp('build');
  await installNpmPackages(benchFolder);
  await buildModule();
});
// In a process that has done nothing else, with its garbage collector at hand.
const { status } = spawnSync(
  process.execPath,
  [
    '--expose-gc',
    '--max-old-space-size=4096',
    at(benchFolder, 'main.js'),
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
