// The service of the examples in each framework and runtime, by real requests.
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
 * @param {boolean} [options.byAddress] whether addresses are those that X-Forwarded-For tells, where PROXIES says so
 * @param {(service: { program: Program, project: Project, url: string }) => Loading | Promise<Loading>} options.loading
 */
export function testUuidService(
  name,
  { onAnyPort, env, isInstalled, skip = false, byAddress = true, loading },
) {
  /** @type {Awaited<ReturnType<typeof exampleProject>>} */
  let example;
  before(async () => {
    if (!skip) example = await exampleProject(name, isInstalled ? {} : { env });
  });
  after(() => example?.project.remove());

  /**
   * @param {import('node:test').TestContext} t
   * @param {Record<string, string>} [more] for its environment
   */
  async function start(t, more = {}) {
    const { project, command } = example;
    project.copy(`js/examples/${name}/policies.json`, 'policies.json');
    const [file, ...args] = onAnyPort(command);
    const program = new Program(file, args, { cwd: project.folder, env: { ...env, ...more } });
    t.after(() => program.stop());
    const [address] = await program.says(/http:\/\/127\.0\.0\.1:\d+/);
    return { program, project, url: new URL('/uuid', address).href };
  }

  test(`${name}: two tiers, told apart by their keys`, { skip }, async (t) => {
    const { url } = await start(t);
    for (let left = 4; left >= 0; left -= 1) {
      const response = await ask(url, 'globex-key');
      assert.equal(response.status, 200);
      assert.match((await response.json()).uuid, /^[\da-f-]{36}$/);
      assert.equal(response.headers.get('ratelimit-policy'), '"main";q=5;w=3600');
      assert.match(
        response.headers.get('ratelimit') ?? '',
        new RegExp(`^"main";r=${left};t=\\d+$`),
      );
    }
    for (const path of ['/uuid', '/elsewhere']) {
      const denied = await ask(new URL(path, url).href, 'globex-key');
      assert.equal(denied.status, 429);
      const retryAfter = denied.headers.get('retry-after');
      assert.match(retryAfter ?? 'none', /^[1-9]\d*$/);
      assert.ok(Number(retryAfter) <= 3600 / 5, retryAfter);
      assert.equal(denied.headers.get('cache-control'), 'no-store');
      assert.equal(denied.headers.get('content-type'), 'application/problem+json');
      const { type, 'violated-policies': violated } = await denied.json();
      assert.match(type, /#quota-exceeded$/);
      assert.deepEqual(violated, ['main']);
    }
    for (let i = 0; i < 20; i += 1) assert.equal((await ask(url, 'acme-key')).status, 200);
    const elsewhere = await ask(new URL('/elsewhere', url).href, 'acme-key');
    assert.equal(elsewhere.status, 404);
    const policy = '"minute";q=100;w=60, "day";q=10000;w=86400';
    assert.equal(elsewhere.headers.get('ratelimit-policy'), policy);
  });

  test(`${name}: who has no key that exists counts by address`, { skip }, async (t) => {
    const { url } = await start(t);
    const statusOf = async (/** @type {string | undefined} */ key, headers = {}) => {
      const own = key === undefined ? {} : { 'x-api-key': key };
      const response = await ask(url, key, { headers: { ...own, ...headers } });
      const isRefused = response.status === 429;
      const fields = response.headers.get('ratelimit-policy');
      assert.equal(fields, key === 'globex-key' ? '"main";q=5;w=3600' : '"main";q=3;w=3600');
      assert.equal(response.headers.get('retry-after') !== null, isRefused);
      return response.status;
    };
    assert.deepEqual(
      [await statusOf(undefined), await statusOf('nobody-key'), await statusOf('')],
      [200, 401, 200],
    );
    for (const key of [undefined, 'nobody-key', 'globex', '']) {
      assert.equal(await statusOf(key), 429, key);
    }
    // No proxy was said to be there, so that nobody can say where they come from.
    const elsewhere = { 'x-forwarded-for': '203.0.113.5' };
    assert.equal(await statusOf(undefined, elsewhere), 429);
    assert.equal(await statusOf('globex-key'), 200);
  });

  const noProxies = byAddress ? false : 'it is told the address in another way';
  test(
    `${name}: behind a proxy it is the address that this tells`,
    { skip: skip || noProxies },
    async (t) => {
      const { url } = await start(t, { PROXIES: '1' });
      const statusOf = async (/** @type {string} */ list) =>
        (await ask(url, undefined, { headers: { 'x-forwarded-for': list } })).status;
      for (const [list, status] of /** @type {[string, number][]} */ ([
        ['203.0.113.5', 200],
        ['198.51.100.1, 203.0.113.5', 200],
        ['198.51.100.2, 203.0.113.5', 200],
        ['198.51.100.3, 203.0.113.5', 429],
        ['203.0.113.5, 198.51.100.3', 200],
      ])) {
        assert.equal(await statusOf(list), status, list);
      }
    },
  );

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
