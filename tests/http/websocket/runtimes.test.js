// The limiting of messages over the WebSockets of Deno, Bun and workerd.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bun } from '../../runtime/bun/binary.js';
import { deno } from '../../runtime/deno/binary.js';
import { bundle, newestDate, serve } from '../../runtime/workerd/bare.js';
import { Server } from '../../runtime/workerd/server.js';
import { packages } from '../packages/packages.js';

const { WebSocket } = packages('ws');

/** Both are limited to 2 messages of each client, of which those that say `end` are none. */
const limits = `
  import { TierLimiter } from 'tierlimit';
  import { messageLimit } from 'tierlimit/websocket';
  const policies = { default: { capacity: 2, refillPerSecond: 0 } };
  const client = (request, source) => source.header('x-client') ?? source.address;
  const cost = (message) => (message === 'end' ? 0 : 1);
  const limitOf = (onRefusal) => {
    let limiter;
    return (...about) => {
      limiter ??= messageLimit({ limiter: new TierLimiter({ policies }), client, cost, onRefusal });
      return limiter(...about);
    };
  };
  const limits = { '/answer': limitOf('answer'), '/close': limitOf('close') };
  const limit = (request, about) => limits[new URL(request.url).pathname](request, about);`;

const programs = {
  deno: `${limits}
    const onListen = ({ port }) => console.log('listens at ' + port);
    Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, (request, info) => {
      const connection = limit(request, info);
      const { socket, response } = Deno.upgradeWebSocket(request);
      connection.wrap(socket, ({ data }) => socket.send('got ' + data));
      return response;
    });`,
  bun: `${limits}
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request, server) => {
        server.upgrade(request, { data: limit(request, server) });
      },
      websocket: {
        message(socket, message) {
          if (socket.data.admits(message, socket)) socket.send('got ' + message);
        },
      },
    });
    console.log('listens at ' + server.port);`,
  workerd: `${limits}
    export default {
      fetch(request) {
        const [theirs, ours] = Object.values(new WebSocketPair());
        ours.accept();
        limit(request).wrap(ours, ({ data }) => ours.send('got ' + data));
        return new Response(null, { status: 101, webSocket: theirs });
      },
    };`,
};

let project;
before(async () => {
  project = await makeProject();
  project.write({
    'deno.js': programs.deno,
    'bun.js': programs.bun,
    'worker.js': programs.workerd,
  });
});
after(() => project?.remove());

/** @type {Record<string, () => Promise<Server>>} */
const starts = {
  Deno: async () => {
    const args = ['run', '--no-prompt', '--allow-net=127.0.0.1', 'deno.js'];
    const server = new Server(deno.path, args, { cwd: project.folder });
    await server.started(/listens at (\d+)/);
    return server;
  },
  Bun: async () => {
    const args = ['run', '--no-install', 'bun.js'];
    const server = new Server(bun.path, args, { cwd: project.folder });
    await server.started(/listens at (\d+)/);
    return server;
  },
  workerd: async () => {
    const folder = await bundle(project, 'bundle', ['worker.js']);
    return serve(project, folder, { main: 'worker.js', date: await newestDate(project) });
  },
};

for (const [name, { skip, hasAddress }] of Object.entries({
  Deno: { skip: deno.skip, hasAddress: true },
  Bun: { skip: bun.skip, hasAddress: true },
  workerd: { skip: false, hasAddress: false },
})) {
  describe(name, { skip }, () => {
    let server;
    before(async () => {
      server = await starts[name]();
    });
    after(() => server?.stop());

    /**
     * @param {string} path
     * @param {string} [client]
     */
    async function connect(path, client) {
      const headers = client === undefined ? {} : { 'X-Client': client };
      const socket = new WebSocket(`${server.url}${path}`, { headers });
      const heard = [];
      socket.on('message', (data) => heard.push(String(data)));
      const closed = new Promise((resolve) => {
        socket.on('close', (status, reason) => resolve([status, String(reason)]));
      });
      await server.until(once(socket, 'open'), 'a WebSocket');
      return { socket, heard, closed };
    }

    for (const client of hasAddress ? ['acme', undefined] : ['acme']) {
      test(`messages of ${client ?? 'an address'}: two are admitted, others answered`, async () => {
        const { socket, heard } = await connect('/answer', client);
        for (const message of ['a', 'b', 'c', 'end']) socket.send(message);
        while (heard.at(-1) !== 'got end') await server.until(once(socket, 'message'), 'an answer');
        socket.terminate();
        const denied = { error: 'rate-limited', reason: 'denied', limit: 'main' };
        assert.deepEqual(heard, [
          ...['got a', 'got b'],
          JSON.stringify({ ...denied, retryAfterMs: null }),
          'got end',
        ]);
      });
    }

    test('what is refused closes the connection', async () => {
      const { socket, heard, closed } = await connect('/close', 'acme');
      // No more: Deno resets a connection that it closes while there is something to read.
      for (const message of ['a', 'b', 'c']) socket.send(message);
      assert.deepEqual(await server.until(closed, 'the end'), [1008, 'rate limit: denied']);
      assert.deepEqual(heard, ['got a', 'got b']);
    });
  });
}
