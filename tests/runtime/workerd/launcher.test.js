import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { launch } from './demo.js';

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`${signal} ends the launcher with status 0, and workerd with it`, async () => {
    const demo = launch(['--port', '0']);
    const url = await demo.url;
    assert.ok(url, demo.output());
    assert.equal((await fetch(`${url}/api/stats`)).status, 200);

    demo.signal(signal);
    assert.equal(await demo.ended, 0, demo.output());
    await assert.rejects(fetch(`${url}/api/stats`), ({ cause }) => cause.code === 'ECONNREFUSED');
  });
}

test('a request that does not end does not keep the launcher alive', async () => {
  const demo = launch(['--port', '0']);
  const url = await demo.url;
  assert.ok(url, demo.output());
  // A body of which the rest never comes: workerd waits for it.
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  socket.write('PUT /api/policies HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{');
  await fetch(`${url}/api/stats`);

  demo.signal('SIGINT');
  assert.equal(await demo.ended, 0, demo.output());
  socket.destroy();
});

const children = (pid) => `/proc/${pid}/task/${pid}/children`;
const noProc = existsSync(children(process.pid)) ? false : 'this system does not list children';

test('an end of workerd that nobody asked for is reported', { skip: noProc }, async () => {
  const demo = launch(['--port', '0']);
  assert.ok(await demo.url, demo.output());
  const [workerd, ...others] = readFileSync(children(demo.pid), 'utf8').trim().split(' ');
  assert.deepEqual(others, [], 'workerd is all that runs beside the launcher');
  process.kill(Number(workerd), 'SIGKILL');
  assert.equal(await demo.ended, 1);
  assert.match(demo.output(), /workerd has ended \(SIGKILL\)/);
});

test('a taken port is one line that names it and offers another', async () => {
  const other = createServer();
  await new Promise((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  const { port } = other.address();
  const demo = launch(['--port', `${port}`]);
  assert.equal(await demo.ended, 1);
  assert.match(demo.output(), new RegExp(`^Port ${port} on 127.0.0.1 is taken.*--port \\d+\\n$`));
  other.close();
});

test('bad options are named and the usage is shown', async () => {
  for (const [args, complaint] of [
    [['--port', '65536'], /from 0 to 65535, not "65536"/],
    [['--port', 'http'], /from 0 to 65535, not "http"/],
    [['--prot', '1'], /--prot/],
  ]) {
    const demo = launch(args);
    assert.equal(await demo.ended, 2);
    assert.match(demo.output(), complaint);
    assert.match(demo.output(), /Usage: npm start/);
  }
});

test('an address of another machine is named', async () => {
  const demo = launch(['--port', '0', '--host', '192.0.2.1']);
  assert.equal(await demo.ended, 1);
  assert.match(demo.output(), /^"192\.0\.2\.1" is not an address of this machine/);
});
