/** Jest: a project whose tests import the package, as ES modules, which Jest runs in a context of its own. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { at } from '../../../js/scripts/project.js';
import { run } from '../../../js/scripts/run.js';
import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';

const installed = (name) => at('tests/runtime/jest/node_modules', name);
const { version } = JSON.parse(readFileSync(installed('jest/package.json'), 'utf8'));

let project;
before(async () => {
  project = await makeProject({ manifest: { type: 'module', jest: { transform: {} } } });
  project.copy('tests/contract/limiter.js', 'contract.js');
  project.write({
    'contract.test.js': `
      import * as tierlimit from 'tierlimit';
      import { contract } from './contract.js';

      const outcomes = Object.entries(contract(tierlimit));
      test.each(outcomes)('%s', (name, outcome) => expect(outcome).toBe('ok'));`,
  });
});
after(() => project?.remove());

test('Jest', async (t) => {
  const report = project.at('report.json');
  const { status, output } = await run(
    process.execPath,
    [
      '--experimental-vm-modules',
      installed('jest/bin/jest.js'),
      `--rootDir=${project.folder}`,
      '--json',
      `--outputFile=${report}`,
      `--cacheDirectory=${project.at('cache')}`,
    ],
    { cwd: project.folder, env: { NO_COLOR: '1', NODE_TEST_CONTEXT: undefined }, seconds: 240 },
  );
  assert.ok(existsSync(report), `exit status ${status}\n${output}`);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const outcomes = Object.fromEntries(
    testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .map(({ title, status: verdict, failureMessages }) => [
        title,
        verdict === 'passed' ? 'ok' : `${verdict}: ${failureMessages.join('\n')}`,
      ]),
  );
  conclude(t, { runtime: 'Jest', version, outcomes });
  assert.equal(status, 0, output);
});
