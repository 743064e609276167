// What of the Express adapter is Express's own: tried with each version of it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { named } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/express';

import { HttpClient } from '../client.js';
import { clientOf, limiterOf, slowLimiterOf } from './own.js';
import { running } from './running.js';

/** @import { TestContext } from 'node:test' */

/** @param {any} express of any version */
export function expressTests(express) {
  /**
   * @param {TestContext} t
   * @param {(request: any, response: any) => void} app
   */
  async function open(t, app) {
    const { url, close } = await running(createServer(app));
    const http = new HttpClient(url);
    t.after(() => {
      http.close();
      close();
    });
    return http.ask.bind(http);
  }

  /** An error handler that tells what came to it. */
  const saying = (/** @type {string[]} */ heard) => (error, _request, response, next) => {
    heard.push(error.message);
    if (response.headersSent) return next(error);
    return response.status(500).send(error.message);
  };

  test('next is called at once where the limiter answers at once, and what it throws is its argument', () => {
    const limiter = limiterOf(1);
    const calls = [];
    const request = () => ({ headers: { 'x-client': 'acme' }, socket: {} });
    const response = () => ({
      headersSent: false,
      getHeader() {},
      setHeader() {},
      end: () => calls.push('end'),
    });
    const limit = rateLimit({ limiter, client: clientOf });
    limit(request(), response(), (error) => calls.push(error));
    assert.deepEqual(calls, [undefined]);
    limit(request(), response(), (error) => calls.push(error));
    assert.deepEqual(calls, [undefined, 'end']);
    limiter.dispose();
    limit(request(), response(), (error) => calls.push(error));
    assert.equal(calls.length, 3);
    assert.match(calls[2].message, /disposed/);
  });

  for (const isAsync of [false, true]) {
    const how = isAsync ? 'later' : 'at once';
    const made = isAsync ? slowLimiterOf : limiterOf;

    test(`a request that meets the same limiter twice counts once, ${how}`, async (t) => {
      const app = express();
      const limit = rateLimit({ limiter: made(3), client: clientOf });
      const router = express.Router();
      router.use(limit);
      router.get('/', (_request, response) => response.send('in'));
      app.use(limit);
      // Also where one router is mounted twice, and a request falls through the first.
      const passing = express.Router().use(limit);
      app.use('/api', passing);
      app.use(passing);
      app.use('/api', router);
      const ask = await open(t, app);
      for (const remaining of [2, 1, 0]) {
        const { status, headers } = await ask('/api');
        assert.deepEqual([status, headers.ratelimit], [200, `"main";r=${remaining}`]);
      }
      assert.equal((await ask('/api')).status, 429);
    });

    test(`two limiters of one TierLimiter both count, ${how}`, async (t) => {
      const app = express();
      const limiter = made(3);
      app.use(rateLimit({ limiter, client: clientOf }));
      app.get('/', rateLimit({ limiter, client: clientOf }), (_request, response) =>
        response.send('in'),
      );
      const ask = await open(t, app);
      assert.equal((await ask('/')).headers.ratelimit, '"main";r=1');
      assert.equal((await ask('/')).status, 429);
    });

    test(`case 49: a limiter that is reached after the response: its error comes to the error path once, ${how}`, async (t) => {
      const heard = [];
      // Elsewhere Express prints errors that no handler answers.
      const app = express().set('env', 'test');
      app.get('/', (_request, response, next) => {
        response.send('early');
        next();
      });
      let asked = 0;
      const limiter = { check: () => assert.fail(`asked ${(asked += 1)} times`) };
      app.use(rateLimit({ limiter, client: clientOf }));
      app.use(() => heard.push('went on'));
      app.use(saying(heard));
      const ask = await open(t, app);
      const answer = await ask('/').catch((error) => error);
      // By then Express may have closed the connection, as it does on errors that it can tell nobody.
      assert.ok(answer.text === 'early' || answer.code === 'ECONNRESET', answer);
      assert.deepEqual(heard, [
        'rateLimit was reached after the response had begun; it must stand before what responds',
      ]);
      assert.equal(asked, 0);
    });

    test(`what the limiter or an option throws comes to the error path once, ${how}`, async (t) => {
      for (const options of [
        {
          limiter: {
            check: () => {
              const error = new Error('limiter broke');
              if (isAsync) return Promise.reject(error);
              throw error;
            },
          },
        },
        {
          limiter: made(0),
          body: () => {
            throw new Error('body broke');
          },
        },
        {
          limiter: made(1),
          client: () => {
            throw new Error('client broke');
          },
        },
      ]) {
        const heard = [];
        const app = express();
        app.use(rateLimit({ client: clientOf, ...options }));
        app.use(() => heard.push('went on'));
        app.use(saying(heard));
        const ask = await open(t, app);
        const answer = await ask('/');
        assert.equal(answer.status, 500);
        assert.deepEqual(heard, [answer.text]);
        assert.match(answer.text, /^(limiter|body|client) broke$/);
      }
    });
  }

  test('somebody else responds while a limiter is waited for: a refusal comes to the error path, and nothing crashes', async (t) => {
    for (const tokens of [0, 1]) {
      const limiter = limiterOf(tokens);
      /** @type {() => void} */
      let answer;
      const answered = new Promise((resolve) => (answer = resolve));
      const app = express();
      app.use((_request, response, next) => {
        next();
        response.status(503).end('timed out', answer);
      });
      const slow = { check: async (client) => (await answered, limiter.check(client)) };
      app.use(rateLimit({ limiter: slow, client: clientOf }));
      /** @type {(what: string) => void} */
      let done;
      const end = new Promise((resolve) => (done = resolve));
      app.use(() => done('went on'));
      app.use((error, _request, _response, next) => (done(error.message), next));
      const ask = await open(t, app);
      assert.equal((await ask('/')).text, 'timed out');
      const outcome = await end;
      if (tokens === 1) assert.equal(outcome, 'went on');
      else assert.match(outcome, /^rateLimit was reached after/);
    }
  });

  test("the address is the socket's, whatever Express trusts; Express's own is there for who wants it", async (t) => {
    const app = express().set('trust proxy', 1);
    const seen = [];
    const limiter = limiterOf(1);
    const onDecision = (_decision, { client }) => seen.push(client);
    app.use('/socket', rateLimit({ limiter, onDecision }));
    app.use(
      '/express',
      rateLimit({ limiter, onDecision, client: named('proxied', ({ ip }) => ip) }),
    );
    app.use((_request, response) => response.send('ok'));
    const ask = await open(t, app);
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    assert.equal((await ask('/socket', { headers })).status, 200);
    assert.equal((await ask('/socket', { headers: {} })).status, 429);
    assert.equal((await ask('/express', { headers })).status, 200);
    assert.deepEqual(seen, ['ip:127.0.0.1', 'ip:127.0.0.1', 'proxied:203.0.113.9']);
  });

  test('case 53: the path that an option sees is whole, wherever the router is mounted', async (t) => {
    const urls = [];
    const skip = (_request, { url }) => urls.push(url) > 0;
    const router = express.Router();
    router.use(rateLimit({ limiter: limiterOf(1), skip }));
    router.get('/login', (_request, response) => response.send('ok'));
    const ask = await open(t, express().use('/api', router));
    assert.equal((await ask('/api/login?next=/')).status, 200);
    assert.deepEqual(urls, ['/api/login?next=/']);
  });

  test('what is thrown and is no error comes to the error handler all the same', async (t) => {
    for (const thrown of [undefined, null, 'route', 'router', 0]) {
      for (const options of [
        { limiter: { check: async () => Promise.reject(thrown) }, client: clientOf },
        {
          limiter: limiterOf(1),
          client() {
            throw thrown;
          },
        },
      ]) {
        const heard = [];
        const app = express();
        app.use(rateLimit(options));
        app.get('/', (_request, response) => response.send('went on'));
        app.use(saying(heard));
        const ask = await open(t, app);
        const { status } = await ask('/');
        assert.equal(status, 500);
        assert.match(heard[0], /^the limiter or an option threw /);
      }
    }
  });

  test('a request that somebody made up counts, and once', () => {
    const limiter = limiterOf(9);
    const limit = rateLimit({ limiter, client: () => 'acme' });
    const response = { headersSent: false, getHeader() {}, setHeader() {} };
    for (const rawHeaders of [undefined, null, [], Object.freeze([])]) {
      const request = { headers: {}, socket: {}, rawHeaders };
      limit(request, response, assert.ifError);
      limit(request, response, assert.ifError);
    }
    assert.equal(limiter.peek('acme').remaining, 5);
  });

  test('isFailure is given the response of Express', async (t) => {
    const limiter = limiterOf(5);
    const seen = [];
    const isFailure = (status, response) => {
      seen.push([status, response.locals.outcome]);
      return response.locals.outcome === 'bad';
    };
    const app = express();
    app.use(rateLimit({ limiter, client: clientOf, counts: 'failed', isFailure }));
    app.get('/:outcome', ({ params }, response) => {
      Object.assign(response.locals, params);
      response.status(200).send('ok');
    });
    const ask = await open(t, app);
    await ask('/good');
    await ask('/bad');
    // Told at the end of each response, which on one connection comes before the next request.
    await ask('/good');
    await ask('/bad');
    assert.deepEqual(seen.slice(0, 3), [
      [200, 'good'],
      [200, 'bad'],
      [200, 'good'],
    ]);
  });
}
