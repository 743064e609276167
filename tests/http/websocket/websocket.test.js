// The limiting of messages, over WebSockets of the library ws on Node's http server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { header } from 'tierlimit/clients';
import { byBytes, messageLimit } from 'tierlimit/websocket';

import { running } from '../app/running.js';
import { packages } from '../packages/packages.js';

const { WebSocket, WebSocketServer } = packages('ws');

const policies = (/** @type {number} */ capacity, refillPerSecond = 0) => ({
  default: { capacity, refillPerSecond },
});

/** A limiter that answers by promises, each the later the earlier it was asked for, until `go`. */
function slowly(limiter) {
  const waiting = [];
  return {
    check: (...args) => {
      const decision = limiter.check(...args);
      return new Promise((resolve) => waiting.push(() => resolve(decision)));
    },
    go: () =>
      waiting
        .splice(0)
        .reverse()
        .forEach((resolve) => resolve()),
  };
}

/**
 * A server that answers each message that is admitted with `got` and its text. `free` ones are not limited.
 * @param {import('node:test').TestContext} t
 * @param {object} options of messageLimit
 * @param {(connection: any, socket: any) => unknown} [serve]
 */
async function open(t, options, serve = echo) {
  const limit = messageLimit({ client: header('x-client'), cost: costOf, ...options });
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const connections = [];
  sockets.on('connection', (socket, request) => {
    const connection = limit(request);
    connections.push(connection);
    serve(connection, socket);
  });
  const { url, close } = await running(server);
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    close();
  });
  return { connections, connect: (client = 'acme') => Peer.to(url, client) };
}

const costOf = (message) => (String(message).startsWith('free') ? 0 : 1);

const echo = (connection, socket) => connection.wrap(socket, (data) => socket.send(`got ${data}`));

/** The other end. */
class Peer {
  heard = [];

  static async to(url, client) {
    const peer = new Peer();
    peer.socket = new WebSocket(url, { headers: client === '' ? {} : { 'X-Client': client } });
    peer.socket.on('message', (data) => peer.heard.push(String(data)));
    peer.closed = new Promise((resolve) => {
      peer.socket.on('close', (code, reason) => resolve([code, String(reason)]));
    });
    await once(peer.socket, 'open');
    return peer;
  }

  /** Sends messages, and gives all that came back until the answer to the last one, which is not limited. */
  async says(...messages) {
    for (const message of [...messages, 'free']) this.socket.send(message);
    while (!this.heard.includes('got free')) await once(this.socket, 'message');
    return this.heard.splice(0).filter((answer) => answer !== 'got free');
  }
}

test('messages over the limit are dropped, and what is dropped costs nothing', async (t) => {
  let nowMs = 0;
  const limiter = new TierLimiter({ policies: policies(2, 1), now: () => nowMs });
  const { connect } = await open(t, { limiter });
  const peer = await connect();
  assert.deepEqual(await peer.says('a', 'b', 'c', 'd'), ['got a', 'got b']);
  nowMs = 1000;
  assert.deepEqual(await peer.says('e', 'f'), ['got e']);
});

test('each connection counts for its own client; those of one client share its bucket', async (t) => {
  const limiter = new TierLimiter({ policies: policies(3) });
  const { connect, connections } = await open(t, { limiter });
  const [first, second, other] = [await connect(), await connect(), await connect('globex')];
  assert.deepEqual(await first.says('a', 'b'), ['got a', 'got b']);
  assert.deepEqual(await second.says('c', 'd'), ['got c']);
  assert.deepEqual(await other.says('e', 'f', 'g', 'h'), ['got e', 'got f', 'got g']);
  assert.deepEqual(await first.says('i'), []);
  assert.deepEqual(
    connections.map(({ client }) => client),
    ['acme', 'acme', 'globex'].map((name) => `header:x-client:${name}`),
  );
});

test('a tier that the connection is given, and one that the client is moved to', async (t) => {
  const limiter = new TierLimiter({
    policies: { ...policies(1), tiers: { pro: { capacity: 3, refillPerSecond: 0 } } },
  });
  const client = (request) => request.headers['x-client'];
  const { connect } = await open(t, { limiter, client, tier: 'pro' });
  assert.equal((await (await connect()).says('a', 'b', 'c', 'd')).length, 3);
  const own = await open(t, { limiter, client });
  const peer = await own.connect('globex');
  assert.equal((await peer.says('a', 'b')).length, 1);
  limiter.setTier('globex', 'pro', { onRaise: 'add' });
  assert.equal((await peer.says('c', 'd', 'e')).length, 2);
});

for (const [policy, cost, code] of [
  ['waiting helps', 1, 1013],
  ['waiting never helps', 9, 1008],
]) {
  test(`onRefusal: 'close', ${policy}: ${code}, and nothing more is charged`, async (t) => {
    const limiter = new TierLimiter({ policies: policies(2, 1), now: () => 0 });
    const decided = [];
    const { connect } = await open(t, {
      ...{ limiter, onRefusal: 'close' },
      cost: (message) => (String(message) === 'last' ? cost : 1),
      onDecision: ({ allowed }, { client, message }) =>
        decided.push([client, String(message), allowed]),
    });
    const peer = await connect();
    for (const message of ['a', 'b', 'last', 'c', 'd']) peer.socket.send(message);
    assert.deepEqual(await peer.closed, [code, 'rate limit: denied']);
    assert.deepEqual(peer.heard, ['got a', 'got b']);
    assert.deepEqual(
      decided.map(([, ...rest]) => rest),
      [
        ['a', true],
        ['b', true],
        ['last', false],
      ],
    );
  });
}

test('another code to close with', async (t) => {
  const limiter = new TierLimiter({ policies: policies(1) });
  const { connect } = await open(t, { limiter, onRefusal: 'close', closeCode: 4429 });
  const peer = await connect();
  peer.socket.send('a');
  peer.socket.send('b');
  assert.deepEqual(await peer.closed, [4429, 'rate limit: denied']);
});

test('where a program may send none of the codes of the protocol, it is one of its own', () => {
  const limiter = new TierLimiter({ policies: policies(1) });
  const closed = [];
  const socket = {
    close(code, reason) {
      // The rule of the web: https://websockets.spec.whatwg.org/#dom-websocket-close
      if (code !== 1000 && code < 3000) throw new DOMException('no', 'InvalidAccessError');
      closed.push([code, reason]);
    },
  };
  const connection = messageLimit({ limiter, client: () => 'acme', onRefusal: 'close' })('any');
  assert.equal(connection.admits('a', socket), true);
  assert.equal(connection.admits('b', socket), false);
  assert.deepEqual(closed, [[4008, 'rate limit: denied']]);
});

test("onRefusal: 'answer' says why, and when to try again", async (t) => {
  const limiter = new TierLimiter({ policies: policies(1, 0.4), now: () => 0 });
  const { connect } = await open(t, { limiter, onRefusal: 'answer' });
  const [first, second] = await (await connect()).says('a', 'b');
  assert.equal(first, 'got a');
  assert.deepEqual(JSON.parse(second), {
    ...{ error: 'rate-limited', reason: 'denied', limit: 'main', retryAfterMs: 2500 },
  });
});

test('a function on refusal is given the verdict and the socket', async (t) => {
  const limiter = new TierLimiter({ policies: policies(1, 0.5), now: () => 0 });
  const { connect } = await open(t, {
    limiter,
    onRefusal: ({ reason, retryAfterMs, decision, allowed }, socket) =>
      socket.send(JSON.stringify([reason, retryAfterMs, decision.remaining, allowed])),
  });
  const answers = await (await connect()).says('a', 'b');
  assert.deepEqual(answers, ['got a', '["denied",2000,0,false]']);
});

test('a cost by size, of text and of bytes', async (t) => {
  const limiter = new TierLimiter({ policies: policies(10) });
  const client = (request) => request.headers['x-client'];
  const perByte = byBytes(4);
  const { connect } = await open(t, {
    ...{ limiter, client },
    cost: (message) => (String(message) === 'free' ? 0 : perByte(message)),
  });
  const peer = await connect();
  for (const [message, left] of [
    ['', 9],
    ['€€', 7],
    [Buffer.alloc(9), 4],
    ['0123456789abcdefg', 4],
    ['0123456789abcdef', 0],
  ]) {
    await peer.says(message);
    assert.equal(limiter.peek('acme').remaining, left);
  }
});

test('the size of a message is that of its UTF-8 or its bytes, in whatever it comes', () => {
  const size = byBytes(1);
  const text = 'a\u00fc\u20ac\u{1f600}';
  assert.equal(size(text), Buffer.byteLength(text));
  for (const bytes of [
    new ArrayBuffer(5),
    new Uint8Array(new ArrayBuffer(9), 1, 5),
    new Blob(['01234']),
    [Buffer.alloc(2), Buffer.alloc(3)],
  ]) {
    assert.equal(size(bytes), 5);
  }
  assert.deepEqual([size(''), size(undefined)], [1, 1]);
  assert.throws(() => byBytes(0), /^RangeError: bytes must be a whole number from 1 .*; got 0$/);
});

test('who does not read is not answered', () => {
  const limiter = new TierLimiter({ policies: policies(1) });
  const connection = messageLimit({ limiter, client: () => 'acme', onRefusal: 'answer' })('any');
  const sent = [];
  const socket = { bufferedAmount: 0, close() {}, send: (text) => sent.push(text) };
  assert.equal(connection.admits('a', socket), true);
  for (const [bufferedAmount, answers] of [
    [65536, 1],
    [65537, 1],
    [0, 2],
  ]) {
    socket.bufferedAmount = bufferedAmount;
    assert.equal(connection.admits('b', socket), false);
    assert.equal(sent.length, answers);
  }
});

test('what a refusal throws is a warning, once', () => {
  const warnings = [];
  const limiter = new TierLimiter({ policies: policies(1) });
  const connection = messageLimit({
    ...{ limiter, client: () => 'acme', onWarning: (...warning) => warnings.push(warning) },
    onRefusal: () => {
      throw new Error('closed already');
    },
  })('any');
  for (const admitted of [true, false, false]) {
    assert.equal(connection.admits('a', { send() {}, close() {} }), admitted);
  }
  assert.deepEqual(
    warnings.map(([message, { message: cause }]) => [message, cause]),
    [['tierlimit: a refusal could not be told', 'closed already']],
  );
});

test('options and arguments that are wrong', () => {
  const limiter = new TierLimiter({ policies: policies(1) });
  for (const [options, message] of [
    [undefined, /^TypeError: options must be an object/],
    [{}, /^TypeError: limiter/],
    [{ limiter, client: 'acme' }, /^TypeError: client/],
    [{ limiter, noClient: 'pass' }, /^TypeError: noClient/],
    [{ limiter, tier: 7 }, /^TypeError: tier/],
    [{ limiter, cost: 0 }, /^RangeError: cost/],
    [{ limiter, onRefusal: 'shout' }, /^TypeError: onRefusal/],
    [{ limiter, closeCode: 999 }, /^RangeError: closeCode/],
    [{ limiter, onDecision: true }, /^TypeError: onDecision/],
    [{ limiter, shadow: 1 }, /^TypeError: shadow/],
    [{ limiter, oncost: 1 }, /^TypeError: there is no option "oncost"/],
  ]) {
    assert.throws(() => messageLimit(options), message);
  }
  const connection = messageLimit({ limiter, client: () => 'acme' })('any');
  assert.throws(() => connection.wrap({}, () => {}), /^TypeError: socket/);
  assert.throws(() => connection.wrap({ on() {} }), /^TypeError: onMessage/);
});

for (const [noClient, heard] of [
  ['reject', []],
  ['skip', ['got a', 'got b', 'got c']],
  [{ client: 'all' }, ['got a', 'got b']],
]) {
  test(`without a client: ${JSON.stringify(noClient)}, and one warning`, async (t) => {
    const warnings = [];
    const limiter = new TierLimiter({ policies: policies(2) });
    const onWarning = (message) => warnings.push(message);
    const { connect } = await open(t, { limiter, noClient, onWarning });
    assert.deepEqual(await (await connect('')).says('a', 'b', 'c'), heard);
    await connect('');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /^tierlimit: a connection of which the client is not known/);
  });
}

test('by default the address of the peer is the client', async (t) => {
  const limiter = new TierLimiter({ policies: policies(1) });
  const { connect, connections } = await open(t, { limiter, client: undefined });
  assert.deepEqual(await (await connect('x')).says('a', 'b'), ['got a']);
  assert.equal(connections[0].client, 'ip:127.0.0.1');
});

test('shadow mode decides, tells and refuses nothing', async (t) => {
  const limiter = new TierLimiter({ policies: policies(1) });
  const decided = [];
  const { connect } = await open(t, {
    ...{ limiter, shadow: true, onRefusal: 'close' },
    onDecision: ({ allowed }, { refused }) => decided.push([allowed, refused]),
  });
  assert.deepEqual(await (await connect()).says('a', 'b'), ['got a', 'got b']);
  assert.deepEqual(decided, [
    [true, false],
    [false, false],
  ]);
});

test('a limiter that answers by promises: messages keep their order', async (t) => {
  const limiter = slowly(new TierLimiter({ policies: policies(3) }));
  const { connect } = await open(t, { limiter });
  const peer = await connect();
  const heard = peer.says('a', 'b', 'free?', 'c', 'd');
  let isOver = false;
  heard.finally(() => (isOver = true));
  while (!isOver) {
    limiter.go();
    await new Promise(setImmediate);
  }
  assert.deepEqual(await heard, ['got a', 'got b', 'got free?', 'got c']);
});

test('so many messages may wait for a decision, and no more', async () => {
  const limiter = slowly(new TierLimiter({ policies: policies(5000) }));
  const closed = [];
  const connection = messageLimit({ limiter, client: () => 'acme', onRefusal: 'close' })('any');
  const socket = { close: (...args) => closed.push(args) };
  const admitted = Array.from({ length: 1000 }, () => connection.admits('a', socket));
  assert.deepEqual(closed, []);
  assert.equal(connection.admits('a', socket), false);
  assert.deepEqual(closed, [[1013, 'rate limit: waiting']]);
  limiter.go();
  assert.deepEqual(new Set(await Promise.all(admitted)), new Set([false]));
});

test('what a limiter throws closes the connection with 1011, and is a warning', async (t) => {
  const warnings = [];
  const limiter = new TierLimiter({ policies: policies(1) });
  const onWarning = (...warning) => warnings.push(warning);
  const { connect } = await open(t, { limiter, onWarning, client: () => 'acme' });
  const peer = await connect();
  limiter.dispose();
  peer.socket.send('a');
  assert.deepEqual(await peer.closed, [1011, 'rate limit: error']);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0][1].message, /disposed/);
});

test('a listener that was taken off hears nothing more', async (t) => {
  const limiter = new TierLimiter({ policies: policies(9) });
  const { connect } = await open(t, { limiter }, (connection, socket) => {
    const off = connection.wrap(socket, (data) => {
      socket.send(`once ${data}`);
      off();
      echo(connection, socket);
    });
  });
  assert.deepEqual(await (await connect()).says('a', 'b'), ['once a', 'got b']);
});
