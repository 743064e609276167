// What every adapter keeps, tried over a real server on loopback. The app is described in app/world.js and, as a fetch
// handler, in app/fetch-app.js; each framework builds it natively.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { exposedHeaders } from 'tierlimit/fetch';

import { HttpClient } from './client.js';
import { membersOf } from './fields.js';

/** @import { TestContext } from 'node:test' */
/** @import { Command, Setup, World } from './app/world.js' */
/** @import { Answer } from './client.js' */

/**
 * @typedef {object} Running
 * @property {string} url
 * @property {(command?: Command) => Promise<ReturnType<World['control']>>} control
 * @property {() => void | Promise<void>} close
 */

/**
 * What a runtime or a framework cannot do, each with the reason, which the tests that are left out say.
 *
 * @typedef {object} Without
 * @property {string} [abort] it does not tell that a client went away before the response had begun
 * @property {string} [cancel] nor later
 * @property {string} [address] it does not know the peer's address
 */

/** Nothing comes back. */
const still = { refillPerSecond: 0 };

/**
 * Registers the tests.
 * @param {object} adapter
 * @param {string} adapter.name
 * @param {(setup: Setup) => Promise<Running>} adapter.start
 * @param {Without} [adapter.without]
 */
export function contract({ name, start, without = {} }) {
  /**
   * An app, a client for it, and what the app's world says.
   * @param {TestContext} t
   * @param {Setup} setup
   */
  async function open(t, setup) {
    const running = await start(setup);
    const http = new HttpClient(running.url);
    t.after(async () => {
      http.close();
      await running.close();
    });
    const { control } = running;
    /** Until the world is so: asked again after each answer to somebody else, for it may be in another process. */
    const until = async (isSo, what) => {
      for (let i = 0; i < 3000; i += 1) {
        const state = await control({ peek: 'acme' });
        if (isSo(state)) return state;
        await http.ask('/', { client: 'globex' });
      }
      return assert.fail(`${what}; ${JSON.stringify(await control({ peek: 'acme' }))}`);
    };
    return { http, control, until, ask: http.ask.bind(http) };
  }

  describe(name, () => {
    test('a burst is admitted up to the capacity, and refused as a problem document', async (t) => {
      const { ask } = await open(t, {
        policies: { default: { capacity: 3, refillPerSecond: 0.2 } },
      });
      for (const remaining of [2, 1, 0]) {
        const answer = await ask('/');
        assert.deepEqual([answer.status, answer.text], [200, 'hello']);
        assert.equal(answer.headers['x-app'], 'yes');
        assert.match(answer.headers['content-type'], /^text\/plain/);
        assert.deepEqual(fieldsOf(answer), {
          policy: [{ name: 'main', q: 3, w: 15 }],
          service: [{ name: 'main', r: remaining, t: 5 }],
        });
        assert.equal(answer.headers['retry-after'], undefined);
        assert.equal(answer.headers['cache-control'], undefined);
      }
      const refused = await ask('/');
      assert.equal(refused.status, 429);
      assert.equal(refused.headers['content-type'], 'application/problem+json');
      assert.equal(refused.headers['cache-control'], 'no-store');
      assert.deepEqual(refused.all('retry-after'), ['5']);
      assert.equal(refused.headers['x-app'], undefined);
      assert.deepEqual(fieldsOf(refused), {
        policy: [{ name: 'main', q: 3, w: 15 }],
        service: [{ name: 'main', r: 0, t: 5 }],
      });
      assert.deepEqual(JSON.parse(refused.text), {
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Quota Exceeded',
        status: 429,
        'violated-policies': ['main'],
      });
      assert.equal((await ask('/', { client: 'globex' })).status, 200);
    });

    test('who waits as long as Retry-After says is admitted', async (t) => {
      const policies = { default: { capacity: 2, refillPerSecond: 0.4 } };
      const { ask, control } = await open(t, { policies });
      for (const status of [200, 200, 429]) assert.equal((await ask('/')).status, status);
      const seconds = Number((await ask('/')).headers['retry-after']);
      assert.equal(seconds, 3);
      await control({ advanceMs: 2499 });
      assert.equal((await ask('/')).status, 429);
      await control({ advanceMs: seconds * 1000 - 2499 });
      assert.equal((await ask('/')).status, 200);
      assert.equal((await ask('/')).status, 429);
    });

    test('every limit of a policy is told, with the tier and the cost of the request', async (t) => {
      const { ask } = await open(t, {
        policies: {
          default: { capacity: 1, ...still },
          tiers: {
            pro: {
              limits: [
                { name: 'a "quoted" \\ name', capacity: 10.5, refillPerSecond: 3 },
                { name: 'daily', algorithm: 'fixed-window', limit: 50, windowSeconds: 86400 },
              ],
            },
          },
        },
        options: { tier: 'pro', headers: { unit: 'content-bytes' } },
      });
      const answer = await ask('/', { headers: { 'X-Cost': '4' } });
      const qu = 'content-bytes';
      assert.deepEqual(fieldsOf(answer), {
        policy: [
          { name: 'a "quoted" \\ name', q: 10, qu, w: 4 },
          { name: 'daily', q: 50, qu, w: 86400 },
        ],
        service: [
          { name: 'a "quoted" \\ name', r: 6, t: 0 },
          { name: 'daily', r: 46, t: 86400 },
        ],
      });
      const never = await ask('/', { headers: { 'X-Cost': '51' } });
      assert.equal(never.status, 429);
      assert.equal(never.headers['retry-after'], undefined);
      assert.deepEqual(JSON.parse(never.text)['violated-policies'], [
        'a "quoted" \\ name',
        'daily',
      ]);
    });

    test('HEAD counts as GET does, has its fields and has no body', async (t) => {
      const { ask } = await open(t, { policies: { default: { capacity: 3, ...still } } });
      assert.equal((await ask('/')).status, 200);
      const head = await ask('/', { method: 'HEAD' });
      assert.deepEqual([head.status, head.text, head.headers['x-app']], [200, '', 'yes']);
      assert.deepEqual(fieldsOf(head).service, [{ name: 'main', r: 1 }]);
      assert.equal((await ask('/')).status, 200);
      const refused = await ask('/', { method: 'HEAD' });
      assert.deepEqual([refused.status, refused.text], [429, '']);
      assert.deepEqual(fieldsOf(refused).service, [{ name: 'main', r: 0 }]);
    });

    const preflight = {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
    };

    test('a preflight counts', async (t) => {
      const { ask } = await open(t, { policies: { default: { capacity: 2, ...still } } });
      const first = await ask('/', preflight);
      assert.equal(first.status, 204);
      assert.deepEqual(fieldsOf(first).service, [{ name: 'main', r: 1 }]);
      assert.equal((await ask('/', preflight)).status, 204);
      assert.equal((await ask('/', preflight)).status, 429);
    });

    test('case 50: preflights are free by option, and pages of other origins can read a refusal', async (t) => {
      const { ask, control } = await open(t, {
        policies: { default: { capacity: 2, ...still } },
        options: { preflight: 'free' },
      });
      for (let i = 0; i < 100; i += 1) {
        const answer = await ask('/', preflight);
        assert.deepEqual([answer.status, answer.headers.ratelimit], [204, undefined]);
      }
      assert.equal((await control({ peek: 'acme' })).remaining, 2);
      // An OPTIONS that no browser would ask first is no preflight.
      assert.equal((await ask('/', { method: 'OPTIONS' })).status, 204);
      assert.equal((await control({ peek: 'acme' })).remaining, 1);
      assert.equal((await ask('/')).status, 200);
      const refused = await ask('/');
      assert.equal(refused.status, 429);
      assert.equal(refused.headers['access-control-allow-origin'], '*');
      assert.equal(refused.headers['access-control-expose-headers'], exposedHeaders.join(', '));
    });

    test('a body that is streamed both ways comes back whole', async (t) => {
      const { ask } = await open(t, { policies: { default: { capacity: 2, ...still } } });
      const pieces = Array.from({ length: 40 }, (_, i) => randomBytes(30_000 + i));
      const answer = await ask('/echo', { method: 'POST', body: pieces });
      assert.equal(answer.status, 200);
      assert.equal(digest(answer.bytes), digest(Buffer.concat(pieces)));
      assert.deepEqual(fieldsOf(answer).service, [{ name: 'main', r: 1 }]);
    });

    test('a redirect keeps its status and its place, and counts', async (t) => {
      const { ask } = await open(t, { policies: { default: { capacity: 1, ...still } } });
      const answer = await ask('/redirect');
      assert.equal(answer.status, 302);
      assert.equal(new URL(answer.headers.location, 'http://x').pathname, '/');
      assert.deepEqual(fieldsOf(answer).service, [{ name: 'main', r: 0 }]);
      assert.equal((await ask('/redirect')).status, 429);
    });

    test('case 45: what is not there counts, once', async (t) => {
      const { ask } = await open(t, { policies: { default: { capacity: 2, ...still } } });
      for (const remaining of [1, 0]) {
        const answer = await ask('/missing');
        assert.equal(answer.status, 404);
        assert.deepEqual(fieldsOf(answer).service, [{ name: 'main', r: remaining }]);
      }
      assert.equal((await ask('/missing')).status, 429);
    });

    test('each Set-Cookie stays a field of its own', async (t) => {
      const { ask } = await open(t, { policies: { default: { capacity: 1, ...still } } });
      const answer = await ask('/cookies');
      assert.deepEqual(answer.all('set-cookie'), ['a=1', 'b=2']);
      assert.deepEqual(fieldsOf(answer).service, [{ name: 'main', r: 0 }]);
    });

    test('case 49: what a handler throws comes to the error handler, and counts', async (t) => {
      const { ask, control } = await open(t, { policies: { default: { capacity: 2, ...still } } });
      for (const remaining of [1, 0]) {
        const answer = await ask('/boom');
        assert.deepEqual([answer.status, answer.text], [500, 'caught boom']);
        assert.equal((await control({ peek: 'acme' })).remaining, remaining);
      }
      const refused = await ask('/boom');
      assert.deepEqual([refused.status, refused.all('retry-after')], [429, []]);
    });

    for (const [counts, charged] of [
      ['failed', { '/': 0, '/redirect': 0, '/missing': 1, '/boom': 1 }],
      ['successful', { '/': 1, '/redirect': 1, '/missing': 0, '/boom': 0 }],
    ]) {
      test(`counts: '${counts}'`, async (t) => {
        const { ask, until } = await open(t, {
          policies: { default: { capacity: 20, ...still } },
          options: { counts },
        });
        let left = 20;
        for (const [path, cost] of Object.entries(charged)) {
          await ask(path, { headers: { 'X-Cost': '3' } });
          left -= 3 * cost;
          const now = left;
          await until(({ remaining }) => remaining === now, `${path}: ${now} were to be left`);
        }
      });
    }

    for (const [refundAborted, left] of [
      [true, 5],
      [false, 3],
    ]) {
      const title = `refundAborted: ${refundAborted}`;

      test(
        `${title}: a client that does not wait for the response`,
        skip(without.abort),
        async (t) => {
          const { http, ask, until, control } = await open(t, {
            policies: { default: { capacity: 10, ...still } },
            options: { refundAborted },
          });
          for (let i = 0; i < 5; i += 1) assert.equal((await ask('/')).status, 200);
          const leaving = http.leave('/slow', { headers: { 'X-Cost': '2' } });
          await until(({ entered }) => entered === 1, 'the handler was to be entered');
          assert.equal((await control({ peek: 'acme' })).remaining, 3);
          await leaving.go();
          await until((state) => state.left === 1, 'the handler was to hear of it');
          await until(({ remaining }) => remaining === left, `${left} were to be left`);
          // Once, though there are several ways to hear of it.
          assert.equal((await ask('/')).status, 200);
          assert.equal((await control({ peek: 'acme' })).remaining, left - 1);
        },
      );

      test(`${title}: a client that has enough of a stream`, skip(without.cancel), async (t) => {
        const { http, ask, until, control } = await open(t, {
          policies: { default: { capacity: 10, ...still } },
          options: { refundAborted },
        });
        for (let i = 0; i < 5; i += 1) assert.equal((await ask('/')).status, 200);
        const leaving = http.leave('/stream', { headers: { 'X-Cost': '2' } });
        assert.match(await leaving.first(), /^first/);
        assert.equal((await control({ peek: 'acme' })).remaining, 3);
        await leaving.go();
        await until((state) => state.left === 1, 'the stream was to be cancelled');
        await until(({ remaining }) => remaining === left, `${left} were to be left`);
        assert.equal((await ask('/')).status, 200);
        assert.equal((await control({ peek: 'acme' })).remaining, left - 1);
      });
    }

    test('refundAborted: who hears all of a response pays for it', async (t) => {
      const { ask, control } = await open(t, {
        policies: { default: { capacity: 5, ...still } },
        options: { refundAborted: true },
      });
      assert.equal((await ask('/')).text, 'hello');
      const body = [Buffer.alloc(100_000, 'x')];
      assert.equal((await ask('/echo', { method: 'POST', body })).bytes.length, 100_000);
      assert.equal((await ask('/redirect')).status, 302);
      assert.equal((await ask('/cookies')).all('set-cookie').length, 2);
      assert.equal((await control({ peek: 'acme' })).remaining, 1);
    });

    test('1,000 requests at once at a capacity of 100: 100 are admitted', async (t) => {
      const { ask, control } = await open(t, {
        policies: { default: { capacity: 100, ...still } },
      });
      const answers = await Promise.all(Array.from({ length: 1000 }, () => ask('/')));
      const count = (/** @type {number} */ status) =>
        answers.filter((answer) => answer.status === status).length;
      assert.deepEqual([count(200), count(429)], [100, 900]);
      const left = answers
        .filter(({ status }) => status === 200)
        .map((answer) => fieldsOf(answer).service[0].r);
      assert.deepEqual(
        left.sort((a, b) => a - b),
        Array.from({ length: 100 }, (_, i) => i),
      );
      assert.equal((await control()).decided, 1000);
    });

    test('case 48: of nested limiters the one that denies says when', async (t) => {
      const { ask } = await open(t, {
        policies: { default: { capacity: 3, refillPerSecond: 0.01 } },
        innerPolicies: { default: { capacity: 1, refillPerSecond: 0.05 } },
        innerOptions: { headers: { name: 'inner', legacy: 'delta-seconds' } },
        options: { headers: { name: 'outer', legacy: 'delta-seconds' } },
      });
      const both = await ask('/nested');
      assert.deepEqual([both.status, both.text], [200, 'nested']);
      assert.deepEqual(fieldsOf(both), {
        policy: [
          { name: 'outer', q: 3, w: 300 },
          { name: 'inner', q: 1, w: 20 },
        ],
        service: [
          { name: 'outer', r: 2, t: 100 },
          { name: 'inner', r: 0, t: 20 },
        ],
      });
      const byInner = await ask('/nested');
      assert.equal(byInner.status, 429);
      assert.deepEqual(byInner.all('retry-after'), ['20']);
      assert.deepEqual(byInner.all('cache-control'), ['no-store']);
      assert.deepEqual(JSON.parse(byInner.text)['violated-policies'], ['inner']);
      assert.deepEqual(fieldsOf(byInner).service, [
        { name: 'outer', r: 1, t: 100 },
        { name: 'inner', r: 0, t: 20 },
      ]);
      assert.deepEqual(legacyOf(byInner), [['1'], ['0'], ['20']]);
      assert.equal((await ask('/')).status, 200);
      const byOuter = await ask('/nested');
      assert.deepEqual([byOuter.status, byOuter.all('retry-after')], [429, ['100']]);
      assert.deepEqual(fieldsOf(byOuter).service, [{ name: 'outer', r: 0, t: 100 }]);
      assert.deepEqual(legacyOf(byOuter), [['3'], ['0'], ['300']]);
    });

    test('nested limiters whose limits have one name: the inner one is told', async (t) => {
      const { ask } = await open(t, {
        policies: { default: { capacity: 3, ...still } },
        innerPolicies: { default: { capacity: 2, ...still } },
      });
      assert.deepEqual(fieldsOf(await ask('/nested')), {
        policy: [{ name: 'main', q: 2 }],
        service: [{ name: 'main', r: 1 }],
      });
    });

    test('another status and another body', async (t) => {
      const { ask } = await open(t, {
        policies: { default: { capacity: 1, refillPerSecond: 1 } },
        options: { status: 503, contentType: 'application/vnd.example+json' },
        customBody: true,
      });
      assert.equal((await ask('/')).status, 200);
      const refused = await ask('/');
      assert.equal(refused.status, 503);
      assert.equal(refused.headers['content-type'], 'application/vnd.example+json');
      assert.deepEqual(JSON.parse(refused.text), { slow: 'down', remaining: 0 });
      assert.deepEqual(refused.all('retry-after'), ['1']);
    });

    test('shadow mode tells and refuses nobody', async (t) => {
      const { ask, control } = await open(t, {
        policies: { default: { capacity: 1, ...still } },
        options: { shadow: true },
      });
      for (let i = 0; i < 3; i += 1) {
        const answer = await ask('/');
        assert.deepEqual([answer.status, answer.text], [200, 'hello']);
        assert.equal(answer.headers.ratelimit, undefined);
        assert.equal(answer.headers['retry-after'], undefined);
      }
      assert.deepEqual((await control()).decisions, [
        ['acme', true, false],
        ['acme', false, false],
        ['acme', false, false],
      ]);
    });

    test('case 44: without a client there is the choice, and one warning', async (t) => {
      const { ask, control } = await open(t, { policies: { default: { capacity: 1, ...still } } });
      for (let i = 0; i < 2; i += 1) {
        const answer = await ask('/', { client: '' });
        assert.equal(answer.status, 400);
        assert.equal(answer.headers['content-type'], 'application/problem+json');
        assert.equal(answer.headers['cache-control'], 'no-store');
        assert.equal(JSON.parse(answer.text).type, 'about:blank');
      }
      assert.equal((await control()).warnings.length, 1);
      assert.equal((await ask('/')).status, 200);
    });

    test('case 44: to pass, or to share', async (t) => {
      const policies = { default: { capacity: 1, ...still } };
      const passing = await open(t, { policies, options: { noClient: 'skip' } });
      for (let i = 0; i < 3; i += 1) {
        const answer = await passing.ask('/', { client: '' });
        assert.deepEqual([answer.status, answer.headers.ratelimit], [200, undefined]);
      }
      assert.deepEqual((await passing.control()).decisions, []);
      const sharing = await open(t, { policies, options: { noClient: { client: 'all' } } });
      assert.equal((await sharing.ask('/', { client: '' })).status, 200);
      assert.equal((await sharing.ask('/', { client: '' })).status, 429);
      assert.equal((await sharing.ask('/')).status, 200);
    });

    test("by default the peer's address is the client", skip(without.address), async (t) => {
      const { ask, control } = await open(t, {
        policies: { default: { capacity: 2, ...still } },
        byAddress: true,
      });
      const headers = { 'X-Forwarded-For': '203.0.113.7', Forwarded: 'for=203.0.113.7' };
      for (const status of [200, 200, 429]) {
        assert.equal((await ask('/', { headers })).status, status);
      }
      const { decisions } = await control();
      assert.deepEqual([...new Set(decisions.map(([client]) => client))], ['ip:127.0.0.1']);
    });
  });
}

/** @param {string | undefined} reason */
const skip = (reason) => ({ skip: reason ?? false });

/** @param {Uint8Array} bytes */
const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** @param {Answer} answer */
const fieldsOf = ({ all }) => ({
  policy: membersOf(all('ratelimit-policy').join(', ')),
  service: membersOf(all('ratelimit').join(', ')),
});

/** @param {Answer} answer */
const legacyOf = ({ all }) =>
  ['limit', 'remaining', 'reset'].map((name) => all(`x-ratelimit-${name}`));
