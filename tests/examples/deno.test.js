import assert from 'node:assert/strict';

import { deno } from '../runtime/deno/binary.js';
import { environment } from './support/environment.js';
import { ask, testUuidService } from './support/uuid-service.js';

testUuidService('deno', {
  onAnyPort: (command) => [...command, '0'],
  env: {
    ...environment(deno.path),
    DENO_NO_UPDATE_CHECK: '1',
    // In place of the dialogue in which a permission that is missing could be given.
    DENO_NO_PROMPT: '1',
  },
  skip: deno.skip,

  byAddress: false,

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
