// The example for WebSockets, by real connections of the library that it uses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { packages } from '../http/packages/packages.js';
import { environment } from './support/environment.js';
import { exampleProject } from './support/example.js';
import { testVersions } from './support/framework.js';
import { Program } from './support/program.js';

const { WebSocket } = packages('ws');
const env = environment();

testVersions('websocket');

let example;
before(async () => {
  example = await exampleProject('websocket', { env });
});
after(() => example?.project.remove());

/**
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} [more] what it is told by its environment
 */
async function start(t, more = {}) {
  const { project, command } = example;
  const [file, ...args] = command;
  const options = { cwd: project.folder, env: { ...env, ...more } };
  const program = new Program(file, [...args, '--', '0'], options);
  t.after(() => program.stop());
  const [url] = await program.says(/ws:\/\/127\.0\.0\.1:\d+\//);

  /** What asks by a connection of its own. */
  return async function connect(headers) {
    const socket = new WebSocket(url, { headers });
    t.after(() => socket.terminate());
    await once(socket, 'open');
    return async (message) => {
      const signal = AbortSignal.timeout(60_000);
      const answer = once(socket, 'message', { signal });
      socket.send(message);
      const [data] = await answer;
      return JSON.parse(`${data}`);
    };
  };
}

test('websocket: all connections of a key share its messages, and who has none is told when to come back', async (t) => {
  const connect = await start(t);
  const globex = { 'x-api-key': 'globex-key' };
  const [one, two] = [await connect(globex), await connect(globex)];
  for (const ask of [one, two, one]) {
    const { uuid, for: message } = await ask('hello');
    assert.match(uuid, /^[\da-f-]{36}$/);
    assert.equal(message, 'hello');
  }
  // Two tokens, for more than 1024 bytes; then none is left.
  assert.ok((await two('x'.repeat(1025))).uuid);
  for (const ask of [one, two, await connect(globex)]) {
    const { retryAfterMs, ...refusal } = await ask('hello');
    assert.deepEqual(refusal, { error: 'rate-limited', reason: 'denied', limit: 'main' });
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 720_000, `${retryAfterMs}`);
  }

  const acme = await connect({ 'x-api-key': 'acme-key' });
  for (let i = 0; i < 20; i += 1) assert.ok((await acme(`${i}`)).uuid);
  // That is eighty more of its hundred a minute.
  for (let i = 0; i < 2; i += 1) await acme('x'.repeat(40_000));
  assert.equal((await acme('x'.repeat(60_000))).limit, 'minute');
});

test('websocket: who has no key that exists counts by address', async (t) => {
  const connect = await start(t);
  const strangers = [await connect({}), await connect({ 'x-api-key': 'nobody-key' })];
  const elsewhere = { 'x-forwarded-for': '203.0.113.5' };
  for (const ask of [...strangers, await connect(elsewhere)]) assert.ok((await ask('hello')).uuid);
  for (const ask of [...strangers, await connect(elsewhere)]) {
    assert.equal((await ask('hello')).error, 'rate-limited');
  }
});

test('websocket: behind a proxy it is the address that this tells', async (t) => {
  const connect = await start(t, { PROXIES: '1' });
  const of = (list) => connect({ 'x-forwarded-for': list });
  const ask = await of('198.51.100.1, 203.0.113.5');
  for (let i = 0; i < 3; i += 1) assert.ok((await ask('hello')).uuid);
  assert.equal((await (await of('203.0.113.5'))('hello')).error, 'rate-limited');
  assert.ok((await (await of('203.0.113.5, 198.51.100.1'))('hello')).uuid);
});
