// The fetch adapter and Hono's in Bun, behind Bun.serve and behind its http module, which is not quite Node's.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bun } from '../../runtime/bun/binary.js';
import { Server } from '../../runtime/workerd/server.js';
import { contractServed } from '../served.js';

contractServed(
  'Bun.serve',
  bun,
  ['run', '--no-install'],
  `
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  console.log('listens at ' + server.port);`,
);

test("fields are sent by Bun's own http module too", { skip: bun.skip }, async (t) => {
  const project = await makeProject();
  project.copy(
    'tests/http/packages/node_modules/@hono/node-server',
    'node_modules/@hono/node-server',
  );
  project.copy('tests/http/packages/node_modules/hono', 'node_modules/hono');
  project.write({
    'server.js': `
      import { createServer } from 'node:http';
      import { getRequestListener } from '@hono/node-server';
      import { TierLimiter } from 'tierlimit';
      import { rateLimit } from 'tierlimit/fetch';
      const limiter = new TierLimiter({ policies: { default: { capacity: 2, refillPerSecond: 0 } } });
      const limited = rateLimit({ limiter, client: () => 'acme' });
      const server = createServer(getRequestListener(limited(() => new Response('hello'))));
      server.listen(0, '127.0.0.1', () => console.log('listens at ' + server.address().port));`,
  });
  const server = new Server(bun.path, ['run', '--no-install', 'server.js'], {
    cwd: project.folder,
  });
  t.after(async () => {
    await server.stop();
    project.remove();
  });
  await server.started(/listens at (\d+)/);
  const { headers } = await fetch(server.url);
  assert.equal(headers.get('RateLimit'), '"main";r=1');
  assert.equal(headers.get('RateLimit-Policy'), '"main";q=2');
});
