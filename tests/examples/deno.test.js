import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after } from 'node:test';

import { deno, denoEnvironment } from '../runtime/deno/binary.js';
import { ask, testUuidService } from './support/uuid-service.js';

const cache = mkdtempSync(join(tmpdir(), 'tierlimit-deno-'));
after(() => rmSync(cache, { recursive: true, force: true }));

testUuidService('deno', {
  onAnyPort: (command) => [...command, '0'],
  env: {
    ...denoEnvironment(cache),
    PATH: `${dirname(deno.path)}${delimiter}${process.env.PATH}`,
    // In place of the dialogue in which a permission that is missing could be given.
    DENO_NO_PROMPT: '1',
  },
  skip: deno.skip,

  async loading({ url }) {
    const policies = new URL('/policies', url).href;
    const put = (/** @type {string} */ body, key = 'operator-key') =>
      ask(policies, key, { method: 'PUT', body, headers: { 'x-api-key': key } });

    // Nobody else changes them.
    assert.equal((await put('{}', 'acme-key')).status, 404);
    assert.equal((await put('{}', 'nobody-key')).status, 401);

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
