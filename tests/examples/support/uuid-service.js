// The service of the examples for Node.js, Deno and Bun, by real requests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { exampleProject } from './example.js';
import { Program } from './program.js';

/** @typedef {import('../../package/support/project.js').Project} Project */

/**
 * How a running service is given policies: `loads` fails unless they are in force then, `refuses` unless they are not.
 * @typedef {{ loads: (text: string) => Promise<void>, refuses: (text: string) => Promise<void> }} Loading
 */

/**
 * @param {string} url
 * @param {string} [key]
 * @param {RequestInit} [more]
 */
export function ask(url, key, more) {
  const headers = key === undefined ? {} : { 'x-api-key': key };
  return fetch(url, { headers, signal: AbortSignal.timeout(60_000), ...more });
}

/**
 * @param {string} url
 * @param {string} key
 * @param {(response: Response) => boolean} wanted
 */
async function askUntil(url, key, wanted) {
  const signal = AbortSignal.timeout(60_000);
  for (;;) {
    const response = await ask(url, key, { headers: { 'x-api-key': key }, signal });
    if (wanted(response)) return response;
    await response.arrayBuffer();
  }
}

const isDenied = (/** @type {Response} */ response) => response.status === 429;

/** @param {object} tiers */
const document = (tiers) => JSON.stringify({ default: { capacity: 1, refillPerSecond: 0 }, tiers });

/**
 * The tests of one example.
 * @param {string} name of its folder
 * @param {object} options
 * @param {(command: string[]) => string[]} options.onAnyPort the command that starts it, with a port of 0
 * @param {Record<string, string | undefined>} options.env in which its commands are run
 * @param {boolean} [options.isInstalled] whether that has what the example needs beside the package, which then is all
 *   that is installed
 * @param {string | false} [options.skip] why they are left out
 * @param {(service: { program: Program, project: Project, url: string }) => Loading | Promise<Loading>} options.loading
 */
export function testUuidService(name, { onAnyPort, env, isInstalled, skip = false, loading }) {
  /** @type {Awaited<ReturnType<typeof exampleProject>>} */
  let example;
  before(async () => {
    if (!skip) example = await exampleProject(name, isInstalled ? {} : { env });
  });
  after(() => example?.project.remove());

  /** @param {import('node:test').TestContext} t */
  async function start(t) {
    const { project, command } = example;
    project.copy(`js/examples/${name}/policies.json`, 'policies.json');
    const [file, ...args] = onAnyPort(command);
    const program = new Program(file, args, { cwd: project.folder, env });
    t.after(() => program.stop());
    const [address] = await program.says(/http:\/\/127\.0\.0\.1:\d+/);
    return { program, project, url: new URL('/uuid', address).href };
  }

  test(`${name}: two tiers, told apart by their keys`, { skip }, async (t) => {
    const { url } = await start(t);
    for (const key of [undefined, 'nobody-key', 'globex', '']) {
      assert.equal((await ask(url, key)).status, 401, key);
    }
    for (let i = 0; i < 5; i += 1) {
      const response = await ask(url, 'globex-key');
      assert.equal(response.status, 200);
      assert.match((await response.json()).uuid, /^[\da-f-]{36}$/);
    }
    for (const path of ['/uuid', '/elsewhere']) {
      const denied = await ask(new URL(path, url).href, 'globex-key');
      assert.equal(denied.status, 429);
      const retryAfter = denied.headers.get('retry-after');
      assert.match(retryAfter ?? 'none', /^[1-9]\d*$/);
      assert.ok(Number(retryAfter) <= 3600 / 5, retryAfter);
      assert.equal(denied.headers.get('cache-control'), 'no-store');
    }
    for (let i = 0; i < 20; i += 1) assert.equal((await ask(url, 'acme-key')).status, 200);
    assert.equal((await ask(new URL('/elsewhere', url).href, 'acme-key')).status, 404);
  });

  test(`${name}: policies that change while it runs`, { skip }, async (t) => {
    const service = await start(t);
    const { url } = service;
    const { loads, refuses } = await loading(service);
    await askUntil(url, 'globex-key', isDenied);

    // A token comes every 0.9 s: rounded down, the wait would be none at all.
    const free = { capacity: 1, refill: { tokens: 1, seconds: 0.9 } };
    const pro = { capacity: 100, refillPerSecond: 0 };
    await loads(document({ free, pro }));
    const retryAfter = async () =>
      (await askUntil(url, 'globex-key', isDenied)).headers.get('retry-after');
    assert.equal(await retryAfter(), '1');
    await askUntil(url, 'globex-key', ({ status }) => status === 200);

    await refuses('{ "default": ');
    assert.equal(await retryAfter(), '1');
    assert.equal((await ask(url, 'acme-key')).status, 200);

    // No wait is long enough, and so none is told.
    await loads(document({ free: { ...free, refill: undefined, refillPerSecond: 0 }, pro }));
    assert.equal(await retryAfter(), null);
  });
}
