/**
 * The package through bundlers, from the tarball: a page in Chromium, a worker in workerd. What is inline in a page's
 * bundle is a string of characters up to U+00FF, which another charset would make another string of.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { conclude } from '../../contract/outcome.js';
import { launchChromium, noChromium } from '../../runtime/browser/support/chromium.js';
import { Site } from '../../runtime/browser/support/site.js';
import { serve } from '../../runtime/workerd/bare.js';
import { makeProject } from '../support/project.js';
import { bundlers } from './support/bundlers.js';

const page = `
  import * as tierlimit from 'tierlimit';
  import { contract } from './contract.js';

  const say = (found) => fetch('/said', { method: 'POST', body: JSON.stringify(found) });
  try {
    const limiter = new tierlimit.TierLimiter({
      policies: { default: { capacity: 2, refillPerSecond: 0 } },
    });
    const admitted = [1, 2, 3].map(() => limiter.allow('acme'));
    say({ charset: document.characterSet, admitted, outcomes: contract(tierlimit) });
  } catch (error) {
    say({ charset: document.characterSet, error: \`\${error}\` });
  }`;

const worker = `
  import * as tierlimit from 'tierlimit';
  import { contract } from './contract.js';

  const limiter = new tierlimit.TierLimiter({
    policies: { default: { capacity: 2, refillPerSecond: 0 } },
  });

  export default {
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/contract') return Response.json(contract(tierlimit));
      const { allowed, remaining } = limiter.check(pathname);
      return Response.json({ remaining }, { status: allowed ? 200 : 429 });
    },
  };`;

const html = (script) =>
  `<!doctype html><html lang="en"><title>tierlimit</title>${script}</script></html>`;
/** A page's script, and the page that has it. */
const kinds = {
  module: html('<script type="module" src="page.js">'),
  script: html('<script src="page.js">'),
};

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/contract/limiter.js', 'contract.js');
  project.write({ 'page.js': page, 'worker.js': worker });
});
after(() => project?.remove());

describe('a page', { skip: noChromium }, () => {
  let browser, site;
  before(async () => {
    // Of no charset: neither the server nor the page names one.
    site = await Site.of(project.folder, {
      charset: false,
      policy: "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
    });
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  for (const [name, { version, bundle }] of Object.entries(bundlers)) {
    /**
     * What the page found out that has such a bundle.
     * @param {'module' | 'script'} kind
     * @param {'utf8' | 'ascii'} charset
     */
    const visit = async (kind, charset) => {
      const folder = `${name}-${kind}-${charset}`;
      project.write({ [`${folder}/index.html`]: kinds[kind] });
      await bundle({ root: project.folder, entry: 'page.js', folder, kind, charset });
      const text = readFileSync(project.at(folder, 'page.js'), 'utf8');
      assert.equal(
        /[^\0-\x7f]/.test(text),
        charset === 'utf8',
        'the charset is as it was asked for',
      );
      // Neither outlives its being copied into a page.
      assert.equal(/[\0\r]/.test(text), false, 'there is a NUL or a carriage return in it');
      const { found, complaints } = await site.visit(browser, `/${folder}/index.html`);
      assert.deepEqual(complaints, []);
      assert.equal(found.charset, 'windows-1252');
      return found;
    };

    test(`${name}, module`, async (t) => {
      // Browsers take modules to be UTF-8, whatever else is said.
      const { outcomes, admitted, error } = await visit('module', 'utf8');
      assert.deepEqual([admitted, error], [[true, true, false], undefined]);
      conclude(t, { runtime: `${name}, page`, version, outcomes });
    });

    test(`${name}, script in ASCII`, async () => {
      const { admitted, error } = await visit('script', 'ascii');
      assert.deepEqual([admitted, error], [[true, true, false], undefined]);
    });

    test(`${name}, script in UTF-8 that is taken for another charset: an error that says so`, async () => {
      const { admitted, error } = await visit('script', 'utf8');
      assert.equal(admitted, undefined);
      assert.match(error, /charset/);
    });
  }
});

describe('a worker', () => {
  for (const [name, { version, bundle }] of Object.entries(bundlers)) {
    test(name, async (t) => {
      const folder = `${name}-worker`;
      await bundle({
        root: project.folder,
        entry: 'worker.js',
        folder,
        kind: 'module',
        charset: 'utf8',
        worker: true,
      });
      const text = readFileSync(project.at(folder, 'worker.js'), 'utf8');
      assert.ok(/from\s?"\.\/core\.wasm"/.test(text), 'it does not import the module');
      assert.ok(
        text.length < 60_000,
        `${text.length} characters: the bytes of the module are in it too`,
      );
      const server = await serve(project, folder, { main: 'worker.js', date: '2025-01-01' });
      try {
        const statuses = [];
        for (let i = 0; i < 3; i += 1) statuses.push((await server.ask('/acme')).status);
        assert.deepEqual(statuses, [200, 200, 429]);
        const outcomes = await server.json('/contract');
        conclude(t, { runtime: `${name}, workerd`, version, outcomes });
      } finally {
        await server.stop();
      }
    });
  }
});
