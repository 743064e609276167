/**
 * The worker in workerd, by real requests. Time is real here, so rates are such that it does not
 * count: none, one token in decades, or more tokens a millisecond than a bucket holds.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';

import { launch, startDemo } from './demo.js';

const FROZEN = { tokens: 1, seconds: 1e9 };
const INSTANT = 1e9;

let demo;
before(async () => {
  demo = await startDemo();
});
after(async () => {
  assert.equal(await demo.stop(), 0, demo.output());
});

async function call(path, options) {
  const response = await fetch(`${demo.url}${path}`, options);
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type'));
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : null,
  };
}

const put = (path, body) => call(path, { method: 'PUT', body });

/** Asks again until the answer is this, which takes as long as the clock takes to move. */
async function callUntil(status, path) {
  for (let tries = 0; tries < 1000; tries += 1) {
    const answer = await call(path);
    if (answer.status === status) return answer;
  }
  assert.fail(`${path} was not once answered with ${status}`);
}

async function apply(policies) {
  const { status, body } = await put('/api/policies', JSON.stringify(policies));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function statuses(path, times) {
  const all = [];
  for (let i = 0; i < times; i += 1) all.push((await call(path)).status);
  return all;
}

test('the worked case: five pass, the sixth is denied; more capacity gives nothing, less clamps', async () => {
  const limit = (capacity, rest) => ({ default: { capacity, ...rest } });
  await apply(limit(5, { refill: FROZEN }));
  const five = [];
  for (let i = 0; i < 5; i += 1) five.push(await call('/api/hello?client=s8'));
  assert.deepEqual(
    five.map(({ status, body }) => [status, body.decision.remaining]),
    [4, 3, 2, 1, 0].map((remaining) => [200, remaining]),
  );
  const sixth = await call('/api/hello?client=s8');
  assert.equal(sixth.status, 429);
  const { retryAfterMs, resetMs, windowMs, limits, ...decision } = sixth.body.decision;
  const { moreAfterMs } = limits[0];
  assert.deepEqual(decision, {
    allowed: false,
    limit: 5,
    remaining: 0,
    tier: null,
    limitName: 'main',
    reason: 'exhausted',
    fallback: 'no-tier',
  });
  assert.deepEqual(limits, [
    { name: 'main', limit: 5, remaining: 0, retryAfterMs, resetMs, windowMs, moreAfterMs },
  ]);
  assert.equal(moreAfterMs, retryAfterMs);
  assert.ok(retryAfterMs > 0 && retryAfterMs <= 1e12, `${retryAfterMs}`);
  assert.ok(resetMs > retryAfterMs, `${resetMs}`);
  assert.equal(sixth.headers.get('retry-after'), `${Math.ceil(retryAfterMs / 1000)}`);

  await apply(limit(10, { refill: FROZEN }));
  const raised = await call('/api/hello?client=s8');
  assert.deepEqual(
    [raised.status, raised.body.decision.remaining, raised.body.decision.limit],
    [429, 0, 10],
  );

  // At the new rate it grows from where it was, to the new capacity and no further.
  await apply(limit(10, { refillPerSecond: INSTANT }));
  const grown = await callUntil(200, '/api/hello?client=s8');
  assert.equal(grown.body.decision.remaining, 9);

  await apply(limit(2, { refill: FROZEN }));
  const clamped = await call('/api/hello?client=s8');
  assert.deepEqual([clamped.status, clamped.body.decision.remaining], [200, 1]);
});

test('answers say what is left in their header fields, a denial in a problem document too', async () => {
  const limits = [
    { name: 'burst', capacity: 2, refillPerSecond: 0 },
    { name: 'daily', capacity: 9, refillPerSecond: 0 },
  ];
  await apply({ default: { limits } });
  const fields = ({ headers }) =>
    ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name));
  const policy = '"burst";q=2, "daily";q=9';
  for (const left of ['"burst";r=1, "daily";r=8', '"burst";r=0, "daily";r=7']) {
    const admitted = await call('/api/hello?client=fields');
    assert.deepEqual([admitted.status, ...fields(admitted)], [200, policy, left, null]);
  }
  const denied = await call('/api/hello?client=fields');
  const left = '"burst";r=0, "daily";r=7';
  assert.deepEqual([denied.status, ...fields(denied)], [429, policy, left, null]);
  const { type, title, status, 'violated-policies': violated, ...rest } = denied.body;
  assert.deepEqual([title, status, violated], ['Quota Exceeded', 429, ['burst']]);
  assert.equal(type, 'https://iana.org/assignments/http-problem-types#quota-exceeded');
  assert.deepEqual(Object.keys(rest), ['client', 'cost', 'nowMs', 'decision']);
  assert.deepEqual([rest.client, rest.cost, rest.decision.limitName], ['fields', 1, 'burst']);
  assert.equal(denied.headers.get('content-type'), 'application/problem+json');
  assert.equal(denied.headers.get('cache-control'), 'no-store');
  assert.equal(denied.headers.get('x-content-type-options'), 'nosniff');
  assert.match(denied.headers.get('content-security-policy'), /default-src 'none'/);

  const head = await call('/api/hello?client=fields', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text, ...fields(head)], [429, '', policy, left, null]);

  // Of what is not limited, and of what is not judged.
  const others = ['/api/peek?client=fields', '/api/stats', '/api/policies', '/api/hello'];
  for (const path of [...others, '/api/hello?client=fields&cost=0']) {
    assert.deepEqual(fields(await call(path)), [null, null, null], path);
  }
});

test('the header fields tell the window, and when there is more', async () => {
  await apply({ default: { capacity: 100, refill: { tokens: 100, seconds: 6000 } } });
  const { headers } = await call('/api/hello?client=window');
  assert.equal(headers.get('ratelimit-policy'), '"main";q=100;w=6000');
  // The next token comes after 60 s.
  const [, seconds] = /^"main";r=99;t=(\d+)$/.exec(headers.get('ratelimit')) ?? [];
  assert.ok(Number(seconds) <= 60, headers.get('ratelimit'));
});

test('a policy change counts at the next request of each tier', async () => {
  await apply({ default: { capacity: 1, refillPerSecond: 0 } });
  const unknown = await call('/api/hello?client=change&tier=gold');
  assert.equal(unknown.body.decision.fallback, 'unknown-tier');
  assert.deepEqual(await statuses('/api/hello?client=change&tier=gold', 1), [429]);

  const report = await apply({
    default: { capacity: 1, refillPerSecond: 0 },
    tiers: { gold: { capacity: 3, refillPerSecond: INSTANT } },
  });
  assert.deepEqual(report.rejected, []);
  const { body } = await callUntil(200, '/api/hello?client=change&tier=gold');
  assert.deepEqual(
    [body.decision.tier, body.decision.fallback, body.decision.limit],
    ['gold', null, 3],
  );
});

test('Retry-After is left out when waiting is in vain', async () => {
  await apply({ default: { capacity: 5, refillPerSecond: 0 } });
  const dear = await call('/api/hello?client=vain&cost=6');
  assert.deepEqual([dear.status, dear.body.decision.reason], [429, 'cost-exceeds-capacity']);
  assert.equal(dear.headers.get('retry-after'), null);

  assert.deepEqual(await statuses('/api/report?client=vain', 2), [200, 429]);
  const spent = await call('/api/hello?client=vain');
  assert.deepEqual([spent.status, spent.body.decision.reason], [429, 'never-refills']);
  assert.equal(spent.body.decision.retryAfterMs, null);
  assert.equal(spent.headers.get('retry-after'), null);
});

test('Retry-After is never 0', async () => {
  await apply({ default: { capacity: 1, refill: { tokens: 1, seconds: 0.9 } } });
  // The first leaves less than a token, and a local request takes far less than 900 ms; if this
  // machine stalled for longer, the next try shows it.
  const denied = await callUntil(429, '/api/hello?client=soon');
  assert.equal(denied.headers.get('retry-after'), '1');
});

test('headers name the client as the query does', async () => {
  await apply({
    default: { capacity: 2, refillPerSecond: 0 },
    tiers: { one: { capacity: 1, refillPerSecond: 0 } },
  });
  const headers = { 'x-client': 'by-header', 'x-tier': 'one', 'x-cost': '1' };
  const { body } = await call('/api/hello', { headers });
  assert.deepEqual(
    [body.client, body.decision.tier, body.decision.remaining],
    ['by-header', 'one', 0],
  );
  assert.equal((await call('/api/hello?client=by-header&tier=one')).status, 429);
});

test('any string names a client', async () => {
  await apply({ default: { capacity: 1, refillPerSecond: 0 } });
  for (const name of ['é', '😀', 'a&b=c', '__proto__', 'x'.repeat(5000)]) {
    const query = new URLSearchParams({ client: name });
    const { status, body } = await call(`/api/hello?${query}`);
    assert.deepEqual([status, body.client], [200, name]);
    assert.equal((await call(`/api/hello?${query}`)).status, 429);
  }
});

test('peek spends nothing', async () => {
  await apply({ default: { capacity: 1, refillPerSecond: 0 } });
  for (let i = 0; i < 3; i += 1) {
    const { status, body } = await call('/api/peek?client=peeked');
    assert.deepEqual([status, body.decision.allowed, body.decision.remaining], [200, true, 1]);
  }
  assert.equal((await call('/api/hello?client=peeked')).status, 200);
  assert.equal((await call('/api/peek?client=peeked')).body.decision.allowed, false);
});

test('a tier can be assigned to a client and taken away', async () => {
  await apply({
    default: { capacity: 1, refillPerSecond: 0 },
    tiers: { big: { capacity: 9, refillPerSecond: 0 } },
  });
  const path = `/api/clients/${encodeURIComponent('a/b ü')}/tier`;
  const assigned = await put(path, '{"tier": "big"}');
  assert.deepEqual([assigned.status, assigned.body.client], [200, 'a/b ü']);
  assert.equal(assigned.body.decision.limit, 9);
  const query = new URLSearchParams({ client: 'a/b ü' });
  assert.equal((await call(`/api/hello?${query}`)).body.decision.tier, 'big');
  await put(path, '{"tier": null}');
  assert.equal((await call(`/api/hello?${query}`)).body.decision.fallback, 'no-tier');

  for (const body of ['', '{', '{}', 'null', '7', '"tier"', '[]']) {
    const { status, body: answer } = await put(path, body);
    const message = `expected a body like {"tier": "pro"} or {"tier": null}, not ${body}`;
    assert.deepEqual([status, answer.error.message], [400, message]);
  }
  const number = await put(path, '{"tier": 7}');
  assert.equal(number.status, 400);
  assert.match(number.body.error.message, /tier.*7/);
  const undecodable = await put('/api/clients/%ff/tier', '{"tier": "big"}');
  assert.equal(undecodable.status, 400);
  assert.match(undecodable.body.error.message, /%ff/);
});

test('a tier can be assigned to a client that no path can name', async () => {
  await apply({
    default: { capacity: 1, refillPerSecond: 0 },
    tiers: { big: { capacity: 9, refillPerSecond: 0 } },
  });
  for (const name of ['.', '..', 'a/../b']) {
    const query = new URLSearchParams({ client: name });
    const { status, body } = await put(`/api/clients/tier?${query}`, '{"tier": "big"}');
    assert.deepEqual([status, body.client, body.decision.tier], [200, name, 'big']);
    assert.equal((await call(`/api/hello?${query}`)).body.decision.tier, 'big');
  }
  const headers = { 'x-client': 'by-header' };
  const options = { method: 'PUT', headers, body: '{"tier": "big"}' };
  assert.equal((await call('/api/clients/tier', options)).body.client, 'by-header');

  const nameless = await put('/api/clients/./tier', '{"tier": "big"}');
  assert.equal(nameless.status, 400);
  assert.match(nameless.body.error.message, /name the client/);
});

test('refused policies are reported with line and column, and the old ones stay in force', async () => {
  const good = '{\n  "default": { "capacity": 3, "refillPerSecond": 0 }\n}\n';
  const { body: report } = await put('/api/policies', good);

  // The column counts UTF-16 units: the emoji before it is two.
  const bad =
    '{\n  "default": { "capacity": 4, "refillPerSecond": 0 },\n  "tiers": { "😀": 12; }\n}';
  const { status, body } = await put('/api/policies', bad);
  assert.equal(status, 400);
  assert.deepEqual([body.error.code, body.error.line, body.error.column], ['syntax', 3, 22]);
  assert.ok(body.error.message);

  const twice = await put('/api/policies', '{"default": {"capacity": 4, "capacity": 4}}');
  assert.deepEqual([twice.status, twice.body.error.code], [400, 'duplicate-member']);
  assert.equal(twice.body.error.path, '/default/capacity');

  const several = await put('/api/policies', '{"default": {"capacity": 0}, "extra": 1}');
  assert.equal(several.status, 400);
  assert.ok(several.body.error.problems.length >= 1);
  for (const { path, code, message, line, column } of several.body.error.problems) {
    assert.ok(typeof path === 'string' && code && message && line >= 1 && column >= 1);
  }

  const latin1 = await put('/api/policies', Uint8Array.of(0x7b, 0xe9, 0x7d));
  assert.equal(latin1.status, 400);

  const kept = await call('/api/policies');
  assert.equal(kept.text, good);
  assert.equal(kept.headers.get('x-revision'), `${report.revision}`);
  const judged = await call('/api/hello?client=after-refusal');
  assert.equal(judged.body.decision.limit, 3);
});

test('tolerated problems are in the report and in the stats', async () => {
  const report = await apply({
    default: { capacity: 3, refillPerSecond: 0 },
    tiers: { odd: { capacity: 0.5, refillPerSecond: 1 } },
    clients: { someone: 'nowhere' },
  });
  assert.deepEqual(
    report.rejected.map(({ path, code }) => [path, code]),
    [
      ['/tiers/odd/capacity', 'invalid-value'],
      ['/clients/someone', 'unknown-tier'],
    ],
  );
  const { body: stats } = await call('/api/stats');
  assert.deepEqual([stats.revision, stats.rejected], [report.revision, report.rejected]);
  const { body } = await call('/api/hello?client=someone-else&tier=odd');
  assert.equal(body.decision.fallback, 'invalid-tier-policy');
});

test('stats count what was decided', async () => {
  await apply({ default: { capacity: 2, refillPerSecond: 0 } });
  const { body: first } = await call('/api/stats');
  assert.deepEqual(await statuses('/api/hello?client=counted', 3), [200, 200, 429]);
  const { body: then } = await call('/api/stats');
  assert.deepEqual([then.allowed - first.allowed, then.denied - first.denied], [2, 1]);
});

test('requests at the same time are admitted as often as the bucket holds', async () => {
  await apply({ default: { capacity: 20, refillPerSecond: 0 } });
  const all = await Promise.all(Array.from({ length: 60 }, () => call('/api/hello?client=crowd')));
  assert.equal(all.filter(({ status }) => status === 200).length, 20);
});

test('bad requests say what is wrong', async () => {
  for (const [path, complaint] of [
    ['/api/hello', /name the client/],
    ['/api/hello?client=', /name the client/],
    ['/api/hello?client=bad&cost=0', /cost.*0/],
    ['/api/hello?client=bad&cost=-1', /cost.*-1/],
    ['/api/hello?client=bad&cost=1.5', /cost.*1\.5/],
    ['/api/hello?client=bad&cost=9007199254740993', /cost/],
    ['/api/hello?client=bad&cost=', /cost.*""/],
    ['/api/peek', /name the client/],
  ]) {
    const { status, body } = await call(path);
    assert.equal(status, 400, path);
    assert.match(body.error.message, complaint);
  }
});

test('unknown paths and methods, HEAD and OPTIONS', async () => {
  for (const path of ['/nothing', '/api', '/api/hello/', '/constructor', '/api/clients//tier']) {
    assert.equal((await call(path)).status, 404, path);
  }
  const posted = await call('/api/policies', { method: 'POST', body: '{}' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, PUT, HEAD, OPTIONS']);
  const options = await call('/api/hello', { method: 'OPTIONS' });
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS']);
  assert.equal(options.headers.get('access-control-allow-origin'), null);

  // HEAD is a request like any other: it is answered, and it spends.
  await apply({ default: { capacity: 1, refillPerSecond: 0 } });
  const head = await call('/api/hello?client=head', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
  assert.equal((await call('/api/hello?client=head')).status, 429);
});

test('the page brings all it needs and may load nothing else', async () => {
  const page = await call('/');
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-type'), /^text\/html/);
  const policy = page.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const links = [...page.text.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, link]) => link);
  for (const link of links.filter((address) => !address.startsWith('data:'))) {
    assert.equal((await call(link)).status, 200, link);
  }
});

/**
 * A request as fetch does not send it.
 * @param {import('node:http').RequestOptions} options
 * @param {string} [body] left unfinished: the answer is not to wait for the rest
 */
async function callRaw(url, options, body) {
  const sent = request(url, { agent: false, ...options }).on('error', () => {});
  if (body) sent.write(body);
  if (options.method === 'PUT') sent.flushHeaders();
  else sent.end();
  const [response] = await once(sent, 'response');
  const answer = { status: response.statusCode, body: await json(response) };
  sent.destroy();
  return answer;
}

test(
  'a body that is too large is refused, and not read to its end',
  { timeout: 60_000 },
  async () => {
    const most = 5_000_000;
    const refusal = [413, `the body has more than ${most} bytes`];
    for (const path of ['/api/policies', '/api/clients/tier?client=large']) {
      const { status, body } = await put(path, ' '.repeat(most + 1));
      assert.deepEqual([status, body.error.message], refusal);
      for (const [headers, start] of [
        [{ 'content-length': 300_000_000 }],
        [{ 'transfer-encoding': 'chunked' }, ' '.repeat(20_000_001)],
      ]) {
        const options = { method: 'PUT', headers };
        const answer = await callRaw(`${demo.url}${path}`, options, start);
        assert.deepEqual([answer.status, answer.body.error.message], refusal);
      }
    }
    const largest = '{"default": {"capacity": 1, "refillPerSecond": 0}}'.padEnd(most);
    assert.equal((await put('/api/policies', largest)).status, 200);
  },
);

test('only the names it is served under are answered', async () => {
  const status = async (url, host) => {
    const { status, body } = await callRaw(`${url}/api/stats`, { headers: { host } });
    if (status === 403) assert.match(body.error.message, /does not answer as ".*--host/);
    return status;
  };
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.0.0.1:99', '[::1]:8787']) {
    assert.equal(await status(demo.url, host), 200, host);
  }
  const foreign = ['evil.example', 'localhost.evil.example:8787', '127.0.0.1.evil.example'];
  for (const host of [...foreign, '192.0.2.7', '[2001:db8::1]']) {
    assert.equal(await status(demo.url, host), 403, host);
  }
  assert.equal(await status(demo.url, 'a b'), 400);

  const policies = '{"default": {"capacity": 66, "refillPerSecond": 0}}';
  const headers = { host: 'evil.example', 'content-length': policies.length };
  const written = await callRaw(`${demo.url}/api/policies`, { method: 'PUT', headers }, policies);
  assert.equal(written.status, 403);
  assert.notEqual((await call('/api/policies')).text, policies);

  const open = launch(['--port', '0', '--host', '0.0.0.0']);
  const url = await open.url;
  assert.ok(url, open.output());
  for (const host of ['localhost', '192.0.2.7:1', '[2001:db8::1]']) {
    assert.equal(await status(url, host), 200, host);
  }
  for (const host of foreign) assert.equal(await status(url, host), 403, host);
  open.signal('SIGTERM');
  assert.equal(await open.ended, 0, open.output());
});
