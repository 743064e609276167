// Limiters of an isolate: one of each name however often the package is evaluated, made where nothing may be read,
// drawn or started.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { PolicyError, TierLimiter } from 'tierlimit';
import { withModule } from 'tierlimit/slim';

import { runScript } from './support/child.js';
import { only, seed, thrown } from './support/limiter.js';
import { coreBytes } from './support/memory.js';

const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A name that no other test uses. */
let names = 0;
const fresh = () => `limiter ${(names += 1)}`;

const options = (more = {}) => ({ policies: only(3, 0), now: () => 0, seed, ...more });

test('forIsolate: one limiter of each name', () => {
  const [a, b] = [fresh(), fresh()];
  const first = TierLimiter.forIsolate(a, options());
  assert.ok(first instanceof TierLimiter);
  assert.equal(first.check('c').remaining, 2);
  assert.equal(TierLimiter.forIsolate(a, options()), first);
  assert.equal(TierLimiter.forIsolate(a, options()).check('c').remaining, 1);
  const second = TierLimiter.forIsolate(b, options());
  assert.notEqual(second, first);
  assert.equal(second.check('c').remaining, 2);
  for (const name of ['', '__proto__', 'constructor']) {
    const limiter = TierLimiter.forIsolate(name, options());
    assert.ok(limiter instanceof TierLimiter);
    assert.equal(TierLimiter.forIsolate(name, options()), limiter);
  }
});

test('forIsolate: other policies are put in force, the same ones are not', () => {
  const name = fresh();
  const limiter = TierLimiter.forIsolate(name, options());
  limiter.allow('c', 3);
  for (let i = 0; i < 3; i += 1) {
    assert.equal(TierLimiter.forIsolate(name, options()).revision, 1);
    assert.equal(
      TierLimiter.forIsolate(name, options({ policies: JSON.stringify(only(3, 0)) })).revision,
      1,
    );
  }
  TierLimiter.forIsolate(name, options({ policies: only(5, 0) }));
  assert.deepEqual([limiter.revision, limiter.check('c').limit], [2, 5]);
  assert.equal(limiter.check('c').allowed, false);
  TierLimiter.forIsolate(name, options({ policies: only(5, 0) }));
  assert.equal(limiter.revision, 2);

  // What was put in force in between stays until a caller comes with something new.
  limiter.setPolicies(only(7, 0));
  TierLimiter.forIsolate(name, options({ policies: only(5, 0) }));
  assert.deepEqual([limiter.revision, limiter.check('c').limit], [3, 7]);
  TierLimiter.forIsolate(name, options({ policies: only(3, 0) }));
  assert.deepEqual([limiter.revision, limiter.check('c').limit], [4, 3]);
});

test('forIsolate: policies that are refused leave those in force, at each call', () => {
  const name = fresh();
  const limiter = TierLimiter.forIsolate(name, options());
  for (let i = 0; i < 3; i += 1) {
    assert.throws(() => TierLimiter.forIsolate(name, options({ policies: '{' })), PolicyError);
    assert.deepEqual([limiter.revision, limiter.peek('c').limit], [1, 3]);
  }
  assert.equal(TierLimiter.forIsolate(name, options()), limiter);
  assert.equal(limiter.revision, 1);
});

test('forIsolate: a limiter that could not be made leaves its name free', () => {
  const name = fresh();
  assert.throws(() => TierLimiter.forIsolate(name, options({ policies: '{' })), PolicyError);
  assert.throws(() => TierLimiter.forIsolate(name, options({ maxClients: 1 })), RangeError);
  assert.equal(TierLimiter.forIsolate(name, options({ maxClients: 9 })).stats().maxClients, 9);
});

test('forIsolate: an option that cannot change is named, and nothing changes', () => {
  const name = fresh();
  const first = { maxClients: 100, maxBytes: 50_000, onFull: 'deny', strict: true, sweep: false };
  const limiter = TierLimiter.forIsolate(name, options(first));
  const others = {
    maxClients: 101,
    maxBytes: 50_001,
    onFull: 'evict',
    strict: false,
    sweep: true,
    seed: new Uint8Array(16).fill(77),
  };
  for (const [option, value] of Object.entries(others)) {
    const call = () =>
      TierLimiter.forIsolate(name, { policies: only(9, 0), ...first, [option]: value });
    const { name: kind, message } = thrown(call);
    assert.equal(kind, 'RangeError');
    assert.ok(message.includes(option) && message.includes(name), message);
    if (option === 'seed') assert.doesNotMatch(message, /77|\b1\b/);
    else assert.ok(message.includes(`${value}`) && message.includes(`${first[option]}`), message);
  }
  assert.equal(limiter.revision, 1);
  // What is not given is not asked for; what is the same is.
  for (const same of [{}, first, { seed: Uint8Array.from(seed) }]) {
    assert.equal(TierLimiter.forIsolate(name, { policies: only(3, 0), ...same }), limiter);
  }
  // A default that is spelled out is the default.
  const plain = fresh();
  const defaults = { maxClients: 262_144, onFull: 'evict', strict: false, sweep: true };
  assert.equal(
    TierLimiter.forIsolate(plain, options()),
    TierLimiter.forIsolate(plain, options(defaults)),
  );
});

test('forIsolate: arguments are checked at every call', () => {
  const name = fresh();
  for (const bad of [undefined, null, 5, {}, Symbol('x')]) {
    assert.throws(() => TierLimiter.forIsolate(bad, options()), {
      name: 'TypeError',
      message: /name/,
    });
  }
  for (let i = 0; i < 2; i += 1) {
    for (const [given, word] of [
      [undefined, /options/],
      [{}, /policies/],
      [options({ now: 5 }), /now/],
      [options({ onClockBackward: 'stop' }), /onClockBackward/],
      [options({ strict: 1 }), /strict/],
      [options({ polices: 1 }), /polices/],
    ]) {
      assert.throws(() => TierLimiter.forIsolate(name, given), {
        name: 'TypeError',
        message: word,
      });
    }
    // The second time there is a limiter of that name.
    TierLimiter.forIsolate(name, options());
  }
});

test('forIsolate: the clock is that of the first call', () => {
  const name = fresh();
  const limiter = TierLimiter.forIsolate(name, options({ policies: only(1, 1), now: () => 5000 }));
  assert.equal(limiter.allow('c'), true);
  TierLimiter.forIsolate(name, options({ policies: only(1, 1), now: () => 1e9 }));
  assert.equal(limiter.check('c').retryAfterMs, 1000);
});

test('forIsolate: after dispose there is a new one', () => {
  const name = fresh();
  const first = TierLimiter.forIsolate(name, options());
  first.allow('c', 3);
  first.dispose();
  const second = TierLimiter.forIsolate(name, options({ policies: only(4, 0), maxClients: 50 }));
  assert.notEqual(second, first);
  assert.deepEqual([second.revision, second.check('c').remaining], [1, 3]);
  assert.equal(TierLimiter.forIsolate(name, options({ policies: only(4, 0) })), second);
});

test('forIsolate: two copies of the package in one isolate share their limiters', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tierlimit-isolate-')));
  folders.push(folder);
  const original = fileURLToPath(new URL('../../', import.meta.resolve('tierlimit')));
  for (const path of ['package.json', 'js/src', 'js/dist']) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    cpSync(join(original, path), join(folder, path), { recursive: true });
  }
  const copy = await import(pathToFileURL(join(folder, 'js/src/index.js')));
  const again = await import(`${import.meta.resolve('tierlimit')}?again`);
  const slim = withModule(coreBytes());
  const classes = [TierLimiter, copy.TierLimiter, again.TierLimiter, slim.TierLimiter];
  assert.equal(new Set(classes).size, 4);

  for (const [index, First] of classes.entries()) {
    const name = fresh();
    const limiter = First.forIsolate(name, options());
    limiter.allow('c', 2);
    for (const Other of classes) {
      assert.equal(Other.forIsolate(name, options()), limiter);
      assert.throws(() => Other.forIsolate(name, options({ maxClients: 77 })), RangeError);
    }
    const Last = classes.at(index - 1);
    Last.forIsolate(name, options({ policies: only(9, 0) }));
    assert.deepEqual([limiter.revision, limiter.check('c').limit], [2, 9]);
    limiter.dispose();
    const next = Last.forIsolate(name, options());
    assert.notEqual(next, limiter);
    assert.ok(next instanceof Last);
    assert.equal(First.forIsolate(name, options()), next);
  }
});

test('forIsolate: what it keeps is under a registered symbol that carries the major version', () => {
  const manifest = fileURLToPath(import.meta.resolve('tierlimit/package.json'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  const keys = Object.getOwnPropertySymbols(globalThis).map((symbol) => Symbol.keyFor(symbol));
  const ours = keys.filter((key) => key?.includes('tierlimit'));
  assert.deepEqual(ours, [`tierlimit.isolate.v${version.split('.')[0]}`]);
});

test('case 38: a script that makes a limiter and decides ends by itself', async () => {
  const { status, stdout, stderr } = await runScript(`
    import { TierLimiter } from 'tierlimit';
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(1, 1))} });
    console.log(limiter.allow('c'), limiter.allow('c'));
  `);
  assert.deepEqual([status, stdout, stderr], [0, 'true false\n', '']);
});

/** What a worker may not do outside of a request. */
const forbidden = `
  const originals = {
    getRandomValues: crypto.getRandomValues.bind(crypto),
    now: performance.now.bind(performance),
  };
  const refuse = (name) => () => { throw new Error(name + ' at module scope'); };
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch']) {
    globalThis[name] = refuse(name);
  }
  Math.random = refuse('Math.random');
  Date.now = refuse('Date.now');
  performance.now = refuse('performance.now');
  crypto.getRandomValues = refuse('getRandomValues');
  crypto.randomUUID = refuse('randomUUID');
`;

test('case 38: at module scope a limiter is made and set up; a decision says what is wrong', async () => {
  const { status, stdout, stderr } = await runScript(`
    ${forbidden}
    const { TierLimiter } = await import('tierlimit');
    const policies = ${JSON.stringify({ ...only(2, 0), tiers: { pro: { capacity: 5, refillPerSecond: 0 } } })};
    const limiter = new TierLimiter({ policies, now: () => 0 });
    limiter.setPolicies({ ...policies, clients: { other: 'pro' } });
    limiter.setTier('acme', 'pro');
    const shared = TierLimiter.forIsolate('x', { policies });
    const messages = [];
    for (const call of [() => limiter.allow('acme'), () => limiter.check('acme'), () => limiter.peek('acme')]) {
      try { call(); } catch (error) { messages.push([error.message, error.cause.message]); }
    }
    const { revision, buckets, assignments } = limiter.stats();

    // Inside a handler all goes on with what was set up.
    crypto.getRandomValues = originals.getRandomValues;
    performance.now = originals.now;
    const decided = [limiter.check('acme').remaining, limiter.check('other').limit, shared.allow('c')];
    console.log(JSON.stringify({ messages, revision, buckets, assignments, decided }));
  `);
  assert.equal(stderr, '');
  assert.equal(status, 0);
  const { messages, ...rest } = JSON.parse(stdout);
  assert.deepEqual(rest, { revision: 2, buckets: 0, assignments: 1, decided: [4, 5, true] });
  assert.equal(messages.length, 3);
  for (const [message, cause] of messages) {
    assert.match(message, /random.*module scope/);
    assert.equal(cause, 'getRandomValues at module scope');
  }
});

test('case 38: with a seed and a clock there are decisions at module scope as well', async () => {
  const { stdout, stderr } = await runScript(`
    ${forbidden}
    const { TierLimiter } = await import('tierlimit');
    const seed = new Uint8Array(16);
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(1, 0))}, now: () => 0, seed });
    console.log(limiter.allow('c'), limiter.allow('c'));
    const untimed = new TierLimiter({ policies: ${JSON.stringify(only(1, 0))}, seed });
    try { untimed.allow('c'); } catch (error) { console.log(error.message); }
  `);
  assert.equal(stderr, '');
  assert.equal(stdout, 'true false\nperformance.now at module scope\n');
});

test('the seed is drawn once, at the first decision, and is another one for each limiter', async () => {
  const { stdout, stderr } = await runScript(`
    import { TierLimiter } from 'tierlimit';
    const { getRandomValues } = crypto;
    const drawn = [];
    crypto.getRandomValues = (bytes) => {
      drawn.push(getRandomValues.call(crypto, bytes));
      return bytes;
    };
    const options = { policies: ${JSON.stringify(only(1, 0))}, now: () => 0 };
    const limiters = [new TierLimiter(options), new TierLimiter(options)];
    const counts = [drawn.length];
    for (const limiter of limiters) {
      for (let i = 0; i < 3; i += 1) limiter.peek('c');
      limiter.setPolicies(options.policies);
      counts.push(drawn.length);
    }
    new TierLimiter({ ...options, seed: new Uint8Array(16) }).allow('c');
    counts.push(drawn.length);
    console.log(JSON.stringify([counts, new Set(drawn.map(String)).size, drawn.map((d) => d.length)]));
  `);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), [[0, 1, 2, 2], 2, [16, 16]]);
});
