// The adapter for Node's own servers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as http2 from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';

import { header } from 'tierlimit/clients';
import { decider, rateLimit, refuse, writeFields } from 'tierlimit/node';

import { nodeApp } from '../app/node-app.js';
import { clientOf, limiterOf, slowLimiterOf } from '../app/own.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { HttpClient } from '../client.js';
import { contract } from '../contract.js';

/** @import { TestContext } from 'node:test' */

contract({
  name: 'node:http',
  start: async (setup) => {
    const world = new World(setup);
    return running(createServer(nodeApp(world)), world);
  },
});

/**
 * @param {TestContext} t
 * @param {import('node:http').RequestListener} listener
 */
async function open(t, listener) {
  const { url, close } = await running(createServer(listener));
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  return http.ask.bind(http);
}

test('the two halves by themselves, at once and later', async (t) => {
  for (const made of [limiterOf, slowLimiterOf]) {
    const decide = decider({ limiter: made(2), client: clientOf });
    const ask = await open(t, async (request, response) => {
      const verdict = await decide(request);
      if (verdict?.refused) return refuse(verdict, response);
      if (request.url !== '/bare') writeFields(verdict, response);
      return response.end('in');
    });
    const first = await ask('/');
    assert.deepEqual([first.text, first.headers.ratelimit], ['in', '"main";r=1']);
    assert.equal((await ask('/bare')).headers.ratelimit, undefined);
    const refused = await ask('/');
    assert.deepEqual([refused.status, refused.headers.ratelimit], [429, '"main";r=0']);
    assert.equal(refused.headers['content-type'], 'application/problem+json');
    const head = await ask('/', { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [429, '']);
  }
});

test('a request that meets the same limiter twice counts once; another limiter counts it too', async (t) => {
  for (const made of [limiterOf, slowLimiterOf]) {
    const limiter = made(5);
    const once = rateLimit({ limiter, client: clientOf });
    const inner = once((_, response) => response.end('in'));
    const other = rateLimit({ limiter, client: clientOf })(inner);
    const ask = await open(
      t,
      once((request, response) => {
        return request.url === '/twice' ? other(request, response) : inner(request, response);
      }),
    );
    assert.equal((await ask('/')).headers.ratelimit, '"main";r=4');
    assert.equal((await ask('/twice')).headers.ratelimit, '"main";r=2');
    assert.equal((await ask('/')).headers.ratelimit, '"main";r=1');
  }
});

test('the listener has what the server gives it, and gives back what it returns', async () => {
  const server = {};
  const request = { headers: { 'x-client': 'acme' }, socket: {} };
  const response = { headersSent: false, getHeader() {}, setHeader() {} };
  for (const made of [limiterOf, slowLimiterOf]) {
    const limited = rateLimit({ limiter: made(1), client: clientOf })(function listener(...all) {
      return [this, ...all];
    });
    const returned = limited.call(server, { ...request }, response);
    assert.equal(returned instanceof Promise, made === slowLimiterOf);
    const [self, ...all] = await returned;
    assert.equal(self, server);
    assert.deepEqual(all[0].headers, request.headers);
    assert.equal(all[1], response);
  }
});

test('what the limiter or an option throws is a 500, of which there is one warning, and does not end the process', async (t) => {
  const broken = () => {
    throw new Error('broken');
  };
  for (const options of [
    { limiter: { check: broken } },
    { limiter: { check: async () => broken() } },
    { limiter: limiterOf(0), body: broken },
    { limiter: slowLimiterOf(0), body: broken },
    { limiter: limiterOf(1), client: broken },
  ]) {
    const warnings = [];
    const onWarning = (message, { message: cause }) => warnings.push([message, cause]);
    const limit = rateLimit({ client: clientOf, onWarning, ...options });
    const ask = await open(
      t,
      limit(() => assert.fail('the listener was called')),
    );
    for (let i = 0; i < 2; i += 1) {
      const { status, text } = await ask('/');
      assert.deepEqual([status, text], [500, '']);
    }
    assert.deepEqual(warnings, [['tierlimit: requests are answered with status 500', 'broken']]);
    const own = rateLimit({
      ...{ client: clientOf, ...options },
      onError: (error, { url }, response) => response.end(`${error.message} at ${url}`),
    });
    const askOwn = await open(
      t,
      own(() => assert.fail('the listener was called')),
    );
    assert.equal((await askOwn('/here')).text, 'broken at /here');
  }
});

test('case 49: a limiter that is reached after the response has begun: nothing is asked and nothing thrown', async (t) => {
  const errors = [];
  const limiter = { check: () => assert.fail('the limiter was asked') };
  const onError = (error) => errors.push(error.message);
  const limited = rateLimit({ limiter, client: clientOf, onError })(() => errors.push('went on'));
  const warnings = [];
  const onWarning = (message) => warnings.push(message);
  const silent = rateLimit({ limiter, client: clientOf, onWarning })(() => errors.push('went on'));
  const ask = await open(t, (request, response) => {
    response.write('early');
    limited(request, response);
    silent(request, response);
    response.end();
  });
  assert.equal((await ask('/')).text, 'early');
  assert.deepEqual(errors, [
    'rateLimit was reached after the response had begun; it must stand before what responds',
  ]);
  assert.deepEqual(warnings, ['tierlimit: requests are answered with status 500']);
});

test('a client that went away while the limiter was waited for is refunded, once', async (t) => {
  const limiter = limiterOf(3);
  let refunds = 0;
  let gone;
  const isGone = new Promise((resolve) => (gone = resolve));
  let asked;
  const isAsked = new Promise((resolve) => (asked = resolve));
  const slow = {
    check: async (client, options) => {
      asked();
      await isGone;
      return limiter.check(client, options);
    },
    refund: (...charge) => {
      refunds += 1;
      limiter.refund(...charge);
    },
  };
  let listened;
  const isHeard = new Promise((resolve) => (listened = resolve));
  const limited = rateLimit({ limiter: slow, client: clientOf, refundAborted: true })((
    _,
    response,
  ) => {
    response.end('too late');
    listened();
  });
  const { url, close } = await running(
    createServer((request, response) => {
      response.on('close', gone);
      limited(request, response);
    }),
  );
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  const leaving = http.leave('/');
  await isAsked;
  await leaving.go();
  await isHeard;
  assert.deepEqual([refunds, limiter.peek('acme').remaining], [1, 3]);
});

test("counts: 'failed': who goes away before the response does not try for nothing", async (t) => {
  const world = new World({
    policies: { default: { capacity: 5, refillPerSecond: 0 } },
    options: { counts: 'failed' },
  });
  const { url, control, close } = await running(createServer(nodeApp(world)), world);
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  const leaving = http.leave('/slow');
  while ((await control()).entered === 0) await http.ask('/', { client: 'globex' });
  await leaving.go();
  while ((await control()).left === 0) await http.ask('/', { client: 'globex' });
  assert.equal((await control({ peek: 'acme' })).remaining, 4);
  assert.equal((await control({ peek: 'globex' })).remaining, 5);
});

test('tokens are put back once, though there are two reasons', async (t) => {
  const limiter = limiterOf(3);
  limiter.allow('acme', 2);
  let refunds = 0;
  const counting = {
    check: limiter.check.bind(limiter),
    refund: (...charge) => {
      refunds += 1;
      limiter.refund(...charge);
    },
  };
  let gone;
  const isGone = new Promise((resolve) => (gone = resolve));
  const options = { limiter: counting, client: clientOf, counts: 'failed', refundAborted: true };
  const { url, close } = await running(
    createServer(
      rateLimit(options)((_, response) => {
        response.on('close', gone).write('no failure so far');
      }),
    ),
  );
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  const leaving = http.leave('/');
  await leaving.first();
  await leaving.go();
  await isGone;
  assert.deepEqual([refunds, limiter.peek('acme').remaining], [1, 1]);
});

test('HTTP/2, by its compatibility API', async (t) => {
  const limiter = limiterOf(4);
  const options = { limiter, client: clientOf, refundAborted: true, counts: 'successful' };
  let gone;
  const isGone = new Promise((resolve) => (gone = resolve));
  const server = http2.createServer(
    rateLimit(options)((request, response) => {
      if (request.url === '/missing') response.statusCode = 404;
      if (request.url === '/stream') response.on('close', gone).write('first');
      else response.end('hello');
    }),
  );
  const { url } = await running(server);
  const session = http2.connect(url);
  t.after(() => {
    session.destroy();
    server.close();
  });
  const open2 = async (path, method = 'GET') => {
    const stream = session.request({ ':path': path, ':method': method, 'x-client': 'acme' });
    const [headers] = await once(stream, 'response');
    return { stream, headers };
  };
  const ask = async (path, method) => {
    const { stream, headers } = await open2(path, method);
    return { headers, text: `${await buffer(stream)}` };
  };
  const first = await ask('/');
  assert.deepEqual([first.headers[':status'], first.text], [200, 'hello']);
  assert.equal(first.headers.ratelimit, '"main";r=3');
  assert.equal(first.headers['ratelimit-policy'], '"main";q=4');
  assert.equal((await ask('/missing')).headers.ratelimit, '"main";r=2');
  // That one did not count.
  assert.equal((await ask('/')).headers.ratelimit, '"main";r=2');
  const { stream, headers } = await open2('/stream');
  assert.equal(headers.ratelimit, '"main";r=1');
  assert.equal(`${await once(stream, 'data')}`, 'first');
  stream.close(http2.constants.NGHTTP2_CANCEL);
  await isGone;
  // Nor does what its client went away from.
  assert.equal((await ask('/')).headers.ratelimit, '"main";r=1');
  assert.equal((await ask('/')).headers.ratelimit, '"main";r=0');
  const refused = await ask('/');
  assert.equal(refused.headers[':status'], 429);
  assert.equal(refused.headers['content-type'], 'application/problem+json');
  assert.equal(JSON.parse(refused.text).status, 429);
  const head = await ask('/', 'HEAD');
  assert.deepEqual([head.headers[':status'], head.text], [429, '']);
});

test('HTTP/2: the address is that of the session', async (t) => {
  const seen = [];
  const onDecision = (_decision, { client }) => seen.push(client);
  const server = http2.createServer(
    rateLimit({ limiter: limiterOf(1), onDecision })((_, response) => response.end()),
  );
  const { url } = await running(server);
  const session = http2.connect(url);
  t.after(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ':path': '/' });
  await buffer(stream);
  assert.deepEqual(seen, ['ip:127.0.0.1']);
});

test('a field that came several times is one list; what every object has is no field', async (t) => {
  const seen = [];
  const skip = (_, source) => {
    seen.push(
      source.header('x-forwarded-for'),
      source.header('constructor'),
      source.header('__proto__'),
    );
    return source.header('set-cookie') === 'a=1, b=2';
  };
  const ask = await open(
    t,
    rateLimit({ limiter: limiterOf(1), client: header('x-client'), skip })((_, response) =>
      response.end(),
    ),
  );
  const headers = { 'X-Forwarded-For': ['1.1.1.1', '2.2.2.2'], 'Set-Cookie': ['a=1', 'b=2'] };
  for (let i = 0; i < 2; i += 1) assert.equal((await ask('/', { headers })).status, 200);
  assert.deepEqual(seen.slice(0, 3), ['1.1.1.1, 2.2.2.2', null, null]);
});

test('what is wrong is said when the limiter is made', () => {
  const limiter = limiterOf(1);
  assert.throws(() => rateLimit(), /^TypeError: options must be an object/);
  assert.throws(
    () => rateLimit({ limiter, onError: 7 }),
    /^TypeError: onError must be a function; got 7/,
  );
  assert.throws(
    () => rateLimit({ limiter, clinet: clientOf }),
    /^TypeError: there is no option "clinet"/,
  );
  assert.throws(
    () => decider({ limiter, onError() {} }),
    /^TypeError: there is no option "onError"/,
  );
  assert.throws(
    () => rateLimit({ limiter })(),
    /^TypeError: listener must be a function; got undefined/,
  );
});
