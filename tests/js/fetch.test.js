// The fetch adapter by itself, without a server: what is at once and what is not, what is passed on, and what options,
// limiters and handlers may do wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClockError } from 'tierlimit';
import { decider, headersFor, rateLimit, refusal } from 'tierlimit/fetch';

import { clocked, only } from './support/limiter.js';

const byHeader = (_request, source) => source.header('x-client');

/** A request of a client. */
const asked = (client = 'acme', more = {}) =>
  new Request('http://localhost/', { ...more, headers: { 'X-Client': client, ...more.headers } });

const hello = () => new Response('hello');

/** A limited handler, its limiter and its clock. */
function limited(policies, options = {}, handler = hello) {
  const { limiter, clock } = clocked(policies);
  const warnings = [];
  const onWarning = (...warning) => warnings.push(warning);
  const limit = rateLimit({ limiter, client: byHeader, onWarning, ...options });
  const left = (client = 'acme') => limiter.peek(client).remaining;
  return { ask: limit(handler), limit, limiter, clock, left, warnings };
}

/** A limiter that answers by promises. */
const slowly = (limiter) => ({
  check: async (...args) => limiter.check(...args),
  refund: async (...args) => limiter.refund(...args),
});

test('where limiter and handler answer at once, so does the limited handler', async () => {
  const { ask } = limited(only(1, 0));
  const first = ask(asked());
  assert.ok(first instanceof Response);
  assert.equal(first.headers.get('RateLimit'), '"main";r=0');
  const second = ask(asked());
  assert.ok(second instanceof Response);
  assert.equal(second.status, 429);
});

test('where one of them answers by a promise, so does the limited handler', async () => {
  const { limiter } = clocked(only(3, 0));
  for (const [check, handler] of [
    [limiter, async () => hello()],
    [slowly(limiter), hello],
    [slowly(limiter), async () => hello()],
  ]) {
    const answer = rateLimit({ limiter: check, client: byHeader })(handler)(asked());
    assert.ok(answer instanceof Promise);
    assert.equal(await (await answer).text(), 'hello');
  }
  const refused = await rateLimit({ limiter: slowly(limiter), client: byHeader })(hello)(asked());
  assert.equal(refused.status, 429);
});

test('a thenable that is no promise is waited for', async () => {
  const { limiter } = clocked(only(3, 0));
  const thenable = (value) => ({ then: (resolve) => void resolve(value) });
  const foreign = { check: (...args) => thenable(limiter.check(...args)) };
  const ask = rateLimit({ limiter: foreign, client: byHeader })(() => thenable(hello()));
  assert.equal((await ask(asked())).headers.get('RateLimit'), '"main";r=2');
});

test('the handler is called as it would be without a limiter, and not at all when refused', async () => {
  const { limiter } = clocked(only(1, 0));
  const env = { binding: 1 };
  const context = { waitUntil: () => {} };
  for (const options of [
    { limiter },
    { limiter: slowly(clocked(only(1, 0)).limiter) },
    { limiter, skip: () => true },
  ]) {
    const calls = [];
    const ask = rateLimit({ client: byHeader, ...options })(function handler(...args) {
      calls.push([this, args]);
      return hello();
    });
    const self = { ask };
    const request = asked();
    await self.ask(request, env, context);
    if (!options.skip) assert.equal((await self.ask(request, env, context)).status, 429);
    assert.equal(calls.length, 1);
    assert.equal(calls[0][0], self);
    assert.deepEqual(calls[0][1], [request, env, context]);
    assert.equal(calls[0][1][0], request);
  }
});

test('one limit around several handlers', () => {
  const { limit, left } = limited(only(2, 0));
  for (const handler of [hello, () => new Response('bye')]) limit(handler)(asked());
  assert.equal(left(), 0);
  assert.equal(limit(hello)(asked()).status, 429);
  assert.throws(() => limit('handler'), {
    name: 'TypeError',
    message: 'handler must be a function; got "handler"',
  });
});

test('headers that cannot be changed are copied, with everything else', async () => {
  const responses = {
    redirect: () => Response.redirect('http://localhost/elsewhere', 308),
    upstream: async () => fetch(`data:text/x-upstream,${'x'.repeat(5000)}`),
    // What fetch returns, as far as can be had without a server: its headers are the runtime's.
    cookies: () => {
      const response = new Response('baked', { status: 201, statusText: 'Baked' });
      response.headers.append('Set-Cookie', 'a=1; Path=/');
      response.headers.append('Set-Cookie', 'b=2, and a comma');
      return new Proxy(response, {
        get: (target, name) => {
          const value = Reflect.get(target, name, target);
          return name === 'headers' ? frozen(value) : value;
        },
      });
    },
  };
  const { limit } = limited(only(9, 0));
  const redirect = await limit(responses.redirect)(asked());
  assert.equal(redirect.status, 308);
  assert.equal(redirect.headers.get('Location'), 'http://localhost/elsewhere');
  assert.equal(redirect.headers.get('RateLimit'), '"main";r=8');
  const upstream = await limit(responses.upstream)(asked());
  assert.equal(upstream.headers.get('Content-Type'), 'text/x-upstream');
  assert.equal(upstream.headers.get('RateLimit'), '"main";r=7');
  assert.equal((await upstream.text()).length, 5000);
  const cookies = await limit(responses.cookies)(asked());
  assert.deepEqual([cookies.status, cookies.statusText], [201, 'Baked']);
  assert.deepEqual(cookies.headers.getSetCookie(), ['a=1; Path=/', 'b=2, and a comma']);
  assert.equal(cookies.headers.get('RateLimit'), '"main";r=6');
  assert.equal(await cookies.text(), 'baked');
});

/** Headers that refuse to be changed. */
function frozen(headers) {
  const refuse = () => {
    throw new TypeError('immutable');
  };
  return new Proxy(headers, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (['append', 'delete', 'set'].includes(name)) return refuse;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a Response without a body that a handler returns again has the fields of each request', () => {
  const kept = new Response(null, { status: 204, headers: { 'X-Kept': 'yes' } });
  const { limit, limiter } = limited(
    only(5, 0),
    { headers: { legacy: 'delta-seconds' } },
    () => kept,
  );
  const ask = limit(() => kept);
  const told = [4, 3, 2].map((remaining) => {
    const response = ask(asked());
    assert.equal(response.headers.get('X-Kept'), 'yes');
    return [response.status, response.headers.get('RateLimit'), remaining];
  });
  assert.deepEqual(
    told,
    [4, 3, 2].map((remaining) => [204, `"main";r=${remaining}`, remaining]),
  );
  // And with a limiter around it, of which there is a copy of the fields in there too.
  const outer = rateLimit({ limiter, client: () => 'outer', headers: { name: 'outer' } })(ask);
  assert.deepEqual(
    [outer(asked()), outer(asked())].map(({ headers }) => headers.get('RateLimit')),
    ['"outer";r=4, "main";r=1', '"outer";r=3, "main";r=0'],
  );
});

test('a response that says it failed is returned as it is', () => {
  const failed = Response.error();
  const { ask } = limited(only(1, 0), {}, () => failed);
  assert.equal(ask(asked()), failed);
});

test('what a handler returns that is no response is returned as it is', async () => {
  for (const value of [undefined, null, 'text', 5, {}]) {
    const { ask, left } = limited(only(5, 0), { counts: 'successful' }, () => value);
    assert.equal(ask(asked()), value);
    assert.equal(left(), 5, 'it is a failure');
    assert.equal(await limited(only(5, 0), {}, async () => value).ask(asked()), value);
  }
});

test('what a handler throws is thrown, and is a failure', async () => {
  const error = new Error('boom');
  const handlers = [
    () => {
      throw error;
    },
    async () => {
      throw error;
    },
  ];
  for (const handler of handlers) {
    for (const [counts, remaining] of [
      ['all', 4],
      ['failed', 4],
      ['successful', 5],
    ]) {
      const { ask, left } = limited(only(5, 0), { counts }, handler);
      await assert.rejects(
        async () => ask(asked()),
        (it) => it === error,
      );
      assert.equal(left(), remaining, counts);
    }
  }
});

test('isFailure says what counts', () => {
  const seen = [];
  const isFailure = (status, response) => {
    seen.push([status, response?.headers.get('X-Failed')]);
    return response?.headers.get('X-Failed') === 'yes';
  };
  const handler = (request) =>
    new Response('', { headers: { 'X-Failed': request.headers.get('x-failed') } });
  const { ask, left } = limited(only(5, 0), { counts: 'failed', isFailure }, handler);
  ask(asked('acme', { headers: { 'X-Failed': 'no' } }));
  assert.equal(left(), 5);
  ask(asked('acme', { headers: { 'X-Failed': 'yes' } }));
  assert.equal(left(), 4);
  assert.deepEqual(seen, [
    [200, 'no'],
    [200, 'yes'],
  ]);
  const broken = limited(only(5, 0), {
    counts: 'failed',
    isFailure: () => {
      throw new Error('broken');
    },
  });
  assert.equal(broken.ask(asked()).status, 200);
  assert.equal(broken.left(), 4);
  assert.equal(broken.warnings.length, 1);
});

test('what isFailure and skip return counts by its truth, and a promise is none', () => {
  for (const [counts, said, remaining, warned] of [
    ['failed', 'wrong password', 4, 0],
    ['failed', 0, 5, 0],
    ['successful', undefined, 4, 0],
    ['failed', Promise.resolve(false), 4, 1],
    ['successful', Promise.resolve(true), 4, 1],
  ]) {
    const { ask, left, warnings } = limited(only(5, 0), { counts, isFailure: () => said });
    assert.equal(ask(asked()).status, 200);
    assert.deepEqual([left(), warnings.length], [remaining, warned], `${counts} ${said}`);
  }
  const skipping = limited(only(1, 0), { skip: async () => false });
  assert.throws(
    () => skipping.ask(asked()),
    /^TypeError: what skip returns must be true or false; got a Promise$/,
  );
});

test('what is refused is not put back, whatever becomes of it', () => {
  const { ask, left, clock } = limited(
    only(2, 1),
    { counts: 'successful', refundAborted: true },
    () => new Response('', { status: 500 }),
  );
  assert.equal(ask(asked('acme', { headers: { 'X-Cost': '1' } })).status, 500);
  assert.equal(left(), 2);
  clock.ms = 0;
  const strict = limited(only(2, 0), { cost: 2, counts: 'successful' });
  assert.equal(strict.ask(asked()).status, 200);
  assert.equal(strict.ask(asked()).status, 429);
  assert.equal(strict.left(), 0);
});

test('tokens go back to the tier and at the cost at which they were spent', () => {
  const policies = {
    default: { capacity: 1, refillPerSecond: 0 },
    tiers: { pro: { limits: [{ name: 'pro', capacity: 50, refillPerSecond: 0 }] } },
  };
  const { ask, limiter } = limited(policies, {
    tier: (_request, source) => source.header('x-tier'),
    cost: (_request, source) => Number(source.header('x-cost')),
    counts: 'failed',
  });
  const headers = { 'X-Tier': 'pro', 'X-Cost': '7' };
  limiter.check('acme', { cost: 20, tier: 'pro' });
  const response = ask(asked('acme', { headers }));
  assert.equal(response.headers.get('RateLimit'), '"pro";r=23');
  assert.equal(limiter.peek('acme', { tier: 'pro' }).remaining, 30);
  // Without a tier it is the client's own.
  assert.equal(
    ask(asked('globex', { headers: { 'X-Cost': '1' } })).headers.get('RateLimit'),
    '"main";r=0',
  );
  // What costs nothing is not limited.
  for (let i = 0; i < 3; i += 1) {
    const free = ask(asked('initech', { headers: { 'X-Cost': '0' } }));
    assert.equal(free.headers.get('RateLimit'), null);
  }
  assert.throws(() => ask(asked('acme', { headers: { 'X-Cost': 'x' } })), RangeError);
});

test('skip', () => {
  const { ask, left } = limited(only(1, 0), {
    skip: (request, source) =>
      source.method === 'GET' && new URL(source.url).pathname === '/health',
  });
  for (let i = 0; i < 3; i += 1) {
    const response = ask(new Request('http://localhost/health'));
    assert.deepEqual([response.status, response.headers.get('RateLimit')], [200, null]);
  }
  assert.equal(left(), 1);
  assert.equal(
    ask(new Request('http://localhost/', { headers: { 'X-Client': 'acme' } })).status,
    200,
  );
  assert.equal(left(), 0);
});

test('onDecision is told all, and breaks nothing', async () => {
  const told = [];
  const onDecision = (decision, about) => {
    told.push([decision, about]);
    if (told.length === 1) throw new Error('first');
    if (told.length === 2) return Promise.reject(new Error('second'));
    return undefined;
  };
  const policies = { ...only(3, 0), tiers: { pro: { capacity: 3, refillPerSecond: 0 } } };
  const { ask, warnings } = limited(policies, { onDecision, tier: 'pro', cost: 2 });
  const request = asked();
  assert.deepEqual([ask(request).status, ask(request).status], [200, 429]);
  await null;
  await null;
  for (const [i, refused] of [false, true].entries()) {
    const [decision, about] = told[i];
    assert.equal(decision.allowed, !refused);
    assert.deepEqual(about, { client: 'acme', tier: 'pro', cost: 2, request, refused });
  }
  assert.equal(warnings.length, 1);
  assert.match(warnings[0][0], /^tierlimit: onDecision threw/);
  assert.equal(warnings[0][1].message, 'first');
});

test('an onDecision that rejects is no unhandled rejection', async () => {
  const error = new Error('rejected');
  const { ask, warnings } = limited(only(3, 0), { onDecision: async () => Promise.reject(error) });
  assert.equal(ask(asked()).status, 200);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(warnings[0][1], error);
});

test('a refund that fails breaks nothing, and is told once', async () => {
  for (const refund of [
    () => {
      throw new ClockError(1, 2);
    },
    () => Promise.reject(new ClockError(1, 2)),
  ]) {
    const { limiter } = clocked(only(9, 0));
    const warnings = [];
    const ask = rateLimit({
      limiter: { check: (...args) => limiter.check(...args), refund },
      ...{ client: byHeader, counts: 'failed', onWarning: (...it) => warnings.push(it) },
    })(hello);
    for (let i = 0; i < 3; i += 1) assert.equal(ask(asked()).status, 200);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0][0], /a refund failed/);
    assert.ok(warnings[0][1] instanceof ClockError);
  }
});

test('what a limiter throws is thrown, before the handler is asked', async () => {
  const broken = { check: () => Promise.reject(new Error('no store')) };
  const rejecting = rateLimit({ limiter: broken, client: byHeader })(() => assert.fail('asked'));
  await assert.rejects(() => rejecting(asked()), { message: 'no store' });
  const { limiter } = clocked(only(9, 0));
  limiter.dispose();
  assert.throws(() => rateLimit({ limiter, client: byHeader })(hello)(asked()), /disposed/);
});

test('where no client is found, whatever stands for none', async () => {
  for (const client of [() => null, () => undefined, () => '']) {
    const { ask, warnings } = limited(only(9, 0), { client }, () => assert.fail('asked'));
    const response = ask(asked());
    assert.equal(response.status, 400);
    assert.equal(response.headers.get('Cache-Control'), 'no-store');
    assert.equal(response.headers.get('RateLimit'), null);
    ask(asked());
    assert.deepEqual(warnings, [
      [
        'tierlimit: a request of which the client is not known is refused with status 400 (see noClient)',
        undefined,
      ],
    ]);
    for (const [noClient, warning] of [
      ['skip', /passes unlimited/],
      [{ client: 'everyone' }, /counts for "everyone", whom all such requests share/],
    ]) {
      const other = limited(only(9, 0), { client, noClient });
      for (let i = 0; i < 2; i += 1) assert.equal(other.ask(asked()).status, 200);
      assert.equal(other.warnings.length, 1);
      assert.match(other.warnings[0][0], warning);
      assert.equal(other.left('everyone'), noClient === 'skip' ? 9 : 7);
    }
  }
});

test("the peer's address, as Deno.serve and Bun.serve tell it, or as a function says", () => {
  const { limiter } = clocked(only(9, 0));
  const clients = [];
  const onDecision = (_decision, { client }) => clients.push(client);
  const ask = (options = {}) =>
    rateLimit({ limiter, onDecision, onWarning: () => {}, ...options })(hello);
  ask()(asked(), { remoteAddr: { transport: 'tcp', hostname: '203.0.113.5', port: 50_000 } });
  ask()(asked(), { requestIP: () => ({ address: '2001:db8:1:2:3::4', family: 'IPv6', port: 1 }) });
  assert.deepEqual(clients, ['ip:203.0.113.5', 'ip:2001:db8:1:2::/64']);
  ask({ address: (request, env) => request.headers.get('x-real') ?? env.peer })(asked(), {
    peer: '::ffff:192.0.2.1',
  });
  assert.equal(clients[2], 'ip:192.0.2.1');
  // A unix socket, a request that is over, a worker: there is none, and nobody is counted for anybody else.
  for (const about of [
    ...[{ remoteAddr: { transport: 'unix', path: '/run/x' } }, { requestIP: () => null }],
    ...[undefined, null, {}, 'env'],
  ]) {
    assert.equal(ask()(asked(), about).status, 400);
  }
  assert.equal(clients.length, 3);
});

test('shadow mode refuses nobody, without a client either', () => {
  const { ask, warnings } = limited(only(1, 0), { shadow: true, client: () => null });
  assert.equal(ask(asked()).status, 200);
  assert.match(warnings[0][0], /passes unlimited/);
});

test('a response without a body that a handler keeps has its own fields, for whatever limiter', () => {
  const headers = { 'Retry-After': '120', 'X-RateLimit-Limit': '7' };
  const kept = new Response(null, { status: 503, headers });
  const [a, b] = ['a', 'b'].map((name) => limited(only(9, 0), { headers: { name } }, () => kept));
  for (const [{ ask }, fields] of [
    [a, '"a";r=8'],
    [a, '"a";r=7'],
    [b, '"b";r=8'],
  ]) {
    const response = ask(asked());
    assert.equal(response.headers.get('RateLimit'), fields);
    for (const name in headers) assert.equal(response.headers.get(name), headers[name]);
  }
  assert.equal(kept.headers.get('RateLimit'), null);
});

test('a request whose client has gone before it is decided', () => {
  const gone = AbortSignal.abort();
  const { ask, left } = limited(only(5, 0), { refundAborted: true });
  ask(asked('acme', { signal: gone }));
  assert.equal(left(), 5);
  const other = limited(only(5, 0), {});
  other.ask(asked('acme', { signal: gone }));
  assert.equal(other.left(), 4);
});

test('refundAborted: once, however often it is said, and not after the end', async () => {
  // By the signal while the handler works, and then by its outcome.
  const gone = new AbortController();
  let answer;
  const handler = () => new Promise((resolve) => (answer = resolve));
  const options = { refundAborted: true, counts: 'failed' };
  const early = limited(only(5, 0), options, handler);
  early.ask(asked('other'));
  const pending = early.ask(asked('acme', { signal: gone.signal }));
  early.limiter.check('acme');
  assert.equal(early.left(), 3);
  gone.abort();
  assert.equal(early.left(), 4);
  answer(hello());
  await (await pending).text();
  assert.equal(early.left(), 4);

  // By the body, and then by the signal.
  const late = new AbortController();
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)) });
  const stream = limited(only(5, 0), { refundAborted: true }, () => new Response(body));
  const response = stream.ask(asked('acme', { signal: late.signal }));
  stream.limiter.check('acme');
  const reader = response.body.getReader();
  await reader.read();
  assert.equal(stream.left(), 3);
  await reader.cancel('enough');
  assert.equal(stream.left(), 4);
  late.abort();
  assert.equal(stream.left(), 4);

  // The signal of a request that is over: some runtimes abort each.
  for (const make of [
    hello,
    () => new Response(null),
    () => Response.redirect('http://localhost/x'),
  ]) {
    const after = new AbortController();
    const whole = limited(only(5, 0), { refundAborted: true }, make);
    await whole.ask(asked('acme', { signal: after.signal })).text();
    after.abort();
    assert.equal(whole.left(), 4);
  }
});

test('refundAborted: a body that is dropped and not read says nothing of its client', async () => {
  for (const drop of [
    (response) => response.body.cancel(),
    (_response, gone) => gone.abort(),
    (response, gone) => response.body.cancel().then(() => gone.abort()),
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const gone = new AbortController();
      const { ask, left } = limited(only(5, 0), { refundAborted: true });
      await drop(ask(asked('acme', { method, signal: gone.signal })), gone);
      assert.equal(left(), 4, `${method} ${drop}`);
    }
  }
});

test('a watched body comes as it is, its end and its failure too', async () => {
  const pieces = ['a', 'bc', ''].map((text) => new TextEncoder().encode(text));
  const chunks = (more) =>
    new ReadableStream({
      pull(controller) {
        const piece = pieces[more.at++];
        if (piece) return controller.enqueue(piece);
        return more.error ? controller.error(more.error) : controller.close();
      },
      cancel: (reason) => (more.reason = reason),
    });
  const ask = (more) =>
    limited(only(5, 0), { refundAborted: true }, () => new Response(chunks(more), { status: 202 }));
  const whole = ask({ at: 0 });
  const response = whole.ask(asked());
  assert.deepEqual([response.status, await response.text()], [202, 'abc']);
  assert.equal(whole.left(), 4);
  const error = new Error('upstream');
  const failing = ask({ at: 0, error });
  await assert.rejects(failing.ask(asked()).text(), (it) => it === error);
  assert.equal(failing.left(), 4);
  const more = { at: 0 };
  await ask(more).ask(asked()).body.cancel('enough');
  assert.equal(more.reason, 'enough');
});

test('refundAborted, where a request has no signal', async () => {
  const request = new Proxy(asked(), {
    get: (target, name) => {
      const value = name === 'signal' ? undefined : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const body = () =>
    new Response(new ReadableStream({ pull: (it) => it.enqueue(new Uint8Array(9)) }));
  const { ask, left } = limited(only(5, 0), { refundAborted: true }, body);
  const reader = ask(request).body.getReader();
  await reader.read();
  await reader.cancel();
  assert.equal(left(), 5);
  limited(only(5, 0), { refundAborted: true }, () => new Response(null)).ask(request);
});

test('the two halves: decide, and the fields', async () => {
  const { limiter } = clocked(only(1, 0.5));
  const decide = decider({ limiter, client: byHeader });
  const verdict = decide(asked());
  assert.deepEqual([verdict.refused, verdict.client, verdict.cost], [false, 'acme', 1]);
  assert.equal(verdict.decision.allowed, true);
  assert.deepEqual(headersFor(verdict.decision), {
    'RateLimit-Policy': '"main";q=1;w=2',
    RateLimit: '"main";r=0;t=2',
  });
  verdict.refund();
  verdict.refund();
  const again = decide(asked());
  assert.equal(again.refused, false);
  const denied = decide(asked());
  assert.equal(denied.refused, true);
  assert.equal(headersFor(denied.decision)['Retry-After'], '2');
  denied.refund();
  assert.equal(decide(asked()).refused, true);
  const response = refusal(denied);
  assert.equal(response.status, 429);
  assert.equal(response.headers.get('Retry-After'), '2');
  assert.equal(response.headers.get('RateLimit'), '"main";r=0;t=2');
  assert.equal((await response.json())['violated-policies'][0], 'main');
  assert.equal(refusal(decide(asked('acme', { method: 'HEAD' }))).body, null);
  // What was aborted is put back where an option says so.
  const other = clocked(only(9, 0)).limiter;
  for (const [refundAborted, remaining] of [
    [false, 8],
    [true, 8],
  ]) {
    decider({ limiter: other, client: byHeader, refundAborted })(asked()).abort();
    assert.equal(other.peek('acme').remaining, remaining);
  }
  assert.equal(decider({ limiter, skip: () => true })(asked()), null);
  const later = decider({ limiter: slowly(limiter), client: byHeader })(asked());
  assert.ok(later instanceof Promise);
  assert.equal((await later).refused, true);
});

test('bodies of refusals', async () => {
  const type = (response) => response.headers.get('Content-Type');
  const refused = (options) => {
    const { ask } = limited(only(1, 0), options);
    ask(asked());
    return ask(asked());
  };
  const text = refused({ body: ({ limit }, request) => `${limit} ${request.method}` });
  assert.deepEqual([type(text), await text.text()], ['text/plain; charset=utf-8', '1 GET']);
  const json = refused({ body: () => ({ error: 'limit' }) });
  assert.deepEqual([type(json), await json.text()], ['application/json', '{"error":"limit"}']);
  const html = refused({ body: () => '<h1>slow</h1>', contentType: 'text/html', status: 403 });
  assert.deepEqual([html.status, type(html)], [403, 'text/html']);
  const problem = refused({ status: 503, headers: { name: 'search' } });
  assert.deepEqual(await problem.json(), {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Quota Exceeded',
    status: 503,
    'violated-policies': ['search'],
  });
  const bare = refused({ headers: false });
  assert.deepEqual(
    [bare.headers.get('RateLimit'), bare.headers.get('Cache-Control')],
    [null, 'no-store'],
  );
});

test('of several limits those are violated that denied', async () => {
  const policies = {
    default: {
      limits: ['burst', 'hour', 'day'].map((name, i) => ({
        name,
        capacity: [2, 9, 2][i],
        refillPerSecond: 0,
      })),
    },
  };
  const { ask } = limited(policies, { cost: 2 });
  assert.equal(ask(asked()).status, 200);
  assert.deepEqual((await ask(asked()).json())['violated-policies'], ['burst', 'day']);
});

test('an OPTIONS is a preflight where both fields of one are there', () => {
  const { ask, left } = limited(only(9, 0), { preflight: 'free' });
  const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' };
  const asking = (method, names) =>
    ask(
      asked('acme', {
        method,
        headers: Object.fromEntries(names.map((name) => [name, headers[name]])),
      }),
    );
  asking('OPTIONS', Object.keys(headers));
  assert.equal(left(), 9);
  for (const [method, names] of [
    ['OPTIONS', []],
    ['OPTIONS', ['Origin']],
    ['OPTIONS', ['Access-Control-Request-Method']],
    ['PUT', Object.keys(headers)],
  ]) {
    asking(method, names);
  }
  assert.equal(left(), 5);
});

test('a full table names no limit that denied but the one that judged', async () => {
  const { limiter } = clocked(only(2, 0), { maxClients: 8, onFull: 'deny' });
  const ask = rateLimit({ limiter, client: byHeader })(hello);
  let response;
  for (let i = 0; i < 50 && response?.status !== 429; i += 1) response = ask(asked(`client-${i}`));
  assert.equal(response.status, 429);
  assert.deepEqual((await response.json())['violated-policies'], ['main']);
});

test('options that are not as they should be', () => {
  const { limiter } = clocked(only(1, 0));
  const { check } = limiter;
  for (const [options, message, name = 'TypeError'] of [
    [undefined, 'options must be an object such as { limiter }; got undefined'],
    [null, 'options must be an object such as { limiter }; got null'],
    ['x', 'options must be an object such as { limiter }; got "x"'],
    [{}, 'limiter must be an object with a method check; got undefined'],
    [{ limiter: {} }, 'limiter must be an object with a method check; got an Object'],
    [{ limiter, clients: byHeader }, 'there is no option "clients"'],
    [{ limiter, client: 'acme' }, 'client must be a function; got "acme"'],
    [
      { limiter, noClient: 'pass' },
      'noClient must be "reject", "skip" or { client: a name }; got "pass"',
    ],
    [
      { limiter, noClient: { client: 5 } },
      'noClient must be "reject", "skip" or { client: a name }; got an Object',
    ],
    [{ limiter, tier: 5 }, 'tier must be a string or a function; got 5'],
    [
      { limiter, cost: 0 },
      'cost must be a whole number from 1 to 9007199254740991 or a function; got 0',
      'RangeError',
    ],
    [
      { limiter, cost: '1' },
      'cost must be a whole number from 1 to 9007199254740991 or a function; got "1"',
    ],
    [{ limiter, skip: true }, 'skip must be a function; got true'],
    [{ limiter, preflight: 'skip' }, 'preflight must be "count" or "free"; got "skip"'],
    [
      { limiter, counts: 'failures' },
      'counts must be "all" or "failed" or "successful"; got "failures"',
    ],
    [{ limiter, isFailure: 500 }, 'isFailure must be a function; got 500'],
    [{ limiter, refundAborted: 1 }, 'refundAborted must be false or true; got 1'],
    [{ limiter, headers: 11 }, 'headers must be true, false or an object; got 11'],
    [{ limiter, headers: null }, 'headers must be true, false or an object; got null'],
    [{ limiter, headers: { draft: 11 } }, 'there is no option "draft"'],
    [
      { limiter, status: 200 },
      'status must be a whole number from 400 to 599; got 200',
      'RangeError',
    ],
    [{ limiter, status: '429' }, 'status must be a whole number from 400 to 599; got "429"'],
    [{ limiter, body: 'slow down' }, 'body must be a function; got "slow down"'],
    [
      { limiter, contentType: 5 },
      'contentType must be a string of printable ASCII characters; got 5',
    ],
    [
      { limiter, contentType: 'a\nb' },
      'contentType must be a string of printable ASCII characters; got "a\\nb"',
    ],
    [{ limiter, headers: [] }, 'headers must be true, false or an object; got an Array'],
    [
      { limiter, noClient: { client: '' } },
      'noClient must be "reject", "skip" or { client: a name }; got an Object',
    ],
    [{ limiter, onDecision: [] }, 'onDecision must be a function; got an Array'],
    [{ limiter, shadow: 'yes' }, 'shadow must be false or true; got "yes"'],
    [{ limiter, onWarning: 'warn' }, 'onWarning must be a function; got "warn"'],
    [{ limiter, address: '::1' }, 'address must be a function; got "::1"'],
    [
      { limiter: { check }, counts: 'failed' },
      'limiter must be an object with a method refund, for counts and refundAborted; got an Object',
    ],
    [
      { limiter: { check }, refundAborted: true },
      'limiter must be an object with a method refund, for counts and refundAborted; got an Object',
    ],
  ]) {
    for (const make of [rateLimit, decider]) {
      assert.throws(() => make(options), { name, message });
    }
  }
});
