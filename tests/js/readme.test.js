// What the pages for users say: their programs print what is promised, their documents load, their links lead somewhere.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { clocked } from './support/limiter.js';

const top = new URL('../../', import.meta.url);
const pages = ['README.md', 'js/docs/algorithms.md', 'js/docs/http.md'];
const read = (page) => readFileSync(new URL(page, top), 'utf8');
const blocksOf = (text) => [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)];

/** Programs of a page with the output that the page promises: a `js` block with a `text` block behind it. */
function examples(page) {
  const blocks = blocksOf(page);
  return blocks.flatMap(([, language, code], i) => {
    if (language !== 'js') return [];
    // What prints nothing has nothing behind it: tests/runtime/readme/ runs it.
    if (!code.includes('console.log')) return [];
    const next = blocks[i + 1];
    return [{ code, output: next?.[1] === 'text' ? next[2] : undefined }];
  });
}

for (const [page, least] of [
  ['README.md', 12],
  ['js/docs/algorithms.md', 1],
  ['js/docs/http.md', 3],
]) {
  test(`${page} has examples`, () => {
    assert.ok(examples(read(page)).length >= least);
  });

  examples(read(page)).forEach(({ code, output }, i) => {
    test(`${page}, example ${i + 1}: prints what it says`, async () => {
      assert.notEqual(output, undefined, 'an example without its output');
      const { stdout, stderr } = await runScript(code);
      assert.equal(stdout, output, stderr);
    });
  });
}

test('README.md: its policy document has no fault', () => {
  const documents = blocksOf(read('README.md')).filter(([, language]) => language === 'json');
  assert.equal(documents.length, 1);
  const { limiter } = clocked(documents[0][2], { strict: true });
  assert.deepEqual([limiter.rejected, limiter.warnings], [[], []]);
  assert.equal(limiter.check('acme').tier, 'pro');
});

test('README.md lists every method, and every member of what they return', () => {
  const page = read('README.md');
  const api = page.slice(page.indexOf('\n## API\n'), page.indexOf('\n## Figures\n'));
  const { limiter } = clocked({ default: { capacity: 5, refillPerSecond: 0 } });
  limiter.setShadowPolicies({ default: { capacity: 5, refillPerSecond: 0 } });
  const client = limiter.client('acme');
  const reservation = client.reserve();
  const own = (object) => Object.getOwnPropertyNames(object);
  const chain = (object) =>
    object === Object.prototype ? [] : [...own(object), ...chain(Object.getPrototypeOf(object))];
  const names = [TierLimiter, client.constructor, reservation.constructor]
    .flatMap((made) => chain(made.prototype))
    .filter((name) => name !== 'constructor');
  const members = [
    ...[client.check(), client.check().limits[0], reservation, reservation.cancel()],
    limiter.shadowStats()[0],
  ].flatMap(own);
  assert.ok(names.includes('promoteShadow') && members.includes('debt'), `${names} ${members}`);
  const statics = ['TierLimiter.restore', 'TierLimiter.forIsolate'];
  for (const name of [...names, ...members, ...statics]) {
    assert.match(api, new RegExp(`[\`{ ]${name.replace('.', '\\.')}\\b`), name);
  }
});

/** The fragment by which a heading is linked to. */
const fragment = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

for (const page of pages) {
  test(`${page}: its links lead somewhere`, () => {
    const text = read(page).replaceAll(/^```.*?^```$/gms, '');
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)];
    assert.ok(links.length > 0);
    for (const [link, path, heading] of links) {
      const target = new URL(path === '' ? page : path, new URL(page, top));
      const file = path === '' ? new URL(page, top) : target;
      assert.ok(existsSync(file), link);
      if (heading === '') continue;
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)];
      assert.ok(headings.map(([, words]) => fragment(words)).includes(heading), link);
    }
  });
}

// ---- Windows and buckets, in numbers ---------------------------------------------------------------------------------

/** The most that a client who knows the policy gets in any 60 seconds, and the limiter. */
function worstWindow(policy, requests) {
  const { limiter, clock } = clocked({ default: policy });
  const admitted = requests.filter((ms) => {
    clock.ms = ms;
    return limiter.allow('acme');
  });
  // Two fingers along the admitted requests: of [times[first], times[last]], which has to be shorter than a minute.
  let most = 0;
  for (let first = 0, last = 0; last < admitted.length; last += 1) {
    while (admitted[last] - admitted[first] >= 60_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

test('what the worst 60 seconds hold, whenever a client begins: as the pages say', () => {
  const bucket = (tokens) => ({ capacity: tokens, refill: { tokens, seconds: 60 } });
  const window = (algorithm) => ({ algorithm, limit: 100, windowSeconds: 60 });
  const most = { bucket: 0, half: 0, fixed: 0, sliding: 0 };
  for (const begin of [59_000, 0, 599, 600, 30_000, 59_499, 59_501, 59_999.999, 60_000, 75_000]) {
    const requests = begin > 0 ? [0] : [];
    for (let ms = begin; ms < begin + 130_000; ms += 5) requests.push(ms);
    most.bucket = Math.max(most.bucket, worstWindow(bucket(100), requests));
    most.half = Math.max(most.half, worstWindow(bucket(50), requests));
    most.fixed = Math.max(most.fixed, worstWindow(window('fixed-window'), requests));
    most.sliding = Math.max(most.sliding, worstWindow(window('sliding-window'), requests));
  }
  assert.deepEqual(most, { bucket: 199, half: 99, fixed: 199, sliding: 100 });
  const [{ output }] = examples(read('js/docs/algorithms.md'));
  const worst = output
    .split('\n')
    .slice(1, 5)
    .map((line) => Number(line.split(/ {2,}/).at(-2)));
  assert.deepEqual(worst, Object.values(most));
  const words = read('README.md').replaceAll(/\s+/g, ' ');
  assert.ok(
    words.includes(
      `refills by 100 in 60 s lets ${most.bucket} through, a fixed window of 100 as many, a sliding one ${most.sliding}`,
    ),
  );
});

test('what windows take beside their buckets: as README.md says', () => {
  const growth = (algorithm, limit, apartMs) => {
    const policy = { algorithm, limit, windowSeconds: 60 };
    const { limiter, clock } = clocked({ default: policy });
    limiter.allow('other');
    const before = limiter.stats().bytes;
    for (let i = 0; i < 10_000; i += 1) {
      clock.ms += apartMs;
      limiter.allow('acme');
    }
    return limiter.stats().bytes - before;
  };
  assert.equal(growth('fixed-window', 1e6, 0.001), 0);
  // One microsecond of them all.
  assert.ok(growth('sliding-window', 10_000, 0) < 100);
  const bytes = growth('sliding-window', 10_000, 0.001);
  assert.ok(bytes >= 80_000 && bytes < 81_000, `${bytes}`);
});

test('refunds of a sliding window: never above the limit in any window of what was not put back', () => {
  const [limit, windowMs] = [10, 1000];
  const policy = { algorithm: 'sliding-window', limit, windowSeconds: windowMs / 1000 };
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = new Random(seed);
    const { limiter, clock } = clocked({ default: policy });
    const charges = [];
    let refunds = 0;
    for (let i = 0; i < 300; i += 1) {
      clock.ms += random.whole(0, 120);
      const live = charges.filter(({ ms, cost }) => cost > 0 && clock.ms - ms < windowMs);
      if (random.whole(0, 3) > 0 || live.length === 0) {
        const cost = random.whole(1, 4);
        if (limiter.allow('acme', cost)) charges.push({ ms: clock.ms, cost });
      } else {
        // Any of those that count, and not the oldest.
        const charge = random.pick(live);
        const back = random.whole(1, charge.cost);
        limiter.refund('acme', back);
        charge.cost -= back;
        refunds += 1;
      }
    }
    assert.ok(refunds > 30);
    for (const { ms: from } of charges) {
      const inside = charges.filter(({ ms }) => from <= ms && ms < from + windowMs);
      const sum = inside.reduce((tokens, { cost }) => tokens + cost, 0);
      assert.ok(sum <= limit, `seed ${seed}: ${sum} from ${from} ms on`);
    }
  }
});
