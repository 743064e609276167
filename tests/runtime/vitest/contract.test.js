/** Vitest: projects whose tests import the package, in its environments and ways to run. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { at } from '../../../js/scripts/project.js';
import { run } from '../../../js/scripts/run.js';
import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';

const installed = (name) => at('tests/runtime/vitest/node_modules', name);
const { version } = JSON.parse(readFileSync(installed('vitest/package.json'), 'utf8'));

/** Ways to run tests: what a project's configuration says, and what is true there alone. */
const ways = {
  node: [{}, 'globalThis.document === undefined'],
  // The package goes through Vite's own transformation, which renames what is imported.
  inline: [{ server: { deps: { inline: ['tierlimit'] } } }, '/__vi/.test(`${TierLimiter}`)'],
  // Every file in a context of its own, whose globals are not those of Node's modules.
  vmThreads: [{ pool: 'vmThreads' }, '!(process.versions instanceof Object)'],
  jsdom: [{ environment: 'jsdom' }, 'document.querySelector("body") !== null'],
  'edge-runtime': [{ environment: 'edge-runtime' }, 'typeof EdgeRuntime === "string"'],
};

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/contract/limiter.js', 'contract.js');
  for (const [how, [options, trueThere]] of Object.entries(ways)) {
    const configuration = {
      test: { ...options, include: [`${how}.test.js`], testTimeout: 120_000 },
    };
    project.write({
      [`${how}.config.js`]: `export default ${JSON.stringify(configuration)};`,
      [`${how}.test.js`]: `
        import * as tierlimit from 'tierlimit';
        import { TierLimiter } from 'tierlimit';
        import { expect, test } from 'vitest';
        import { contract } from './contract.js';

        test('${how}', () => expect(${trueThere}).toBe(true));
        const outcomes = Object.entries(contract(tierlimit));
        test.each(outcomes)('%s', (name, outcome) => expect(outcome).toBe('ok'));`,
    });
  }
  symlinkSync(installed('vitest'), project.at('node_modules/vitest'));
});
after(() => project?.remove());

for (const how of Object.keys(ways)) {
  test(`Vitest, ${how}`, async (t) => {
    const report = project.at(`${how}.json`);
    const { status, output } = await run(
      process.execPath,
      [
        installed('vitest/vitest.mjs'),
        'run',
        `--root=${project.folder}`,
        `--config=${how}.config.js`,
        '--reporter=json',
        `--outputFile=${report}`,
      ],
      { cwd: project.folder, env: { NO_COLOR: '1', NODE_TEST_CONTEXT: undefined }, seconds: 240 },
    );
    assert.ok(existsSync(report), `exit status ${status}\n${output}`);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const { [how]: place, ...outcomes } = Object.fromEntries(
      testResults
        .flatMap(({ assertionResults }) => assertionResults)
        .map(({ title, status: verdict, failureMessages }) => [
          title,
          verdict === 'passed' ? 'ok' : `${verdict}: ${failureMessages.join('\n')}`,
        ]),
    );
    assert.notDeepEqual(testResults, [], output);
    conclude(t, { runtime: `Vitest, ${how}`, version, outcomes });
    assert.deepEqual({ place, status }, { place: 'ok', status: 0 }, output);
  });
}
