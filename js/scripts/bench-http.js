// npm run bench:http: brings wrk and the frameworks, and measures what a limiter costs a server. Options go through to
// tests/bench/load/main.js.
import { spawnSync } from 'node:child_process';

import { buildModule } from './builds.js';
import { benchFolder } from './npm-packages.js';
import { at } from './project.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

await prepared(async () => {
  await setUp('load');
  await buildModule();
});
const args = [at(benchFolder, 'load/main.js'), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
process.exitCode = status ?? 1;
