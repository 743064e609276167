// The Fastify adapter.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:http2';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { every, named } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/fastify';
import { rateLimit as onNode } from 'tierlimit/node';

import { fastifyApp } from '../app/fastify-app.js';
import { clientOf, limiterOf, slowLimiterOf } from '../app/own.js';
import { World } from '../app/world.js';
import { HttpClient } from '../client.js';
import { contract } from '../contract.js';
import { packages } from '../packages/packages.js';

/** @import { TestContext } from 'node:test' */

const fastify = packages('fastify');

contract({
  name: 'Fastify 5',
  start: async (setup) => {
    const world = new World(setup);
    const app = fastifyApp(fastify, world);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, control: async (command) => world.control(command), close: () => app.close() };
  },
});

/**
 * @param {TestContext} t
 * @param {any} app
 */
async function open(t, app) {
  const http = new HttpClient(await app.listen({ port: 0, host: '127.0.0.1' }));
  t.after(() => {
    http.close();
    return app.close();
  });
  return http.ask.bind(http);
}

/**
 * The same over HTTP/2.
 * @param {TestContext} t
 * @param {any} app
 */
async function open2(t, app) {
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
  t.after(() => {
    session.destroy();
    return app.close();
  });
  return async (path) => {
    const stream = session.request({ ':path': path });
    const [headers] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'end');
    return { headers };
  };
}

for (const made of [limiterOf, slowLimiterOf]) {
  const how = made === limiterOf ? 'at once' : 'later';

  test(`case 45: under a prefix and with routes for HEAD that Fastify adds, each request counts once, ${how}`, async (t) => {
    for (const prefixTrailingSlash of ['both', 'slash', 'no-slash']) {
      const app = fastify({ exposeHeadRoutes: true });
      app.register(rateLimit, { limiter: made(10), client: clientOf });
      app.register(async (inside) => inside.get('/', { prefixTrailingSlash }, async () => 'in'), {
        prefix: '/api',
      });
      const ask = await open(t, app);
      const path = prefixTrailingSlash === 'slash' ? '/api/' : '/api';
      for (const [method, remaining] of [
        ...[
          ['GET', 9],
          ['HEAD', 8],
          ['GET', 7],
          ['HEAD', 6],
        ],
      ]) {
        const { status, headers } = await ask(path, { method });
        assert.deepEqual([status, headers.ratelimit], [200, `"main";r=${remaining}`]);
      }
    }
  });

  test(`case 45: what is not there counts once, also where its handler is the app's own, ${how}`, async (t) => {
    for (const isOwn of [false, true]) {
      const app = fastify();
      app.register(rateLimit, { limiter: made(2), client: clientOf });
      if (isOwn) app.setNotFoundHandler(async (_, reply) => reply.code(404).send('no such thing'));
      app.get('/unfound', async (_, reply) => reply.callNotFound());
      const ask = await open(t, app);
      for (const [path, remaining] of [
        ['/nowhere', 1],
        ['/unfound', 0],
      ]) {
        const { status, headers } = await ask(path);
        assert.deepEqual([status, headers.ratelimit], [404, `"main";r=${remaining}`]);
      }
      assert.equal((await ask('/nowhere')).status, 429);
    }
  });

  test(`the same options registered twice are one limiter, others another, ${how}`, async (t) => {
    const app = fastify();
    const limiter = made(6);
    const options = { limiter, client: clientOf };
    app.register(rateLimit, options);
    app.register(rateLimit, options);
    app.register(async (inside) => {
      inside.register(rateLimit, options);
      inside.get('/once', async () => 'in');
      inside.register(async (deeper) => {
        deeper.register(rateLimit, { ...options });
        deeper.get('/twice', async () => 'in');
      });
    });
    const ask = await open(t, app);
    assert.equal((await ask('/once')).headers.ratelimit, '"main";r=5');
    assert.equal((await ask('/twice')).headers.ratelimit, '"main";r=3');
    assert.equal((await ask('/once')).headers.ratelimit, '"main";r=2');
  });

  test(`case 49: a refusal is no error: a handler of errors does not see it, and a body of one's own is sent, ${how}`, async (t) => {
    const errors = [];
    const app = fastify();
    app.setErrorHandler(async (error, _, reply) => {
      errors.push(error.message);
      return reply.code(500).send({ oops: true });
    });
    // To text of any kind of JSON Fastify does things of its own.
    app.setReplySerializer((payload) => JSON.stringify({ wrapped: payload }));
    app.register(rateLimit, {
      ...{ limiter: made(1), client: clientOf },
      body: ({ limit }, request) => ({ slow: 'down', limit, at: request.url }),
    });
    app.get('/', async () => ({ hello: 'world' }));
    const ask = await open(t, app);
    assert.equal((await ask('/')).text, '{"wrapped":{"hello":"world"}}');
    const refused = await ask('/?a=b');
    assert.equal(refused.status, 429);
    assert.deepEqual(JSON.parse(refused.text), { slow: 'down', limit: 1, at: '/?a=b' });
    assert.equal(refused.headers['content-type'], 'application/json');
    assert.equal(refused.headers['cache-control'], 'no-store');
    assert.deepEqual(errors, []);
  });

  test(`what the limiter or an option throws comes to the error handler, once, ${how}`, async (t) => {
    const broken = () => {
      throw new Error('broken');
    };
    for (const options of [
      { limiter: { check: made === limiterOf ? broken : async () => broken() } },
      { limiter: made(0), body: broken },
      { limiter: made(1), client: broken },
      { limiter: made(1), headers: { partitionKey: broken } },
    ]) {
      const errors = [];
      const app = fastify();
      app.register(rateLimit, { client: clientOf, ...options });
      app.setErrorHandler(async (error, _, reply) => {
        errors.push(error.message);
        return reply.code(500).send('caught');
      });
      app.get('/', () => assert.fail('the handler was called'));
      const ask = await open(t, app);
      const { status, text } = await ask('/');
      assert.deepEqual([status, text, errors], [500, 'caught', ['broken']]);
    }
  });

  test(`a route is not limited, or by options of its own, ${how}`, async (t) => {
    const app = fastify({ exposeHeadRoutes: true });
    const strict = made(1);
    app.register(rateLimit, { limiter: made(10), client: clientOf });
    app.get('/free', { config: { rateLimit: false } }, async () => 'free');
    app.get('/dear', { config: { rateLimit: { cost: 4 } } }, async () => 'dear');
    app.post('/login', { config: { rateLimit: { limiter: strict } } }, async () => 'in');
    app.get('/wrong', { config: { rateLimit: { cots: 4 } } }, async () => 'wrong');
    app.get('/number', { config: { rateLimit: 5 } }, async () => 'wrong');
    app.get('/', async () => 'usual');
    const ask = await open(t, app);
    assert.equal((await ask('/free')).headers.ratelimit, undefined);
    assert.equal((await ask('/dear')).headers.ratelimit, '"main";r=6');
    assert.equal((await ask('/dear', { method: 'HEAD' })).headers.ratelimit, '"main";r=2');
    const login = await ask('/login', { method: 'POST' });
    assert.deepEqual([login.status, login.headers.ratelimit], [200, '"main";r=0']);
    assert.equal((await ask('/login', { method: 'POST' })).status, 429);
    assert.equal((await ask('/')).headers.ratelimit, '"main";r=1');
    assert.equal((await ask('/dear')).status, 429);
    const wrong = await ask('/wrong');
    assert.equal(wrong.status, 500);
    assert.match(wrong.text, /there is no option \\"cots\\"/);
    assert.match(
      (await ask('/number')).text,
      /config.rateLimit must be false or an object with options; got 5/,
    );
  });
}

test('routes and plugins are limited in whatever order they are registered', async (t) => {
  const app = fastify();
  app.get('/before', async () => 'in');
  app.register(async (inside) => inside.get('/plugin-before', async () => 'in'));
  app.register(rateLimit, { limiter: limiterOf(4), client: clientOf });
  app.get('/after', async () => 'in');
  app.register(async (inside) => inside.get('/plugin-after', async () => 'in'));
  const ask = await open(t, app);
  const paths = ['/before', '/plugin-before', '/after', '/plugin-after'];
  for (const [i, path] of paths.entries()) {
    assert.equal((await ask(path)).headers.ratelimit, `"main";r=${3 - i}`, path);
  }
});

test('a limiter that is waited for while somebody else replies sends nothing and breaks nothing', async (t) => {
  for (const tokens of [0, 1]) {
    const limiter = limiterOf(tokens);
    let answered;
    const isAnswered = new Promise((resolve) => (answered = resolve));
    let checked;
    const isChecked = new Promise((resolve) => (checked = resolve));
    const slow = {
      check: async (client) => {
        await isAnswered;
        checked();
        return limiter.check(client);
      },
    };
    const app = fastify();
    app.addHook('onRequest', (_, reply, done) => {
      done();
      reply.code(503).send('timed out');
    });
    app.addHook('onResponse', async () => answered());
    app.register(rateLimit, { limiter: slow, client: clientOf });
    app.get('/', () => assert.fail('the handler was called'));
    const ask = await open(t, app);
    assert.equal((await ask('/')).text, 'timed out');
    await isChecked;
    // And the server goes on.
    assert.equal((await ask('/nowhere')).status, 503);
  }
});

test('case 49: a response that has begun before the limiter is reached: no fields, and a refusal comes to the error handler', async (t) => {
  for (const [tokens, text, heard] of [
    [1, 'begun, and went on', []],
    [
      0,
      'begun, and failed',
      ['rateLimit was reached after the response had begun; it must stand before what responds'],
    ],
  ]) {
    const errors = [];
    const app = fastify();
    const end = (/** @type {string} */ words) => (_, reply) => {
      reply.hijack();
      reply.raw.end(words);
    };
    app.addHook('onRequest', (_, reply, done) => {
      reply.raw.write('begun');
      done();
    });
    app.register(rateLimit, { limiter: limiterOf(tokens), client: clientOf });
    app.setErrorHandler(({ message }, request, reply) => {
      errors.push(message);
      end(', and failed')(request, reply);
    });
    app.get('/', end(', and went on'));
    const ask = await open(t, app);
    const answer = await ask('/');
    assert.deepEqual([answer.text, answer.headers.ratelimit, errors], [text, undefined, heard]);
  }
});

test("the address is the socket's, whatever Fastify trusts; Fastify's own, and the route, are there for who wants them", async (t) => {
  const seen = [];
  const onDecision = (_, { client }) => seen.push(client);
  const limiter = limiterOf(1);
  const app = fastify({ trustProxy: true });
  app.register(rateLimit, { limiter, onDecision });
  const client = every(
    named('route', ({ routeOptions }) => routeOptions.url),
    named('proxied', ({ ip }) => ip),
  );
  app.get('/:id', { config: { rateLimit: { client } } }, async () => 'ok');
  app.get('/', async () => 'ok');
  const ask = await open(t, app);
  const headers = { 'X-Forwarded-For': '203.0.113.9' };
  assert.equal((await ask('/', { headers })).status, 200);
  assert.equal((await ask('/')).status, 429);
  assert.equal((await ask('/7', { headers })).status, 200);
  assert.equal((await ask('/8', { headers })).status, 429);
  assert.deepEqual(seen.slice(0, 2), ['ip:127.0.0.1', 'ip:127.0.0.1']);
  assert.equal(seen[2], seen[3]);
  assert.match(seen[2], /203\.0\.113\.9/);
});

test('hooks of the app see a refusal, and what they set is in it', async (t) => {
  const app = fastify();
  const sent = [];
  app.addHook('onSend', async (_, reply, payload) => {
    reply.header('X-Sent', 'yes');
    sent.push(`${payload}`.includes('quota-exceeded'));
  });
  app.register(rateLimit, { limiter: limiterOf(0), client: clientOf });
  const ask = await open(t, app);
  const refused = await ask('/');
  assert.deepEqual([refused.status, refused.headers['x-sent'], sent], [429, 'yes', [true]]);
});

test('the fields are sent however a response is made, also where a handler writes it past Fastify', async (t) => {
  for (const isHttp2 of [false, true]) {
    const app = fastify({ http2: isHttp2 });
    app.register(rateLimit, { limiter: limiterOf(9), client: () => 'acme' });
    app.get('/text', async () => 'text');
    app.get('/stream', async (_, reply) => reply.send(Readable.from(['a', 'b'])));
    app.get('/empty', async (_, reply) => reply.send(Readable.from([])));
    app.get('/nothing', async (_, reply) => reply.code(204).send());
    app.get('/ended', (_, reply) => reply.hijack().raw.end());
    app.get('/begun', (_, reply) => {
      reply.hijack().raw.flushHeaders();
      reply.raw.end('x');
    });
    app.get('/written', (_, reply) => {
      reply.hijack().raw.writeHead(200, 'Fine', ['X-Own', 'yes']);
      reply.raw.end('x');
    });
    const ask = isHttp2 ? await open2(t, app) : await open(t, app);
    let remaining = 9;
    for (const route of ['text', 'stream', 'empty', 'nothing', 'ended', 'begun', 'written']) {
      remaining -= 1;
      const { headers } = await ask(`/${route}`);
      const fields = [headers.ratelimit, headers['ratelimit-policy']];
      assert.deepEqual(fields, [`"main";r=${remaining}`, '"main";q=9'], `${route} ${isHttp2}`);
      assert.equal(headers['x-own'], route === 'written' ? 'yes' : undefined);
    }
  }
});

test('who wraps writeHead sees the fields, and so do requests that are made up by inject', async (t) => {
  const app = fastify();
  /** @type {string[][]} */
  const seen = [];
  app.addHook('onRequest', (_, { raw }, done) => {
    const { writeHead } = raw;
    raw.writeHead = (status, fields) => {
      seen.push(Object.keys(fields).map((name) => name.toLowerCase()));
      return writeHead.call(raw, status, fields);
    };
    done();
  });
  await app.register(rateLimit, { limiter: limiterOf(5), client: () => 'acme' });
  app.get('/', async () => 'text');
  const ask = await open(t, app);
  await ask('/');
  assert.deepEqual([seen.length, seen[0].includes('ratelimit')], [1, true]);

  const plain = fastify();
  await plain.register(rateLimit, { limiter: limiterOf(5), client: () => 'acme' });
  plain.get('/', async () => 'text');
  const { headers } = await plain.inject('/');
  assert.deepEqual([headers.ratelimit, headers['ratelimit-policy']], ['"main";r=4', '"main";q=5']);
});

test('fields of that name that a handler has set are joined, wherever it has set them', async (t) => {
  const app = fastify();
  app.register(rateLimit, { limiter: limiterOf(9), client: clientOf });
  const fields = { 'RateLimit-Policy': '"other";q=5', RateLimit: '"other";r=4' };
  app.get('/reply', async (_, reply) => reply.headers(fields).send('ok'));
  app.get('/raw', async (_, reply) => {
    for (const name in fields) reply.raw.setHeader(name, fields[name]);
    return 'ok';
  });
  const ask = await open(t, app);
  for (const [path, remaining] of [
    ['/reply', 8],
    ['/raw', 7],
  ]) {
    const { headers } = await ask(path);
    assert.equal(headers.ratelimit, `"main";r=${remaining}, "other";r=4`);
    assert.equal(headers['ratelimit-policy'], '"main";q=9, "other";q=5');
  }
});

test('what is thrown and is no error comes to the error handler all the same', async (t) => {
  for (const thrown of [undefined, null, 'broken']) {
    for (const options of [
      { limiter: { check: async () => Promise.reject(thrown) }, client: clientOf },
      {
        limiter: limiterOf(1),
        client() {
          throw thrown;
        },
      },
    ]) {
      const app = fastify();
      app.register(rateLimit, options);
      app.get('/', async () => 'went on');
      const ask = await open(t, app);
      const { status, text } = await ask('/');
      assert.equal(status, 500);
      assert.match(text, /the limiter or an option threw/);
    }
  }
});

test('what a handler gives to writeHead is sent as it is sent without a limiter', async (t) => {
  const inherited = Object.create(
    { 'x-inherited': 'no' },
    { 'x-own': { value: '1', enumerable: true } },
  );
  const given = {
    none: [200],
    undefined: [200, undefined, { 'X-Own': '1' }],
    null: [200, null, { 'X-Own': '1' }],
    reason: [200, 'Fine', { 'X-Own': '1' }],
    frozen: [200, Object.freeze({ 'X-Own': '1' })],
    inherited: [200, inherited],
    list: [
      200,
      ['X-Own', '1', 'constructor', 'c', 'x-own', '2', 'Set-Cookie', 'a', 'Set-Cookie', 'b'],
    ],
    pairs: [
      200,
      [
        ['X-Own', '1'],
        ['toString', '2'],
      ],
    ],
  };
  const asks = [];
  for (const isLimited of [false, true]) {
    const app = fastify();
    if (isLimited) app.register(rateLimit, { limiter: limiterOf(99), client: clientOf });
    for (const name in given) {
      app.get(`/${name}`, (_, reply) => {
        reply.hijack().raw.writeHead(...given[name]);
        reply.raw.end('x');
      });
    }
    asks.push(await open(t, app));
  }
  for (const name in given) {
    const [bare, limited] = await Promise.all(asks.map((ask) => ask(`/${name}`)));
    const { ratelimit, 'ratelimit-policy': policy, ...rest } = limited.headers;
    assert.deepEqual({ ...rest, date: '' }, { ...bare.headers, date: '' }, name);
    assert.deepEqual([policy, /^"main";r=\d+$/.test(ratelimit)], ['"main";q=99', true]);
  }
});

test('a field set without its companion breaks nothing', async (t) => {
  const app = fastify();
  app.register(rateLimit, { limiter: limiterOf(9), client: clientOf });
  app.get('/', (_, reply) => {
    reply.hijack().raw.setHeader('RateLimit', '"other";r=1');
    reply.raw.end('x');
  });
  const ask = await open(t, app);
  const { headers } = await ask('/');
  assert.equal(headers.ratelimit, '"main";r=8, "other";r=1');
  assert.equal(headers['ratelimit-policy'], '"main";q=9');
});

test('nested in a limiter of the server: the outer limits first, and of one name the inner one', async (t) => {
  for (const [outerName, allowed, refused] of [
    ['main', '"main";r=0', '"main";r=0'],
    ['outer', '"outer";r=98, "main";r=0', '"outer";r=97, "main";r=0'],
  ]) {
    const outer = onNode({
      ...{ limiter: limiterOf(99), client: clientOf },
      headers: { name: outerName, legacy: 'delta-seconds' },
    });
    const app = fastify({ serverFactory: (handler) => createServer(outer(handler)) });
    const inner = { limiter: limiterOf(1), client: clientOf, headers: { legacy: 'delta-seconds' } };
    app.register(rateLimit, inner);
    app.get('/', async () => 'hello');
    const ask = await open(t, app);
    for (const fields of [allowed, refused]) {
      const { headers } = await ask('/');
      assert.equal(headers.ratelimit, fields);
      assert.equal(headers['x-ratelimit-limit'], '1');
    }
  }
});

test('around a limiter that writes to the response itself: of what has one value, the inner one is told', async (t) => {
  const legacy = { legacy: 'delta-seconds' };
  const client = clientOf;
  const inner = onNode({ limiter: limiterOf(1), client, headers: { name: 'inner', ...legacy } });
  const app = fastify();
  app.register(rateLimit, { limiter: limiterOf(99), client, headers: legacy });
  const answer = inner((_, response) => response.end('hello'));
  app.get('/', (request, reply) => answer(request.raw, reply.hijack().raw));
  const ask = await open(t, app);
  for (const [status, fields] of [
    [200, '"main";r=98, "inner";r=0'],
    [429, '"main";r=97, "inner";r=0'],
  ]) {
    const answered = await ask('/');
    assert.equal(answered.status, status);
    assert.equal(answered.headers.ratelimit, fields);
    assert.equal(answered.headers['x-ratelimit-limit'], '1');
    assert.equal(answered.headers['x-ratelimit-remaining'], '0');
  }
});

test('isFailure is given the reply of Fastify', async (t) => {
  const seen = [];
  const limiter = limiterOf(5);
  const app = fastify();
  const isFailure = (status, reply) => {
    seen.push([status, reply.request.url]);
    return reply.request.url === '/bad';
  };
  app.register(rateLimit, { limiter, client: clientOf, counts: 'failed', isFailure });
  app.get('/good', async () => 'ok');
  app.get('/bad', async () => 'ok');
  const ask = await open(t, app);
  for (const path of ['/good', '/bad', '/good', '/bad', '/good']) await ask(path);
  assert.deepEqual(seen.slice(0, 4), [
    [200, '/good'],
    [200, '/bad'],
    [200, '/good'],
    [200, '/bad'],
  ]);
  assert.equal(limiter.peek('acme').remaining, 3);
});

test('what is wrong is said when the app gets ready', async () => {
  const limiter = limiterOf(1);
  for (const [options, message] of [
    [{ limiter, clinet: clientOf }, /^TypeError: there is no option "clinet"/],
    [{ limiter, prefix: '/api' }, /^TypeError: there is no option "prefix"/],
    [{}, /^TypeError: limiter must be an object with a method check; got undefined/],
  ]) {
    const app = fastify();
    app.register(rateLimit, options);
    await assert.rejects(app.ready(), message);
  }
});
