// npm run bench: builds what is measured, brings what it is measured against, and measures. Options go through:
// npm run bench -- --help
import { spawnSync } from 'node:child_process';

import { buildBench, buildModule } from './builds.js';
import { benchFolder } from './npm-packages.js';
import { at } from './project.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

const options = process.argv.slice(2);
if (!options.includes('--help')) {
  await prepared(async () => {
    await setUp('bench');
    await buildModule();
    await buildBench();
  });
}
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
