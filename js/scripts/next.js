// npm run test:next: builds an app with Next.js that has the package from the tarball, by both bundlers, for both of its
// runtimes, and asks it. No part of `npm test`: it takes minutes and a third of a gigabyte.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';

import { buildModule, buildTarball, buildTypes } from './builds.js';
import { installNpmPackages, nextFolder } from './npm-packages.js';
import { at } from './project.js';
import { setUp } from './setup.js';
import { prepared } from './step.js';

const folder = '.build/next';

await prepared(async () => {
  await setUp('build');
  await buildModule();
  await buildTypes();
  await buildTarball();
  mkdirSync(at(folder), { recursive: true });
  // What was taken out of the app, or built of it before, is not to be served.
  for (const name of ['app', 'built-webpack', 'built-turbopack']) {
    rmSync(at(folder, name), { recursive: true, force: true });
  }
  for (const name of ['package.json', 'package-lock.json', 'next.config.mjs', 'app']) {
    cpSync(at(nextFolder, name), at(folder, name), { recursive: true });
  }
  cpSync(at('tests/contract/limiter.js'), at(folder, 'contract.js'));
  await installNpmPackages(folder);
});
const { status } = spawnSync(process.execPath, [at(nextFolder, 'main.mjs'), at(folder)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
