/**
 * Clicks through the demo's page in Chromium. Policies do not refill here, so that no figure
 * depends on how long a click takes. Screenshots are kept in .build/screenshots.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startDemo } from '../workerd/demo.js';
import { launchChromium, noChromium } from './support/chromium.js';

const SCREENSHOTS = fileURLToPath(new URL('../../../.build/screenshots/', import.meta.url));
const FROZEN = {
  default: { capacity: 5, refillPerSecond: 0 },
  tiers: { free: { capacity: 5, refillPerSecond: 0 }, pro: { capacity: 50, refillPerSecond: 0 } },
};

describe('the page', { skip: noChromium }, () => {
  let demo, browser, page, complaints;

  before(async () => {
    demo = await startDemo();
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await demo?.stop();
  });

  async function open(options) {
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    page.setDefaultTimeout(20_000);
    complaints = [];
    page.on('pageerror', (error) => complaints.push(error.stack));
    page.on('console', (message) => {
      // Chromium reports every answer from 400 on; those are what the page is for.
      const expected = /^Failed to load resource.*( 400 | 429 |DISCONNECTED)/.test(message.text());
      if (message.type() !== 'log' && !expected) complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      if (origin !== demo.url && origin !== 'null') complaints.push(`requests ${request.url()}`);
    });
    await page.goto(demo.url);
    await page.locator('#policy-state', { hasText: 'in force' }).waitFor();
  }

  beforeEach(async () => {
    const response = await fetch(`${demo.url}/api/policies`, {
      method: 'PUT',
      body: JSON.stringify(FROZEN, null, 2),
    });
    assert.equal(response.status, 200);
  });
  afterEach(async () => {
    assert.deepEqual(complaints, []);
    await page.close();
  });

  const field = (label) => page.getByLabel(label, { exact: true });
  const click = (name) => page.getByRole('button', { name, exact: true }).click();
  const answer = (pattern) => page.locator('#answer', { hasText: pattern }).waitFor();
  const lane = (client) =>
    page.locator('.lane', { has: page.getByRole('button', { name: client, exact: true }) });
  const screenshot = (name) =>
    page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });

  /** How many pixels of a lane's plot have about its series colour, and that of denials. */
  const inked = (client) =>
    lane(client)
      .locator('canvas')
      .evaluate((canvas) => {
        const { width, height } = canvas;
        const copy = new OffscreenCanvas(width, height).getContext('2d', {
          willReadFrequently: true,
        });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, width, height);
        const count = (name) => {
          copy.fillStyle = getComputedStyle(canvas).getPropertyValue(name);
          copy.fillRect(0, 0, 1, 1);
          const wanted = copy.getImageData(0, 0, 1, 1).data;
          let pixels = 0;
          for (let i = 0; i < data.length; i += 4) {
            const near = [0, 1, 2].every((part) => Math.abs(data[i + part] - wanted[part]) < 16);
            if (near && data[i + 3] > 128) pixels += 1;
          }
          return pixels;
        };
        return { series: count('--series'), denied: count('--denied') };
      });

  test('one request, then a burst until it is denied', async () => {
    await open();
    await field('Client').fill('ann');
    await click('Send one');
    await answer('Allowed. ann has 4 of 5 left.');
    await lane('ann').getByText('4.0').waitFor();
    const untilDenied = await inked('ann');
    assert.ok(untilDenied.series > 0, 'the balance is drawn');
    assert.equal(untilDenied.denied, 0);

    await field('Burst of').fill('7');
    await click('Send burst');
    await answer('ann: 4 of 7 allowed, 3 denied');
    await lane('ann').getByText('0.0').waitFor();
    await lane('ann').getByText('5 allowed · 3 denied').waitFor();
    assert.ok((await inked('ann')).denied > 0, 'denied requests are drawn');

    const entries = page.locator('#log .entry');
    assert.deepEqual((await entries.locator('.status').allTextContents()).sort(), [
      '200',
      '200',
      '429',
    ]);
    await entries.getByText('never: too few tokens').waitFor();
    await entries.getByText('0 of 5 left').waitFor();
    await page.locator('#total-denied', { hasText: /^[1-9]/ }).waitFor();
  });

  test('the header fields of the last answer are shown, and the body of a refusal', async () => {
    await open();
    const fields = page.locator('#fields > div');
    const problem = page.locator('#problem');
    assert.equal(await page.locator('#fields').isVisible(), false);
    await field('Client').fill('hal');
    await click('Send one');
    await answer('Allowed. hal has 4 of 5 left.');
    assert.deepEqual(await fields.allInnerTexts(), [
      'RateLimit-Policy: "main";q=5',
      'RateLimit: "main";r=4',
    ]);
    assert.equal(await problem.isVisible(), false);

    await field('Burst of').fill('6');
    await click('Send burst');
    await answer('hal: 4 of 6 allowed, 2 denied');
    assert.deepEqual(await fields.allInnerTexts(), [
      'RateLimit-Policy: "main";q=5',
      'RateLimit: "main";r=0',
    ]);
    const [type, ...document] = (await problem.innerText()).split('\n');
    assert.equal(type, 'application/problem+json');
    assert.deepEqual(JSON.parse(document.join('\n')), {
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota Exceeded',
      status: 429,
      'violated-policies': ['main'],
    });

    // A bucket that refills says when to come back.
    const slow = { capacity: 1, refill: { tokens: 1, seconds: 1e6 } };
    await field('Policies as JSON').fill(JSON.stringify({ default: slow }));
    await click('Apply');
    await page.getByText(/Applied as revision \d+/).waitFor();
    await field('Client').fill('ida');
    await field('Tier').fill('');
    await click('Send burst');
    await answer('ida: 1 of 6 allowed, 5 denied');
    const [, , wait] = await fields.allInnerTexts();
    assert.match(wait, /^Retry-After: (999\d{3}|1000000)$/);
    await screenshot('refusal');

    await field('Cost in tokens').fill('2');
    await page.evaluate(() => document.getElementById('cost').removeAttribute('min'));
    await field('Cost in tokens').fill('-1');
    await click('Send one');
    await answer('cost must be a whole number');
    for (const part of ['#fields', '#problem']) {
      assert.equal(await page.locator(part).isVisible(), false, part);
    }
  });

  test('the keyboard alone sends, picks a tier and applies', async () => {
    await open();
    await field('Client').fill('kim');
    await field('Client').press('Enter');
    await answer('Allowed. kim has 4 of 5 left.');

    await page.getByRole('group', { name: 'Tiers to pick' }).getByText('pro').focus();
    await page.keyboard.press('Enter');
    assert.equal(await field('Tier').inputValue(), 'pro');
    assert.equal(
      await page.evaluate(() => document.activeElement.getAttribute('aria-pressed')),
      'true',
    );

    const text = JSON.stringify({ ...FROZEN, default: { capacity: 9, refillPerSecond: 0 } });
    await field('Policies as JSON').fill(text);
    await page.locator('#policy-state', { hasText: 'edited' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByText(/Applied as revision \d+/).waitFor();
  });

  test('an error in the policies shows where it is; the valid document is applied', async () => {
    await open();
    const editor = field('Policies as JSON');
    const valid = await editor.inputValue();
    const broken = valid.replace('"capacity": 50,', '"capacity": 50;');
    assert.notEqual(broken, valid);
    const offset = broken.indexOf(';');
    const linesBefore = broken.slice(0, offset).split('\n');
    const place = `${linesBefore.length}:${linesBefore.at(-1).length + 1}`;

    await editor.fill(broken);
    await click('Apply');
    await page.getByText(/^Refused: revision \d+ stays in force/).waitFor();
    assert.equal(await page.locator('#policy-problems .place').first().textContent(), place);
    const selection = () => editor.evaluate((area) => [area.selectionStart, area.selectionEnd]);
    assert.deepEqual(await selection(), [offset, offset + 1]);
    assert.ok(await editor.evaluate((area) => area === document.activeElement));
    await screenshot('policy-error');

    // The old ones judge on.
    await field('Client').fill('eve');
    await click('Send one');
    await answer('Allowed. eve has 4 of 5 left.');

    await editor.fill(valid.replace('"capacity": 5,', '"capacity": 8,'));
    await click('Apply');
    await page.getByText(/Applied as revision \d+/).waitFor();
    await page.locator('#policy-state', { hasText: 'in force' }).waitFor();
    await field('Client').fill('zoe');
    await field('Tier').fill('');
    await click('Send one');
    await answer('Allowed. zoe has 7 of 8 left (no tier: default).');
  });

  test('tolerated problems are listed and lead to their place', async () => {
    await open();
    const editor = field('Policies as JSON');
    const text = (await editor.inputValue()).replace('"capacity": 50,', '"capacity": 0,');
    await editor.fill(text);
    await editor.press('Control+Enter');
    await page.getByText(/Applied as revision \d+/).waitFor();
    await page.locator('#policy-problems').getByText('/tiers/pro').waitFor();

    await page.locator('#policy-problems .place').click();
    const line = await editor.evaluate((area) =>
      area.value.slice(0, area.selectionStart).split('\n').at(-1),
    );
    assert.match(line, /"capacity": $/);
  });

  test('policies that others change are shown, unless that would undo what was typed', async () => {
    await open();
    const editor = field('Policies as JSON');
    const change = (capacity) =>
      fetch(`${demo.url}/api/policies`, {
        method: 'PUT',
        body: JSON.stringify({ default: { capacity, refillPerSecond: 0 } }),
      });
    await change(17);
    await page.locator('.colours', { hasText: '"capacity":17' }).waitFor();

    await editor.fill('{ "mine": 1 }');
    await change(18);
    await page.getByText('The policies were changed elsewhere.').waitFor();
    assert.equal(await editor.inputValue(), '{ "mine": 1 }');
    await click('Revert');
    await page.locator('.colours', { hasText: '"capacity":18' }).waitFor();
  });

  test('a stream runs until it is stopped', async () => {
    await open();
    await field('Client').fill('stream');
    await field('Stream per second').fill('50');
    await click('Start stream');
    await lane('stream')
      .getByText(/5 allowed · [1-9]\d* denied/)
      .waitFor();
    await click('Stop stream');
    await answer('The stream of stream has stopped.');
    await page.getByRole('button', { name: 'Start stream' }).waitFor();
    await lane('stream').locator('.live').waitFor({ state: 'hidden' });
  });

  test('a tier can be assigned to the client', async () => {
    await open();
    await field('Client').fill('max');
    await field('Tier').fill('pro');
    await click('Assign to this client');
    await answer('max is now assigned to “pro”.');
    assert.equal(await field('Tier').inputValue(), '');
    await click('Send one');
    await answer('Allowed. max has 49 of 50 left.');
  });

  test('a client name is text, never markup', async () => {
    await open();
    const name = '<img src=x onerror=alert(1)> & \'"';
    await field('Client').fill(name);
    await click('Send one');
    await answer(`Allowed. ${name} has 4 of 5 left.`);
    assert.equal(await page.locator('main img').count(), 0);
  });

  test('a client whose name looks like a step in a path can be assigned a tier', async () => {
    await open();
    await field('Client').fill('..');
    await field('Tier').fill('pro');
    await click('Assign to this client');
    await answer('.. is now assigned to “pro”.');
  });

  for (const width of [1280, 390]) {
    test(`long names are cut, not the page: ${width}`, async () => {
      await open({ viewport: { width, height: 844 } });
      const name = `${width}${'n'.repeat(3000)}`;
      await field('Client').fill(name);
      await click('Send one');
      await answer('Allowed.');
      await page.locator('.lane').getByText('4.0').waitFor();
      // From now on the client is one of those to pick.
      await field('Tier').fill('t'.repeat(300));
      await click('Send one');
      await page.locator('.lane-tier', { hasText: 'ttt' }).waitFor();
      const overflow = () => document.documentElement.scrollWidth - window.innerWidth;
      assert.equal(await page.evaluate(overflow), 0);
      for (const part of ['.lane-name', '.who', '#client-chips [aria-pressed=true]']) {
        assert.ok((await page.locator(part).first().getAttribute('title')).includes(name), part);
      }
      const tier = await page.locator('.lane-tier').boundingBox();
      assert.ok(tier.width > 40, 'the tier has room beside the name');
      await screenshot(`long-names-${width}`);
    });
  }

  test('a server that does not answer is said, and said no more when it does', async () => {
    await open();
    await page.context().setOffline(true);
    await page.getByText('The server does not answer').waitFor();
    await page.context().setOffline(false);
    await page.getByText('The server does not answer').waitFor({ state: 'hidden' });
  });

  for (const [name, options] of [
    ['light-1280', {}],
    ['dark-1280', { colorScheme: 'dark' }],
    ['light-390', { viewport: { width: 390, height: 844 } }],
    ['dark-390', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ]) {
    test(`looks right: ${name}`, async () => {
      await open({ ...options, reducedMotion: 'reduce' });
      await field('Client').fill(`${name}-a`);
      await field('Burst of').fill('9');
      await click('Send burst');
      await answer('5 of 9 allowed, 4 denied');
      await field('Client').fill(`${name}-b`);
      await field('Tier').fill('pro');
      await click('Send burst');
      await answer('9 of 9 allowed');
      await lane(`${name}-b`).getByText('41.0').waitFor();
      assert.ok((await inked(`${name}-b`)).series > 0);
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const [red] = /\d+/.exec(background);
      assert.equal(Number(red) < 128, options.colorScheme === 'dark', background);
      const overflow = () => document.documentElement.scrollWidth - window.innerWidth;
      assert.equal(await page.evaluate(overflow), 0, 'nothing is cut off at the side');
      await screenshot(name);
    });
  }
});
