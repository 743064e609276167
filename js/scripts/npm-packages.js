// Installing npm packages as a lock file says.
import { join } from 'node:path';

import { at, digest, filesIn } from './project.js';
import { run } from './run.js';
import { StepError, step } from './step.js';

/** What tierlimit is measured against is installed for that alone. */
export const benchFolder = 'tests/bench';

/** Next.js is larger than everything else together, and installed for `npm run test:next` alone. */
export const nextFolder = 'tests/runtime/next';

/** The folders of packages that only tests use: every other one under tests/ with a lock file. */
export const testPackageFolders = () =>
  filesIn('tests')
    .filter((path) => path.endsWith('/package-lock.json'))
    .map((path) => path.slice(0, -'/package-lock.json'.length))
    .filter((path) => path !== benchFolder && path !== nextFolder);

/**
 * Installs the packages of a folder that holds a package-lock.json.
 * @param {string} folder from the top folder; '' is the top folder
 */
export async function installNpmPackages(folder) {
  const path = (/** @type {string} */ name) => join(folder, name);
  await step(
    `npm packages of ${folder || 'the repository'}`,
    async () => {
      // Said on the command line, because this may run below an npm that was told otherwise: `npm pack --dry-run`
      // passes its options on to every npm below it, and NODE_ENV=production leaves out what builds and tests.
      const { status, output } = await run(
        'npm',
        [
          'ci',
          '--ignore-scripts',
          '--include=dev',
          '--dry-run=false',
          '--global=false',
          '--no-audit',
          '--no-fund',
          '--loglevel=error',
          `--prefix=${at(folder)}`,
        ],
        { cwd: at(folder) },
      );
      if (status !== 0) throw new StepError(`npm ci failed in ${at(folder)}:\n${output}`);
    },
    {
      digest: digest(
        [path('package.json'), path('package-lock.json')],
        process.platform,
        process.arch,
        process.versions.modules,
      ),
      results: [path('node_modules/.package-lock.json')],
    },
  );
}
