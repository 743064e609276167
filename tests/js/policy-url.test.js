// Policies at a URL, asked for from a real server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { TierLimiter } from 'tierlimit';
import { pollUrl } from 'tierlimit/policies';

import { only, seed, thrown } from './support/limiter.js';
import { told } from './support/told.js';

const text = (capacity) => JSON.stringify(only(capacity, 0));

/** Requests as they came, and how the next ones are answered. */
const requests = [];
let answer = (request, response) => response.end();
const server = createServer((request, response) => {
  requests.push({ url: request.url, headers: request.headers });
  answer(request, response);
});
let origin;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests.length = 0;
});

/** A source that is due at each `look`. */
function polled(options = {}) {
  const clock = { ms: 0 };
  const limiter = new TierLimiter({ policies: text(1), seed, now: () => 0 });
  const hooks = told();
  const source = pollUrl({
    limiter,
    url: `${origin}/policies.json?key=secret`,
    now: () => clock.ms,
    ...hooks.hooks,
    ...options,
  });
  const look = () => {
    clock.ms += 30_000;
    return source.refresh();
  };
  const capacity = () => limiter.peek('nobody').limit;
  return { limiter, source, look, capacity, told: hooks };
}

/** Serves a document with an ETag as servers do: by its text, and 304 where it is known. */
const serve = (document) => (request, response) => {
  const etag = `W/"${document.length}-${document}"`.replace(/[^\x21-\x7e]/g, '');
  response.setHeader('etag', etag);
  if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.setHeader('content-type', 'application/json').end(document);
};

test('a document is asked for once; then the server says that it is the same, and a new one comes whole', async () => {
  const { limiter, source, look, capacity } = polled();
  answer = serve(text(5));
  assert.deepEqual([await look(), capacity()], ['applied', 5]);
  assert.deepEqual([await look(), await look()], ['unchanged', 'unchanged']);
  assert.equal(limiter.revision, 2);
  answer = serve(text(6));
  assert.deepEqual([await look(), capacity()], ['applied', 6]);
  const [first, second, third, fourth] = requests;
  assert.equal(first.url, '/policies.json?key=secret');
  assert.equal(first.headers.accept, 'application/json');
  assert.equal(first.headers['if-none-match'], undefined);
  const { version, from } = source.status();
  assert.equal(second.headers['if-none-match'], `W/"${text(5).length}-${text(5)}"`);
  assert.equal(fourth.headers['if-none-match'], third.headers['if-none-match']);
  assert.equal(version, `W/"${text(6).length}-${text(6)}"`);
  // What may be secret is in no message.
  assert.equal(from, `${origin}/policies.json`);
});

test('a document that is refused is not sent again while it is there, and stays refused', async () => {
  const { source, look, capacity, told } = polled();
  answer = serve('{ "default": {');
  assert.equal(await look(), 'refused');
  assert.equal(await look(), 'unchanged');
  assert.equal(requests[1].headers['if-none-match'], 'W/"14-{"default":{"');
  assert.deepEqual([source.status().refused.times, told.calls.length, capacity()], [1, 1, 1]);
  answer = serve(text(5));
  assert.deepEqual([await look(), capacity()], ['applied', 5]);
});

test('a server without ETags sends all of it each time, and it is put in force once', async () => {
  const { limiter, look } = polled();
  answer = (request, response) => response.end(text(5));
  assert.deepEqual(
    [await look(), await look(), await look()],
    ['applied', 'unchanged', 'unchanged'],
  );
  assert.ok(requests.every(({ headers }) => headers['if-none-match'] === undefined));
  assert.equal(limiter.revision, 2);
});

test('any other answer is told with its status, and changes nothing', async () => {
  const { source, look, capacity, told } = polled();
  answer = serve(text(5));
  await look();
  await told.next();
  for (const status of [204, 400, 404, 429, 500, 503]) {
    answer = (request, response) => response.writeHead(status).end(status === 204 ? '' : text(9));
    assert.equal(await look(), 'unreadable');
    assert.equal(
      (await told.next()).error.message,
      `${origin}/policies.json answered with status ${status}`,
    );
  }
  assert.equal(source.status().unreadable.times, 6);
  answer = serve(text(5));
  assert.deepEqual([await look(), source.status().unreadable, capacity()], ['unchanged', null, 5]);
});

test('an answer of 304 to who has nothing is no answer', async () => {
  const { source, look } = polled();
  answer = (request, response) => response.writeHead(304).end();
  assert.equal(await look(), 'unreadable');
  assert.match(source.status().unreadable.error.message, /answered with status 304/);
});

test('a redirect is followed; a loop of them is told', async () => {
  const { look, capacity } = polled();
  answer = (request, response) =>
    request.url === '/moved'
      ? serve(text(5))(request, response)
      : response.writeHead(307, { location: '/moved' }).end();
  assert.deepEqual([await look(), capacity()], ['applied', 5]);
  answer = (request, response) => response.writeHead(302, { location: request.url }).end();
  assert.equal(await look(), 'unreadable');
});

test('a server that is not there, and a connection that ends in the middle of the body', async () => {
  const { source, look, capacity } = polled({ url: 'http://127.0.0.1:1/' });
  assert.equal(await look(), 'unreadable');
  assert.equal(capacity(), 1);
  assert.ok(source.status().unreadable.error instanceof TypeError);

  const cut = polled();
  answer = (request, response) => {
    response.writeHead(200, { 'content-length': text(5).length + 1 });
    response.write(text(5), () => response.destroy());
  };
  assert.deepEqual([await cut.look(), cut.capacity()], ['unreadable', 1]);
});

test('a server that never answers, or never ends, is left when the time is over', async () => {
  for (const begin of [() => {}, (response) => response.writeHead(200).write('{')]) {
    const { source, look, capacity } = polled({ timeoutMs: 200 });
    let left;
    answer = (request, response) => {
      left = once(response, 'close');
      begin(response);
    };
    assert.deepEqual([await look(), capacity()], ['unreadable', 1]);
    assert.equal(
      source.status().unreadable.error.message,
      `a look at ${origin}/policies.json took longer than 200 ms`,
    );
    await left;
  }
});

test('close ends a request that is under way', async () => {
  const { source, look } = polled();
  const arrived = new Promise((resolve) => {
    answer = (request, response) => resolve(response);
  });
  const outcome = look();
  const left = once(await arrived, 'close');
  source.close();
  assert.equal(await outcome, 'closed');
  await left;
});

test('a document that is too large is not read to its end, packed or not', async () => {
  const exact = text(5);
  const { source, look, capacity } = polled({ maxBytes: exact.length });
  answer = serve(exact);
  assert.deepEqual([await look(), capacity()], ['applied', 5]);
  answer = serve(`${exact} `);
  assert.equal(await look(), 'unreadable');
  assert.equal(
    source.status().unreadable.error.message,
    `${origin}/policies.json has more than ${exact.length} bytes (see maxBytes)`,
  );
  // A body without an end: it is left, or this would not end either.
  answer = (request, response) => {
    const more = () => response.writable && response.write(' '.repeat(2 ** 16), more);
    more();
  };
  assert.equal(await look(), 'unreadable');
  const bomb = gzipSync(Buffer.alloc(2 ** 24, ' '));
  answer = (request, response) => response.setHeader('content-encoding', 'gzip').end(bomb);
  assert.equal(await look(), 'unreadable');
  assert.equal(capacity(), 5);
});

test('a document that is not UTF-8 is refused; a byte order mark is none of its faults', async () => {
  const { source, look, capacity } = polled();
  answer = (request, response) => response.end(Buffer.from(`{"é":1}`, 'latin1'));
  assert.equal(await look(), 'refused');
  assert.equal(source.status().refused.error.message, 'the document is not UTF-8');
  answer = (request, response) => response.end(`\uFEFF${text(5)}`);
  assert.deepEqual([await look(), capacity()], ['applied', 5]);
});

test('headers are sent, and those of the source give way to them', async () => {
  const headers = { authorization: 'Bearer 5', Accept: '*/*', 'if-none-match': '"mine"' };
  const { look } = polled({ headers });
  answer = serve(text(5));
  await look();
  await look();
  for (const { headers: seen } of requests) {
    assert.deepEqual(
      [seen.authorization, seen.accept, seen['if-none-match']],
      ['Bearer 5', '*/*', '"mine"'],
    );
  }
});

test('another fetch can ask, and the runtime’s own is looked up when it asks', async () => {
  const urls = [];
  const { look, capacity } = polled({
    fetch: (url, init) => {
      urls.push(url);
      return fetch(url, init);
    },
  });
  answer = serve(text(5));
  assert.deepEqual([await look(), capacity()], ['applied', 5]);
  assert.deepEqual(urls, [`${origin}/policies.json?key=secret`]);

  const own = polled();
  const { fetch: original } = globalThis;
  globalThis.fetch = async () => {
    throw new Error('patched');
  };
  try {
    assert.equal(await own.look(), 'unreadable');
    assert.equal(own.source.status().unreadable.error.message, 'patched');
  } finally {
    globalThis.fetch = original;
  }
});

test('options that are not as they should be are refused when it is made', () => {
  const limiter = new TierLimiter({ policies: text(1), seed });
  const rule = 'url must be an http or https URL without credentials; got';
  for (const [options, name, message] of [
    [{ limiter }, 'TypeError', `${rule} undefined`],
    [{ limiter, url: '/policies.json' }, 'TypeError', `${rule} "/policies.json"`],
    [{ limiter, url: 'file:///etc/p.json' }, 'TypeError', `${rule} "file:///etc/p.json"`],
    [{ limiter, url: 'https://a:b@c.example/' }, 'TypeError', `${rule} "https://…@c.example"`],
    [{ limiter, url: 'https://a@c.example/' }, 'TypeError', `${rule} "https://…@c.example"`],
    [{ limiter, url: origin, fetch: 5 }, 'TypeError', 'fetch must be a function; got 5'],
    [
      { limiter, url: origin, maxBytes: 0 },
      'RangeError',
      'maxBytes must be a whole number from 1 to 1073741824; got 0',
    ],
    [{ limiter, url: origin, etag: true }, 'TypeError', 'there is no option "etag"'],
  ]) {
    const error = thrown(() => pollUrl(options));
    assert.deepEqual([error.name, error.message], [name, message]);
  }
  assert.throws(() => pollUrl({ limiter, url: origin, headers: { 'a b': 'c' } }), TypeError);
  assert.equal(pollUrl({ limiter, url: new URL(origin) }).status().from, `${origin}/`);
});
