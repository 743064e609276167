// npm run bench: builds what is measured, brings what it is measured against, and measures. Options go through:
// npm run bench -- --help
import { spawnSync } from 'node:child_process';

import { options } from '../../tests/bench/options.js';
import { buildBench, buildModule } from './builds.js';
import { benchFolder } from './npm-packages.js';
import { at } from './project.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

const args = process.argv.slice(2);
await prepared(async () => {
  // What is asked for is understood before anything is built for it.
  if (options(args).help) return;
  await setUp('bench');
  await buildModule();
  await buildBench();
});
// In a process that has done nothing else, with its garbage collector at hand.
const { status } = spawnSync(
  process.execPath,
  ['--expose-gc', '--max-old-space-size=4096', at(benchFolder, 'main.js'), ...args],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
