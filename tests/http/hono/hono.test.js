// The Hono adapter, on Node's http server by way of @hono/node-server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:http2';
import { test } from 'node:test';

import { exposedHeaders, rateLimit } from 'tierlimit/hono';
import { rateLimit as onNode } from 'tierlimit/node';

import { honoApp } from '../app/hono-app.js';
import { clientOf, limiterOf, slowLimiterOf } from '../app/own.js';
import { running } from '../app/running.js';
import { World } from '../app/world.js';
import { HttpClient } from '../client.js';
import { contract } from '../contract.js';
import { load } from '../packages/packages.js';

const { Hono } = await load('hono');
const { cors } = await load('hono/cors');
const { HTTPException } = await load('hono/http-exception');
const { createAdaptorServer, getRequestListener } = await load('@hono/node-server');

contract({
  name: 'Hono 4 on Node',
  start: async (setup) => {
    const world = new World(setup);
    return running(createAdaptorServer({ fetch: honoApp(Hono, world).fetch }), world);
  },
});

// ---- What is Hono's own ----------------------------------------------------------------------------------------------

/** Asks an app over Node's http server, or without one, as Hono's own tests do and as other runtimes serve it. */
const ways = {
  'on Node': async (t, app) => {
    const { url, close } = await running(createAdaptorServer({ fetch: app.fetch }));
    const http = new HttpClient(url);
    t.after(() => {
      http.close();
      close();
    });
    return async (path, question) => {
      const { status, headers, all, text } = await http.ask(path, question);
      return { status, headers, cookies: all('set-cookie'), text };
    };
  },
  'by app.request':
    async (_t, app) =>
    async (path, { client = 'acme', ...question } = {}) => {
      const headers = { 'X-Client': client };
      const response = await app.request(path, { headers, redirect: 'manual', ...question });
      const text = await response.text();
      return {
        ...{ status: response.status, text, cookies: response.headers.getSetCookie() },
        headers: Object.fromEntries(response.headers),
      };
    },
};

for (const [way, open] of Object.entries(ways)) {
  const limited = (tokens, options = {}) => {
    const limiter = limiterOf(tokens);
    const app = new Hono();
    const left = () => limiter.peek('acme').remaining;
    return { limiter, app, left, limit: rateLimit({ limiter, client: clientOf, ...options }) };
  };

  test(`${way}: whatever response a handler makes, it has the fields of its own request`, async (t) => {
    const { app, limit } = limited(20);
    app.use(limit);
    const kept = new Response(null, { status: 204 });
    const handlers = {
      '/text': (c) => c.text('hello'),
      '/new': () => new Response('hello', { headers: { 'X-Own': 'yes' } }),
      '/json': () => Response.json('hello'),
      '/redirect': () => Response.redirect('http://127.0.0.1/elsewhere'),
      '/kept': () => kept,
      '/set': async (c, next) => {
        await next();
        c.res = new Response('set', { headers: { 'X-Own': 'yes' } });
      },
      '/prepared': (c) => {
        c.header('X-Own', 'yes');
        c.header('Set-Cookie', 'a=1', { append: true });
        c.header('Set-Cookie', 'b=2', { append: true });
        return c.body('prepared');
      },
    };
    for (const [path, handler] of Object.entries(handlers)) app.get(path, handler);
    app.get('/set', (c) => c.text('to be replaced'));
    const ask = await open(t, app);
    let left = 20;
    for (const [path, status, text] of [
      ['/text', 200, 'hello'],
      ['/new', 200, 'hello'],
      ['/json', 200, '"hello"'],
      ['/redirect', 302, ''],
      ['/kept', 204, ''],
      ['/kept', 204, ''],
      ['/set', 200, 'set'],
      ['/prepared', 200, 'prepared'],
      ['/missing', 404, '404 Not Found'],
    ]) {
      const answer = await ask(path);
      left -= 1;
      assert.deepEqual([answer.status, answer.text], [status, text], path);
      assert.match(answer.headers.ratelimit, new RegExp(`^"main";r=${left}(;t=\\d+)?$`), path);
      assert.match(answer.headers['ratelimit-policy'], /^"main";q=20\b/, path);
      if (/new|set|prepared/.test(path)) assert.equal(answer.headers['x-own'], 'yes', path);
      if (path === '/prepared') assert.deepEqual(answer.cookies, ['a=1', 'b=2']);
    }
  });

  test(`${way}: fields of a limiter behind the handler stay, after those of this one`, async (t) => {
    const { app, limit } = limited(2);
    app.use(limit);
    const headers = { 'RateLimit-Policy': '"upstream";q=9;w=9', RateLimit: '"upstream";r=5' };
    app.get('/', () => new Response('hello', { headers }));
    const ask = await open(t, app);
    for (const left of [1, 0]) {
      const answer = await ask('/');
      assert.match(answer.headers.ratelimit, new RegExp(`^"main";r=${left}[^,]*, "upstream";r=5$`));
      assert.match(answer.headers['ratelimit-policy'], /^"main";q=2[^,]*, "upstream";q=9;w=9$/);
    }
  });

  test(`${way}: a request that meets one middleware twice counts once`, async (t) => {
    const { app, limit, left } = limited(3);
    app.use(limit);
    app.use('/api/*', limit);
    const api = new Hono();
    api.get('/', limit, (c) => c.text('api'));
    app.route('/api', api);
    const ask = await open(t, app);
    assert.equal((await ask('/api')).text, 'api');
    assert.equal(left(), 2);
  });

  test(`${way}: a refusal has what is to be set on whatever comes`, async (t) => {
    const { app, limit } = limited(0);
    app.use((c, next) => {
      c.header('X-Request-Id', '7');
      return next();
    });
    app.use(limit);
    const { status, headers } = await (await open(t, app))('/');
    assert.deepEqual([status, headers['x-request-id']], [429, '7']);
    assert.equal(headers['content-type'], 'application/problem+json');
  });

  test(`${way}: a refusal has what middleware before it has set`, async (t) => {
    const { app, limit } = limited(0);
    app.use(cors({ origin: '*', exposeHeaders: [...exposedHeaders] }));
    app.use(async (c, next) => {
      c.header('X-Request-Id', '7');
      await next();
    });
    app.use(limit);
    app.get('/', () => assert.fail('it was refused'));
    const { status, headers } = await (await open(t, app))('/');
    assert.equal(status, 429);
    assert.equal(headers['x-request-id'], '7');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['access-control-expose-headers'], exposedHeaders.join(','));
    assert.equal(headers['content-type'], 'application/problem+json');
    assert.equal(headers['cache-control'], 'no-store');
  });

  test(`${way}: what the limiter throws comes to onError`, async (t) => {
    const { app, limit, limiter } = limited(1);
    app.onError((error, c) => c.text(`caught ${error.message}`, 500));
    app.use(limit);
    app.get('/', () => assert.fail('nobody decided'));
    limiter.dispose();
    const { status, text } = await (await open(t, app))('/');
    assert.equal(status, 500);
    assert.match(text, /^caught .*disposed/);
  });

  test(`${way}: a limiter that answers by promises`, async (t) => {
    const { app, limit } = limited(1, { limiter: slowLimiterOf(1) });
    app.use(limit);
    app.get('/', (c) => c.text('hello'));
    const ask = await open(t, app);
    const first = await ask('/');
    assert.deepEqual([first.status, first.text], [200, 'hello']);
    assert.match(first.headers.ratelimit, /^"main";r=0/);
    assert.equal((await ask('/')).status, 429);
  });

  test(`${way}: an exception counts by the response that Hono makes of it`, async (t) => {
    const { app, limit, left } = limited(9, {
      counts: 'failed',
      isFailure: (status) => status >= 500,
    });
    app.onError((error, c) => error.getResponse?.() ?? c.text('caught', 500));
    app.use(limit);
    app.get('/gone', () => {
      throw new HTTPException(410, { message: 'gone' });
    });
    app.get('/broken', () => {
      throw new Error('broken');
    });
    app.get('/nothing', () => {});
    const ask = await open(t, app);
    assert.equal((await ask('/gone')).status, 410);
    assert.equal(left(), 9);
    assert.equal((await ask('/broken')).status, 500);
    assert.equal(left(), 8);
    assert.equal((await ask('/nothing')).status, 500);
    assert.equal(left(), 7);
  });
}

test('what did not count is not put back once more when its client goes away', async (t) => {
  const limiter = limiterOf(9);
  const app = new Hono();
  app.use(rateLimit({ limiter, client: clientOf, counts: 'failed', refundAborted: true }));
  const left = new Promise((resolve) => {
    app.get('/', (c) => {
      const piece = new TextEncoder().encode('on and on');
      const pull = (controller) => controller.enqueue(piece);
      return c.body(new ReadableStream({ pull, cancel: resolve }, { highWaterMark: 0 }));
    });
  });
  const { url, close } = await running(createAdaptorServer({ fetch: app.fetch }));
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  limiter.check('acme', { cost: 5 });
  const leaving = http.leave('/');
  await leaving.first();
  assert.equal(limiter.peek('acme').remaining, 4);
  await leaving.go();
  await left;
  // All that is heard of an end is heard by then.
  await http.ask('/missing', { client: 'globex' });
  assert.equal(limiter.peek('acme').remaining, 4);
});

test('nested in a limiter of the server: the outer limits first, in refusals too', async (t) => {
  const outer = onNode({ limiter: limiterOf(9), client: clientOf, headers: { name: 'outer' } });
  const app = new Hono();
  app.use(rateLimit({ limiter: limiterOf(1), client: clientOf, headers: { name: 'inner' } }));
  app.get('/', (c) => c.text('hello'));
  const { url, close } = await running(createHttpServer(outer(getRequestListener(app.fetch))));
  const http = new HttpClient(url);
  t.after(() => {
    http.close();
    close();
  });
  for (const [status, fields] of [
    [200, '"outer";r=8, "inner";r=0'],
    [429, '"outer";r=7, "inner";r=0'],
  ]) {
    const answer = await http.ask('/');
    assert.deepEqual([answer.status, answer.headers.ratelimit], [status, fields]);
    assert.equal(answer.headers['ratelimit-policy'], '"outer";q=9, "inner";q=1');
  }
});

test('in HTTP/2 too', async (t) => {
  const limiter = limiterOf(1);
  const app = new Hono().use(rateLimit({ limiter, client: clientOf, refundAborted: true }));
  app.get('/', (c) => c.text('hello'));
  const server = createAdaptorServer({ fetch: app.fetch, createServer });
  const { url, close } = await running(Object.assign(server, { closeAllConnections() {} }));
  const session = connect(url);
  t.after(() => {
    session.destroy();
    close();
  });
  for (const status of [200, 429]) {
    const stream = session.request({ ':path': '/', 'x-client': 'acme' });
    const [headers] = await once(stream, 'response');
    assert.equal(headers[':status'], status);
    assert.match(headers.ratelimit, /^"main";r=0/);
    stream.resume();
    await once(stream, 'end');
  }
});

test('the address of the peer by an option, and a limit that is asked about by app.request alone', async () => {
  const told = [];
  const app = new Hono();
  app.use(
    rateLimit({
      limiter: limiterOf(2),
      address: (c) => c.env.ip,
      onDecision: (_decision, { client, request }) => told.push([client, request.req.path]),
    }),
  );
  app.get('/here', (c) => c.text('hello'));
  await app.request('/here', {}, { ip: '2001:db8::7' });
  assert.deepEqual(told, [['ip:2001:db8::/64', '/here']]);
});

test('options that are wrong', () => {
  assert.throws(() => rateLimit(), /^TypeError: options/);
  assert.throws(() => rateLimit({}), /^TypeError: limiter/);
  assert.throws(() => rateLimit({ limiter: limiterOf(1), address: 'ip' }), /^TypeError: address/);
  assert.throws(() => rateLimit({ limiter: limiterOf(1), adress() {} }), /no option "adress"/);
});
