// The example for browsers, in Chromium. Limits that do not refill stand for those that take long, so that nothing depends on
// how long a click takes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { launchChromium, noChromium } from '../runtime/browser/support/chromium.js';
import { exampleProject } from './support/example.js';
import { Program } from './support/program.js';

describe('browser', { skip: noChromium }, () => {
  let example, browser;
  before(async () => {
    example = await exampleProject('browser');
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    example?.project.remove();
  });

  /**
   * The page of a server with these policies, or those of the example.
   * @param {import('node:test').TestContext} t
   * @param {{ page?: object, server?: object }} [policies] the default one of each
   */
  async function open(t, policies = {}) {
    const { project, command } = example;
    project.copy('js/examples/browser/policies', 'policies');
    for (const [name, policy] of Object.entries(policies)) {
      project.write({ [`policies/${name}.json`]: JSON.stringify({ default: policy }) });
    }
    const [file, ...args] = command;
    const program = new Program(file, [...args, '--', '0'], { cwd: project.folder });
    t.after(() => program.stop());
    const [url] = await program.says(/http:\/\/127\.0\.0\.1:\d+\//);
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    t.after(() => page.close());
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.stack));
    page.on('console', (message) => {
      // Chromium asks for an icon, and reports every answer from 400 on.
      const expected =
        / 429 /.test(message.text()) || /\/favicon\.ico$/.test(message.location().url);
      if (!expected) complaints.push(message.text());
    });
    await page.goto(url);

    /** Calls so often, and waits until the counts are these. */
    async function call(calls, { held }, expected) {
      await page.getByLabel('Calls').fill(`${calls}`);
      await page.getByLabel('Hold them back').setChecked(held);
      await page.getByRole('button', { name: 'Call' }).click();
      for (const [name, count] of Object.entries(expected)) {
        await page
          .locator(`#${name}`)
          .filter({ hasText: new RegExp(`^${count}$`) })
          .waitFor();
      }
      assert.deepEqual(complaints, []);
    }
    return { url, call };
  }

  test('twenty calls are held back, and the server refuses none', async (t) => {
    const { call } = await open(t);
    await call(20, { held: true }, { waiting: 0, answered: 20, refused: 0, failed: 0 });
  });

  test('what its limit does not admit waits in the page', async (t) => {
    const server = { capacity: 10, refillPerSecond: 0 };
    const { url, call } = await open(t, { page: { capacity: 5, refillPerSecond: 1e-6 }, server });
    await call(20, { held: true }, { answered: 5, waiting: 15, refused: 0, failed: 0 });
    // The server was not called more often than that.
    const statuses = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await fetch(`${url}api/time`)).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
  });

  test('a limit that admits nothing any more is said at once', async (t) => {
    const { call } = await open(t, { page: { capacity: 5, refillPerSecond: 0 } });
    await call(7, { held: true }, { answered: 5, failed: 2, waiting: 0, refused: 0 });
  });

  test('calls that are not held back are refused by the server', async (t) => {
    const { call } = await open(t, { server: { capacity: 10, refillPerSecond: 0 } });
    await call(40, { held: false }, { waiting: 0, answered: 10, refused: 30, failed: 0 });
  });

  test('a call that the server refuses after all comes back when it was told to', async (t) => {
    const { call } = await open(t, { server: { capacity: 1, refillPerSecond: 1.25 } });
    await call(3, { held: true }, { waiting: 0, answered: 3, refused: 0, failed: 0 });
  });

  test('of the files beside the page only the page is served', async (t) => {
    const { url } = await open(t);
    for (const path of [
      'server.js',
      'policies/server.json',
      'node_modules/tierlimit/js/%2e%2e/package.json',
      '..%2fserver.js',
    ]) {
      assert.equal((await fetch(`${url}${path}`)).status, 404, path);
    }
  });
});
