/**
 * The contract in a page and in a worker of Chromium, from the tarball, bundled and as it stands. The site's
 * Content-Security-Policy lets WebAssembly be compiled, and no code be made from strings.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { at } from '../../../js/scripts/project.js';
import { conclude } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { launchChromium, noChromium } from './support/chromium.js';
import { Site } from './support/site.js';

const say = `const say = (found) => fetch('/said', { method: 'POST', body: JSON.stringify(found) });`;

/** What the policy has forbidden up to now, caught or not. Its own request is forbidden too, and is told of last. */
const watch = `
  const forbidden = [];
  const done = new Promise((resolve) => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      if (effectiveDirective === 'connect-src') resolve();
      else forbidden.push(effectiveDirective + ' ' + blockedURI);
    });
  });
  export async function violations() {
    await fetch('http://elsewhere.invalid/').catch(() => {});
    await done;
    return forbidden;
  }`;

const keep = `
  import { violations } from './watch.js';
  import * as tierlimit from 'tierlimit';
  import { contract } from './contract.js';
  ${say}
  const outcomes = contract(tierlimit);
  say({ page: globalThis.document !== undefined, outcomes, forbidden: await violations() });`;

const evaluate = `
  import { violations } from './watch.js';
  ${say}
  let error;
  try {
    new Function('');
  } catch ({ name }) {
    error = name;
  }
  say({ error, forbidden: await violations() });`;

const construct = `
  import { TierLimiter } from 'tierlimit';
  ${say}
  try {
    const limiter = new TierLimiter({ policies: { default: { capacity: 1, refillPerSecond: 0 } } });
    say({ allowed: limiter.allow('acme') });
  } catch (error) {
    say({ isError: error instanceof Error, message: error.message });
  }`;

/** Code that has no bundler finds the package's files by their paths, what the package imports of itself too. */
const importMap = JSON.stringify({
  imports: { tierlimit: '/node_modules/tierlimit/js/src/index.js' },
  scopes: {
    '/node_modules/tierlimit/': { '#core': '/node_modules/tierlimit/js/src/core/inline.js' },
  },
});

const page = (body) => `<!doctype html><html lang="en"><title>tierlimit</title>${body}</html>`;
const script = (src) => page(`<script type="module" src="${src}"></script>`);
const starter = (src) => `new Worker('${src}', { type: 'module' });`;

/** What a policy has in common: nothing but what is named, and nothing from elsewhere. */
const policy = (scripts) => `default-src 'none'; connect-src 'self'; script-src 'self'${scripts}`;
const hash = createHash('sha256').update(importMap).digest('base64');

describe('Chromium', { skip: noChromium }, () => {
  let project, browser, site, forbidding;

  before(async () => {
    project = await makeProject();
    project.copy('tests/contract/limiter.js', 'contract.js');
    project.write({
      'keep.js': keep,
      'construct.js': construct,
      'evaluate.js': evaluate,
      'watch.js': watch,
      'bundled/evaluate.html': script('evaluate.js'),
      'bundled/start-evaluate.js': starter('evaluate.js'),
      'bundled/evaluate-worker.html': script('start-evaluate.js'),
      'bundled/page.html': script('keep.js'),
      'bundled/start.js': starter('keep.js'),
      'bundled/worker.html': script('start.js'),
      'bundled/construct.html': script('construct.js'),
      'bundled/start-construct.js': starter('construct.js'),
      'bundled/construct-worker.html': script('start-construct.js'),
      'unbundled.html': page(
        `<script type="importmap">${importMap}</script><script type="module" src="keep.js"></script>`,
      ),
    });
    await project.run(at('node_modules/.bin/esbuild'), [
      'keep.js',
      'construct.js',
      'evaluate.js',
      '--bundle',
      '--format=esm',
      '--minify',
      '--outdir=bundled',
      '--log-level=warning',
    ]);
    site = await Site.of(project.folder, {
      policy: policy(` 'wasm-unsafe-eval' 'sha256-${hash}'`),
    });
    forbidding = await Site.of(project.folder, { policy: policy('') });
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
    await forbidding?.close();
    project?.remove();
  });

  for (const [how, path] of [
    ['page', '/bundled/page.html'],
    ['worker', '/bundled/worker.html'],
    ['page, not bundled', '/unbundled.html'],
  ]) {
    test(how, async (t) => {
      const { found, complaints } = await site.visit(browser, path);
      assert.ok(found, complaints.join('\n'));
      const { page, outcomes, forbidden } = found;
      conclude(t, { runtime: `Chromium, ${how}`, version: browser.version(), outcomes });
      assert.equal(page, how !== 'worker');
      assert.deepEqual(forbidden, []);
      assert.deepEqual(
        complaints.filter((text) => !text.includes('elsewhere.invalid')),
        [],
      );
    });
  }

  for (const [how, path] of [
    ['page', '/bundled/evaluate.html'],
    ['worker', '/bundled/evaluate-worker.html'],
  ]) {
    test(`the policy is in force, and what it forbids is seen, ${how}`, async () => {
      const { found } = await site.visit(browser, path);
      assert.deepEqual(found, { error: 'EvalError', forbidden: ['script-src eval'] });
    });
  }

  for (const [how, path] of [
    ['page', '/bundled/construct.html'],
    ['worker', '/bundled/construct-worker.html'],
  ]) {
    test(`a policy that forbids WebAssembly: the error says what allows it, ${how}`, async () => {
      const { found, complaints } = await forbidding.visit(browser, path);
      assert.equal(found?.isError, true, complaints.join('\n'));
      assert.match(found.message, /Content-Security-Policy needs 'wasm-unsafe-eval'/);
    });
  }
});
