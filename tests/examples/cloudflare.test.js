// By wrangler dev: the wrangler that tests/runtime/wrangler/ installs stands in for the example's own.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { at } from '../../js/scripts/project.js';
import { onAnyPort, wranglerEnvironment, wranglerVersion } from '../runtime/wrangler/wrangler.js';
import { exampleProject } from './support/example.js';
import { Program } from './support/program.js';
import { ask, testUuidService } from './support/uuid-service.js';

const home = mkdtempSync(join(tmpdir(), 'tierlimit-wrangler-'));
after(() => rmSync(home, { recursive: true, force: true }));

test('cloudflare: the example asks for the wrangler that it is tried with', () => {
  const manifest = JSON.parse(readFileSync(at('js/examples/cloudflare/package.json'), 'utf8'));
  assert.equal(manifest.devDependencies.wrangler, `^${wranglerVersion}`);
});

const start = (/** @type {string[]} */ command) => [...command, '--', ...onAnyPort];
const env = wranglerEnvironment(home);

testUuidService('cloudflare', {
  onAnyPort: start,
  env,
  isInstalled: true,

  byAddress: false,

  async loading({ url }) {
    const policies = new URL('/policies', url).href;
    const put = (/** @type {string} */ body, key = 'operator-key') =>
      ask(policies, key, { method: 'PUT', body, headers: { 'x-api-key': key } });

    // Nobody else changes them.
    for (const key of ['acme-key', 'nobody-key', '']) {
      assert.equal((await put('{}', key)).status, 403, key);
    }

    let revision = 1;
    return {
      async loads(text) {
        const response = await put(text);
        revision += 1;
        assert.deepEqual([response.status, (await response.json()).revision], [200, revision]);
      },
      async refuses(text) {
        const response = await put(text);
        const { line, column } = await response.json();
        assert.deepEqual([response.status, line, column], [400, 1, 14]);
      },
    };
  },
});

test('cloudflare: another isolate begins with the policies that were put last', async (t) => {
  const { project, command } = await exampleProject('cloudflare');
  t.after(() => project.remove());

  /** @param {(url: string) => Promise<void>} body */
  async function withIsolate(body) {
    const [file, ...args] = start(command);
    const program = new Program(file, args, { cwd: project.folder, env });
    try {
      const [address] = await program.says(/http:\/\/127\.0\.0\.1:\d+/);
      await body(address);
    } finally {
      await program.stop();
    }
  }

  await withIsolate(async (url) => {
    const free = { capacity: 2, refillPerSecond: 0 };
    const body = JSON.stringify({ default: free, tiers: { free, pro: free } });
    const headers = { 'x-api-key': 'operator-key' };
    const put = await ask(`${url}/policies`, undefined, { method: 'PUT', headers, body });
    assert.equal(put.status, 200, await put.text());
  });
  await withIsolate(async (url) => {
    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await ask(`${url}/uuid`, 'globex-key')).status);
    assert.deepEqual(statuses, [200, 200, 429, 429]);
  });
});
