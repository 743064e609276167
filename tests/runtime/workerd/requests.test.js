// Requests that meet in one isolate of workerd: the first ones at a time, and one that its client abandons.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bundle, dates, serve } from './bare.js';
import { Upstream } from './upstream.js';

const ways = ['made-at-module-scope', 'made-in-fetch', 'made-for-isolate'];

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/runtime/workerd/workers', '.');
  for (const way of ways) await bundle(project, way, [`${way}.js`]);
});
after(() => project?.remove());

/** Sends a request, and gives what abandons it: workerd takes notice of a connection that is reset. */
async function send(worker, path) {
  const { hostname, port } = new URL(worker.url);
  const socket = connect(Number(port), hostname);
  await worker.until(once(socket, 'connect'), 'a connection');
  socket.on('error', () => {}).write(`GET ${path} HTTP/1.1\r\nhost: worker\r\n\r\n`);
  return () => socket.resetAndDestroy();
}

/** Abandons a request, and waits until the runtime has ended what it had under way. */
async function abandon(worker, leave, underWay) {
  const closed = once(underWay, 'close');
  leave();
  await worker.until(closed, 'the end of what an abandoned request had under way');
}

const scenarios = {
  'the request that used it first is abandoned': async (worker, upstream) => {
    const leave = await send(worker, '/take-and-wait?times=3');
    const underWay = await upstream.next(worker);
    // While that one waits, and after it is no more.
    assert.equal((await worker.json('/take')).remaining, 16);
    await abandon(worker, leave, underWay);
    assert.deepEqual(await worker.json('/take?times=20'), {
      admitted: 16,
      remaining: 0,
      instances: 1,
    });

    // It was the request that is no more: what belongs to it is of no use to others.
    const { status, text } = await worker.ask('/kept');
    assert.ok(status === 500 || text === '"not settled"', text);
  },

  'it is first used when another request was abandoned': async (worker, upstream) => {
    const leave = await send(worker, '/wait-and-take');
    const underWay = await upstream.next(worker);
    const first = worker.json('/wait-and-take?times=4');
    const firstUnderWay = await upstream.next(worker);
    await abandon(worker, leave, underWay);
    firstUnderWay.end();
    assert.deepEqual(await first, { admitted: 4, remaining: 16, instances: 1 });
    assert.deepEqual(await worker.json('/take?times=20'), {
      admitted: 16,
      remaining: 0,
      instances: 1,
    });
  },

  'two first requests at a time share it': async (worker, upstream) => {
    const both = [worker.json('/wait-and-take?times=15'), worker.json('/wait-and-take?times=15')];
    const underWay = [await upstream.next(worker), await upstream.next(worker)];
    for (const response of underWay) response.end();
    const answers = await Promise.all(both);
    const admitted = answers.map((answer) => answer.admitted).sort();
    assert.deepEqual(admitted, [15, 5]);
    assert.equal((await worker.json('/take')).instances, 1);
  },
};

for (const way of ways) {
  for (const [age, dateOf] of dates) {
    for (const [name, scenario] of Object.entries(scenarios)) {
      test(`a limiter ${way.replaceAll('-', ' ')}, ${age} date: ${name}`, async () => {
        const upstream = new Upstream();
        await upstream.start();
        let worker;
        try {
          const date = await dateOf(project);
          const options = { main: `${way}.js`, date, upstream: upstream.address };
          worker = await serve(project, way, options);
          await scenario(worker, upstream);
        } finally {
          await worker?.stop();
          upstream.stop();
        }
      });
    }
  }
}
