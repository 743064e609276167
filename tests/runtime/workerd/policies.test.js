// Policies from a URL and from a KV namespace in workerd, where I/O belongs to the request that began it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bundle, dates, serve } from './bare.js';
import { Upstream } from './upstream.js';

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/runtime/workerd/workers', '.');
  await bundle(project, 'policies', ['policies.js']);
});
after(() => project?.remove());

const text = (capacity) => JSON.stringify({ default: { capacity, refillPerSecond: 0 } });

/** @type {Record<string, (worker: import('./server.js').Server, upstream: Upstream) => Promise<void>>} */
const scenarios = {
  'a source is made at module scope, and uses nothing there': async (worker) => {
    const { usedToMake, outcome, limit } = await worker.json('/url/peek');
    assert.deepEqual([usedToMake, outcome, limit], [[], null, 1]);
  },

  'requests are answered while one of them looks, and the look outlives it': async (
    worker,
    upstream,
  ) => {
    // The document is not there yet when the request is over, and neither is it for those that come meanwhile.
    assert.equal((await worker.json('/url/wait-until?now=0')).limit, 1);
    const asked = await upstream.next(worker);
    assert.equal((await worker.json('/url/wait-until?now=5000')).limit, 1);
    assert.equal((await worker.json('/url/await')).outcome, 'under-way');
    asked.setHeader('etag', '"five"').end(text(5));
    let answer = await worker.json('/url/peek');
    for (let tries = 0; tries < 1000 && answer.limit === 1; tries += 1) {
      answer = await worker.json('/url/peek');
    }
    assert.deepEqual([answer.limit, answer.status.version], [5, '"five"']);

    // The next look, of another request, sends the ETag that this one was given.
    const next = worker.json('/url/await?now=6000');
    const again = await upstream.next(worker);
    assert.equal(again.req.headers['if-none-match'], '"five"');
    again.writeHead(304).end();
    const { outcome, limit, status } = await next;
    assert.deepEqual([outcome, limit, status.revision], ['unchanged', 5, 2]);
  },

  'a document that is refused, and a server that fails, change nothing': async (
    worker,
    upstream,
  ) => {
    for (const [now, body, outcome] of [
      [0, text(5), 'applied'],
      [1000, text(6).slice(1), 'refused'],
      [2000, null, 'unreadable'],
    ]) {
      const answer = worker.json(`/url/await?now=${now}`);
      const asked = await upstream.next(worker);
      if (body === null) asked.writeHead(503).end();
      else asked.end(body);
      const { limit, status, ...rest } = await answer;
      assert.deepEqual([rest.outcome, limit], [outcome, 5]);
      if (body !== null) continue;
      assert.match(status.refused.error, /^policies refused: .*line 1, column/);
      assert.equal(
        status.unreadable.error,
        'http://upstream/policies.json answered with status 503',
      );
      assert.ok(status.refused.sinceMs <= status.unreadable.sinceMs);
    }
  },

  'metrics tell what was decided, and where the source stands': async (worker) => {
    await worker.ask('/metrics');
    const { headers, text: metrics } = await worker.ask('/metrics');
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    for (const line of [
      'tierlimit_decisions_total{tier="none",limit="main",outcome="allowed"} 1',
      'tierlimit_decisions_total{tier="none",limit="main",outcome="never-refills"} 1',
      'tierlimit_buckets 1',
      'tierlimit_policy_refused 0',
    ]) {
      assert.ok(metrics.split('\n').includes(line), metrics);
    }
  },

  'a look that ended with its request counts as lost when its time is over': async (
    worker,
    upstream,
  ) => {
    const left = worker.json('/url/leave?now=0');
    // The request is over when the test says so, which is when its look is under way.
    const both = [await upstream.next(worker), await upstream.next(worker)];
    const [lost, over] = both.toSorted((a, b) => a.req.url.localeCompare(b.req.url));
    assert.deepEqual([lost.req.url, over.req.url], ['/policies.json', '/until-told']);
    const closed = once(lost, 'close');
    over.end();
    assert.equal((await left).limit, 1);
    await worker.until(closed, 'the end of what the request left behind');
    assert.equal((await worker.json('/url/await?now=59999')).outcome, 'under-way');
    const answer = worker.json('/url/await?now=60000');
    const asked = await upstream.next(worker);
    asked.end(text(5));
    const { outcome, limit } = await answer;
    assert.deepEqual([outcome, limit], ['applied', 5]);
  },

  'KV, with a version beside the document: an older one after a newer one is not put in force':
    async (worker, upstream) => {
      let now = 0;
      const look = async (respond) => {
        now += 1000;
        const answer = worker.json(`/kv/await?now=${now}`);
        const asked = await upstream.next(worker);
        // As workerd asks what keeps its KV.
        assert.equal(asked.req.method, 'GET');
        assert.match(decodeURIComponent(asked.req.url), /^\/limits\/for all\?/);
        respond(asked);
        const { outcome, limit, status } = await answer;
        return { outcome, limit, status };
      };
      const versioned = (capacity, version) => (asked) =>
        asked.setHeader('cf-kv-metadata', JSON.stringify({ version })).end(text(capacity));
      assert.equal(
        (await look((asked) => asked.writeHead(404).end())).status.unreadable.error,
        'there is no key "limits/for all"',
      );
      const first = await look(versioned(5, 1));
      assert.deepEqual([first.outcome, first.limit, first.status.version], ['applied', 5, 1]);
      const second = await look(versioned(6, 2));
      assert.deepEqual([second.outcome, second.limit], ['applied', 6]);
      const older = await look(versioned(5, 1));
      assert.deepEqual([older.outcome, older.limit, older.status.version], ['outdated', 6, 2]);
      assert.equal(older.status.refused.error, 'version 1 is older than 2, which came before it');
      const same = await look(versioned(6, 2));
      assert.deepEqual([same.outcome, same.status.refused], ['unchanged', null]);
      const unversioned = await look((asked) => asked.end(text(7)));
      assert.deepEqual([unversioned.outcome, unversioned.limit], ['applied', 7]);
      const large = await look((asked) => asked.end(' '.repeat(2 ** 20 + 1)));
      assert.deepEqual([large.outcome, large.limit], ['unreadable', 7]);
      assert.equal(
        large.status.unreadable.error,
        'key "limits/for all" has more than 1048576 bytes (see maxBytes)',
      );
    },
};

for (const [age, dateOf] of dates) {
  for (const [name, scenario] of Object.entries(scenarios)) {
    test(`${name}, ${age} date`, async () => {
      const upstream = new Upstream();
      await upstream.start();
      let worker;
      try {
        worker = await serve(project, 'policies', {
          main: 'policies.js',
          date: await dateOf(project),
          upstream: upstream.address,
          kv: 'POLICIES',
        });
        await scenario(worker, upstream);
      } finally {
        await worker?.stop();
        upstream.stop();
      }
    });
  }
}
