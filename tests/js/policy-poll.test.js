// Policies that are polled from within requests: when a look is due, one at a time, which document wins, what is told.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { PolicyError, TierLimiter } from 'tierlimit';
import { poll } from 'tierlimit/policies';

import { runScript } from './support/child.js';
import { only, seed, thrown } from './support/limiter.js';
import { LaterLimiter, told } from './support/told.js';

const text = (capacity, rest = {}) => JSON.stringify({ ...only(capacity, 0), ...rest });

/** How much a client that was never seen may spend: which document is in force. */
const capacityOf = (limiter) => limiter.peek('nobody').limit;

/**
 * A source whose reads the test answers: each waits in `reads` until it is settled, and takes no notice of its signal.
 * `clock.ms` is what `now` returns, `clock.wallMs` the time of day.
 */
function polled(options = {}) {
  const clock = { ms: 0, wallMs: 1_700_000_000_000 };
  const limiter = new TierLimiter({ policies: text(1), seed, now: () => 0 });
  const hooks = told();
  const reads = [];
  const source = poll({
    limiter,
    read: (context) =>
      new Promise((resolve, reject) => {
        reads.push({ context, resolve, reject });
      }),
    intervalMs: 1000,
    now: () => clock.ms,
    wallNow: () => clock.wallMs,
    ...hooks.hooks,
    ...options,
  });
  /** One look that begins and ends with this answer. */
  const look = (answer) => {
    clock.ms += 1000;
    const outcome = source.refresh();
    const { resolve, reject } = reads.at(-1);
    if (answer instanceof Error) reject(answer);
    else resolve(answer);
    return outcome;
  };
  return { clock, limiter, reads, source, look, told: hooks };
}

test('nothing is read when it is made; the first refresh is due, the next after the interval', async () => {
  const { clock, reads, source } = polled();
  assert.equal(reads.length, 0);

  const first = source.refresh();
  assert.equal(reads.length, 1);
  reads[0].resolve(text(2));
  assert.equal(await first, 'applied');

  clock.ms = 999.999;
  assert.equal(await source.refresh(), 'not-due');
  assert.equal(reads.length, 1);
  clock.ms = 1000;
  const second = source.refresh();
  assert.equal(reads.length, 2);
  reads[1].resolve(null);
  assert.equal(await second, 'unchanged');
});

test('of a thousand requests at a time one looks, and the others go on at once', async () => {
  const { clock, limiter, reads, source } = polled();
  const all = Array.from({ length: 1000 }, () => source.refresh());
  // It is still under way when the next one would be due.
  clock.ms = 5000;
  all.push(source.refresh());
  assert.equal(reads.length, 1);
  assert.deepEqual(new Set(await Promise.all(all.slice(1))), new Set(['under-way']));
  assert.equal(capacityOf(limiter), 1);

  reads[0].resolve(text(2));
  assert.equal(await all[0], 'applied');
  assert.equal(capacityOf(limiter), 2);
});

test('a look goes to waitUntil, once, and what is not due does not', async () => {
  const { reads, source } = polled();
  const waiting = [];
  const ctx = {
    waitUntil(promise) {
      assert.equal(this, ctx);
      waiting.push(promise);
    },
  };
  source.refresh(ctx);
  source.refresh(ctx);
  assert.equal(waiting.length, 1);
  reads[0].reject(new Error('no network'));
  assert.equal(await waiting[0], 'unreadable');
});

test('a clock that is set back puts the next look off by no more than the interval', async () => {
  const { clock, reads, source } = polled();
  clock.ms = 1e9;
  const first = source.refresh();
  reads[0].resolve(null);
  await first;
  clock.ms = 5000;
  assert.equal(await source.refresh(), 'not-due');
  clock.ms = 6000;
  source.refresh();
  assert.equal(reads.length, 2);
});

test('what now returns is checked', () => {
  const { source } = polled({ now: () => NaN });
  assert.throws(() => source.refresh(), {
    name: 'RangeError',
    message: 'what now() returns must be milliseconds within 2^53 microseconds of 0; got NaN',
  });
});

test('a document is applied whole; one that is refused changes nothing, and is told with its time', async () => {
  const { clock, limiter, look, source, told } = polled();
  assert.equal(await look(text(5)), 'applied');
  const applied = await told.next();
  assert.deepEqual([applied.kind, applied.report.revision], ['applied', 2]);
  assert.deepEqual(applied.status, {
    from: 'read()',
    state: 'open',
    revision: 2,
    version: null,
    appliedAtMs: 1_700_000_000_000,
    readAtMs: 1_700_000_000_000,
    rejected: [],
    warnings: [],
    refused: null,
    unreadable: null,
  });

  clock.wallMs += 60_000;
  assert.equal(await look(text(9).slice(0, -5)), 'refused');
  const { error, status } = await told.next();
  assert.ok(error instanceof PolicyError);
  assert.equal(error.code, 'syntax');
  assert.deepEqual(status.refused, { error, sinceMs: 1_700_000_060_000, times: 1 });
  assert.deepEqual([status.revision, status.appliedAtMs], [2, 1_700_000_000_000]);
  assert.deepEqual([capacityOf(limiter), limiter.revision], [5, 2]);

  // Another one that is refused: the last error, since the first one.
  clock.wallMs += 60_000;
  assert.equal(await look('{}'), 'refused');
  assert.deepEqual(source.status().refused, {
    error: (await told.next()).error,
    sinceMs: 1_700_000_060_000,
    times: 2,
  });
  assert.equal(source.status().refused.error.code, 'missing-member');
  assert.equal(source.status().readAtMs, 1_700_000_120_000);

  assert.equal(await look(text(6)), 'applied');
  assert.equal((await told.next()).status.refused, null);
  assert.equal(capacityOf(limiter), 6);
  assert.equal(told.calls.length, 0);
});

test('the same text is not applied twice, nor refused twice; the one in force ends a refusal', async () => {
  const { limiter, look, source, told } = polled();
  await look(text(5));
  assert.equal(await look(text(5)), 'unchanged');
  assert.equal(await look('{'), 'refused');
  assert.equal(await look('{'), 'unchanged');
  assert.equal(source.status().refused.times, 1);
  assert.equal(await look(text(5)), 'unchanged');
  assert.equal(source.status().refused, null);
  // And it is looked at anew when it comes back.
  assert.equal(await look('{'), 'refused');
  assert.equal(limiter.revision, 2);
  assert.deepEqual(
    told.calls.map(({ kind }) => kind),
    ['applied', 'refused', 'refused'],
  );
});

test('an object and bytes are documents too; the same ones as their text', async () => {
  const { limiter, look, source } = polled();
  assert.equal(await look({ document: only(5, 0) }), 'applied');
  assert.equal(await look({ document: only(5, 0) }), 'unchanged');
  assert.equal(await look(new TextEncoder().encode(text(6))), 'applied');
  assert.equal(await look(text(6)), 'unchanged');
  assert.equal(await look(new TextEncoder().encode(`\uFEFF${text(7)}`)), 'applied');
  assert.equal(capacityOf(limiter), 7);
  assert.equal(await look(Uint8Array.of(0x22, 0xff, 0x22)), 'refused');
  assert.equal(source.status().refused.error.message, 'the document is not UTF-8');
  assert.equal(await look({ document: new Map() }), 'refused');
  assert.match(source.status().refused.error.message, /policies must be a plain object/);
  assert.equal(capacityOf(limiter), 7);
});

test('tiers that are judged by the default are told', async () => {
  const { look, source, told } = polled();
  const tiers = { pro: { capacity: 0, refillPerSecond: 1 } };
  assert.equal(await look(text(5, { tiers, clients: { acme: 'gold' } })), 'applied');
  const { rejected } = source.status();
  assert.deepEqual(
    rejected.map(({ path }) => path),
    ['/tiers/pro/capacity', '/clients/acme'],
  );
  assert.deepEqual((await told.next()).report.rejected, rejected);
});

test('what cannot be read is told each time, with its first time, until it can be', async () => {
  const { clock, limiter, look, source, told } = polled();
  assert.equal(await look(new Error('no network')), 'unreadable');
  clock.wallMs += 1000;
  assert.equal(await look(new TypeError('no DNS')), 'unreadable');
  const { unreadable } = source.status();
  assert.deepEqual(unreadable, {
    error: unreadable.error,
    sinceMs: 1_700_000_000_000,
    times: 2,
  });
  assert.equal(unreadable.error.message, 'no DNS');
  assert.deepEqual([source.status().readAtMs, source.status().refused], [null, null]);
  assert.equal(told.calls.length, 2);
  assert.equal(told.calls[1].status.unreadable.error, told.calls[1].error);

  assert.equal(await look(null), 'unchanged');
  assert.equal(source.status().unreadable, null);
  assert.equal(source.status().readAtMs, 1_700_000_001_000);
  assert.equal(capacityOf(limiter), 1);
});

test('what read returns is checked, and so is that it is a function that throws', async () => {
  for (const [answer, message] of [
    [undefined, 'what read() returns must be a text, bytes, { document } or null; got undefined'],
    [5, 'what read() returns must be a text, bytes, { document } or null; got 5'],
    [only(5, 0), 'what read() returns must be a text, bytes, { document } or null; got an Object'],
    [{ document: '', version: NaN }, 'version must be a string, a finite number or null; got NaN'],
    [
      { document: '', version: {} },
      'version must be a string, a finite number or null; got an Object',
    ],
  ]) {
    const { look, source } = polled();
    assert.equal(await look(answer), 'unreadable');
    assert.equal(source.status().unreadable.error.message, message);
  }
  const { source } = polled({
    read() {
      throw 'not an error';
    },
  });
  assert.equal(await source.refresh(), 'unreadable');
  assert.equal(source.status().unreadable.error.message, 'thrown: "not an error"');
});

test('a look that lasts longer than its time counts as lost, and its document does not win over a newer one', async () => {
  const { clock, limiter, reads, source, told } = polled({ timeoutMs: 3000 });
  const slow = source.refresh();
  clock.ms = 2999;
  assert.equal(await source.refresh(), 'under-way');
  clock.ms = 3000;
  const quick = source.refresh();
  assert.equal(reads.length, 2);
  reads[1].resolve({ document: text(20), version: 'new' });
  assert.equal(await quick, 'applied');

  // The older look has got the older document, and has got it only now.
  reads[0].resolve({ document: text(10), version: 'old' });
  assert.equal(await slow, 'outdated');
  assert.equal(capacityOf(limiter), 20);
  assert.deepEqual([source.status().version, limiter.revision], ['new', 2]);
  assert.equal(told.calls.length, 1);
});

test('nor does it win, or is told, when the newer look is still under way', async () => {
  const { clock, limiter, reads, source, told } = polled({ timeoutMs: 3000 });
  const [first, second] = [source.refresh(), ((clock.ms = 3000), source.refresh())];
  reads[0].reject(new Error('late'));
  assert.equal(await first, 'outdated');
  assert.equal(await source.refresh(), 'under-way');
  assert.equal(reads.length, 2);
  reads[1].resolve(text(20));
  assert.equal(await second, 'applied');
  assert.deepEqual([capacityOf(limiter), source.status().unreadable], [20, null]);
  assert.equal(told.calls.length, 1);
});

test('a read that never ends is ended by its time, and the signal says so', async () => {
  const { reads, source } = polled({ timeoutMs: 1 });
  // The timer of the time limit keeps no process alive.
  const alive = setInterval(() => {}, 1000);
  try {
    assert.equal(await source.refresh(), 'unreadable');
  } finally {
    clearInterval(alive);
  }
  const { error } = source.status().unreadable;
  assert.equal(error.message, 'a look at read() took longer than 1 ms');
  assert.equal(reads[0].context.signal.aborted, true);
  assert.equal(reads[0].context.signal.reason, error);
});

test('the version of what was dealt with is handed to the next read', async () => {
  const { look, reads } = polled();
  const versions = () => reads.map(({ context }) => context.version);
  await look({ document: text(2), version: '"a"' });
  await look({ document: '{', version: '"b"' });
  await look(null);
  await look(new Error('no network'));
  await look({ document: text(3) });
  await look(null);
  assert.deepEqual(versions(), [null, '"a"', '"b"', '"b"', '"b"', null]);
});

test('a document with a lower number than the last one is dropped; a text is no number', async () => {
  const { limiter, look, source } = polled();
  assert.equal(await look({ document: text(7), version: 7 }), 'applied');
  assert.equal(await look({ document: text(6), version: 6 }), 'outdated');
  assert.equal(capacityOf(limiter), 7);
  assert.equal(
    source.status().refused.error.message,
    'version 6 is older than 7, which came before it',
  );
  assert.equal(await look({ document: '{', version: 9 }), 'refused');
  assert.equal(await look({ document: text(8), version: 8 }), 'outdated');
  assert.equal(source.status().refused.times, 3);
  assert.equal(await look({ document: text(9), version: 9 }), 'applied');
  assert.equal(source.status().version, 9);
  assert.equal(await look({ document: text(5), version: '1' }), 'applied');
  assert.equal(capacityOf(limiter), 5);
});

test('what is wrong with the limiter and not with the document is tried again', async () => {
  const { limiter, look, source, reads } = polled();
  const document = { document: text(5), version: 'x' };
  const { setPolicies } = limiter;
  limiter.setPolicies = () => {
    throw new PolicyError([
      { path: '', code: 'out-of-memory', message: 'no memory', line: null, column: null },
    ]);
  };
  assert.equal(await look(document), 'refused');
  assert.equal(await look(document), 'refused');
  assert.deepEqual([source.status().refused.times, reads[1].context.version], [2, null]);
  limiter.setPolicies = setPolicies;
  assert.equal(await look(document), 'applied');
});

test('a limiter that answers later: the document is in force when it says so', async () => {
  const limiter = new LaterLimiter();
  const { look, source, told } = polled({ limiter });
  const called = limiter.called();
  const outcome = look(text(5));
  await called;
  assert.deepEqual([source.status().revision, told.calls.length], [null, 0]);
  assert.equal(await source.refresh(), 'under-way');
  limiter.calls[0].accept();
  assert.equal(await outcome, 'applied');
  assert.equal(source.status().revision, 1);

  const next = limiter.called();
  const refused = look(text(6));
  await next;
  limiter.calls[1].refuse(new Error('the store is down'));
  assert.equal(await refused, 'refused');
  assert.equal(source.status().refused.error.message, 'the store is down');
});

test('of a limiter that answers later the newer document stays, though the older one comes into force after it', async () => {
  const limiter = new LaterLimiter();
  const { clock, reads, source } = polled({ limiter, timeoutMs: 3000 });
  let called = limiter.called();
  const slow = source.refresh();
  reads[0].resolve(text(10));
  await called;

  clock.ms = 3000;
  called = limiter.called();
  const quick = source.refresh();
  reads[1].resolve(text(20));
  await called;
  limiter.calls[1].accept();
  assert.equal(await quick, 'applied');

  called = limiter.called();
  limiter.calls[0].accept();
  await called;
  limiter.calls[2].accept();
  assert.equal(await slow, 'outdated');
  assert.deepEqual(limiter.inForce, [text(20), text(10), text(20)]);
  assert.equal(source.status().revision, 1);
});

test('where it cannot be put there once more that is told, and the next look does', async () => {
  const limiter = new LaterLimiter();
  const { clock, reads, source } = polled({ limiter, timeoutMs: 3000 });
  /** A look whose document has reached the limiter. */
  const begin = async (atMs, document) => {
    clock.ms = atMs;
    const called = limiter.called();
    const outcome = source.refresh();
    reads.at(-1).resolve(document);
    await called;
    return { outcome, call: limiter.calls.at(-1) };
  };
  const slow = await begin(0, { document: text(10), version: 'a' });
  const quick = await begin(3000, { document: text(20), version: 'b' });
  quick.call.accept();
  assert.equal(await quick.outcome, 'applied');
  const again = limiter.called();
  slow.call.accept();
  await again;
  limiter.calls.at(-1).refuse(new Error('the store is down'));
  assert.equal(await slow.outcome, 'outdated');
  assert.equal(source.status().refused.error.message, 'the store is down');

  const next = await begin(6000, { document: text(20), version: 'b' });
  assert.equal(reads.at(-1).context.version, null);
  next.call.accept();
  assert.equal(await next.outcome, 'applied');
  assert.deepEqual(limiter.inForce, [text(20), text(10), text(20)]);
  assert.equal(source.status().refused, null);
});

test('a limiter that never answers holds the source up for no longer than its time', async () => {
  const limiter = new LaterLimiter();
  const { look, reads, source } = polled({ limiter, timeoutMs: 1 });
  const alive = setInterval(() => {}, 1000);
  try {
    assert.equal(await look(text(5)), 'refused');
  } finally {
    clearInterval(alive);
  }
  assert.equal(source.status().refused.error.message, 'a look at read() took longer than 1 ms');
  look(text(5));
  assert.equal(reads.length, 2);
});

test('after close nothing is read, and what was under way is ended and changes nothing', async () => {
  const { clock, limiter, reads, source, told } = polled();
  const outcome = source.refresh();
  source.close();
  assert.equal(reads[0].context.signal.aborted, true);
  assert.equal(await outcome, 'closed');
  reads[0].resolve(text(9));
  clock.ms = 5000;
  assert.equal(await source.refresh(), 'closed');
  assert.deepEqual([reads.length, capacityOf(limiter), told.calls.length], [1, 1, 0]);
  assert.equal(source.status().state, 'closed');
  source.close();
});

test('a signal closes it, before or later; and so does using', async () => {
  const controller = new AbortController();
  const later = polled({ signal: controller.signal });
  controller.abort();
  assert.equal(later.source.status().state, 'closed');
  const before = polled({ signal: controller.signal });
  assert.deepEqual(
    [before.source.status().state, await before.source.refresh()],
    ['closed', 'closed'],
  );
  assert.equal(before.reads.length, 0);
  if (Symbol.dispose !== undefined) {
    const { source } = polled();
    source[Symbol.dispose]();
    assert.equal(source.status().state, 'closed');
  }
});

test('what hooks throw, at once or later, is dropped', async () => {
  const { limiter, look } = polled({
    onApplied() {
      throw new Error('a hook');
    },
    async onRefused() {
      throw new Error('a hook');
    },
  });
  assert.equal(await look(text(5)), 'applied');
  assert.equal(await look('{'), 'refused');
  assert.equal(await look(new Error('no network')), 'unreadable');
  assert.equal(capacityOf(limiter), 5);
});

test('without hooks the console is warned: of each rejected tier, and of trouble when it begins', async () => {
  const { look } = polled({ onApplied: undefined, onRefused: undefined, from: 'the table' });
  const warn = mock.method(console, 'warn', () => {});
  try {
    await look(text(5, { tiers: { pro: { capacity: 0, refillPerSecond: 1 } } }));
    await look('{');
    await look('{}');
    await look(new Error('no network'));
    await look(new Error('no network'));
    await look(text(6));
    await look(new Error('no network'));
    const lines = warn.mock.calls.map(({ arguments: [line, ...rest] }) => [line, rest.length]);
    assert.deepEqual(
      lines.map(([line]) => line.replace(/: [^:]*$/, '')),
      [
        'tierlimit: policies of the table: /tiers/pro/capacity',
        'tierlimit: the table: policies refused',
        'tierlimit: the table',
        'tierlimit: the table',
      ],
    );
    assert.ok(lines.every(([, rest]) => rest === 0));
  } finally {
    warn.mock.restore();
  }
});

test('options that are not as they should be are refused when it is made', () => {
  const limiter = new TierLimiter({ policies: text(1), seed });
  const read = async () => null;
  for (const [options, name, message] of [
    [undefined, 'TypeError', 'options must be an object such as { limiter }; got undefined'],
    [{ limiter, read, interval: 5 }, 'TypeError', 'there is no option "interval"'],
    [
      { read },
      'TypeError',
      'limiter must be a TierLimiter, or what has setPolicies(); got undefined',
    ],
    [
      { limiter: {}, read },
      'TypeError',
      'limiter must be a TierLimiter, or what has setPolicies(); got an Object',
    ],
    [
      { limiter },
      'TypeError',
      'read must be a function that gives a promise of a document; got undefined',
    ],
    [{ limiter, read, from: 5 }, 'TypeError', 'from must be a string; got 5'],
    [
      { limiter, read, intervalMs: 0 },
      'RangeError',
      'intervalMs must be milliseconds above 0; got 0',
    ],
    [
      { limiter, read, intervalMs: NaN },
      'RangeError',
      'intervalMs must be milliseconds above 0; got NaN',
    ],
    [
      { limiter, read, intervalMs: Infinity },
      'RangeError',
      'intervalMs must be milliseconds above 0; got Infinity',
    ],
    [
      { limiter, read, intervalMs: '5' },
      'TypeError',
      'intervalMs must be milliseconds above 0; got "5"',
    ],
    [
      { limiter, read, timeoutMs: 0.5 },
      'RangeError',
      'timeoutMs must be a whole number from 1 to 2147483647; got 0.5',
    ],
    [
      { limiter, read, timeoutMs: 2 ** 31 },
      'RangeError',
      'timeoutMs must be a whole number from 1 to 2147483647; got 2147483648',
    ],
    [{ limiter, read, now: 5 }, 'TypeError', 'now must be a function; got 5'],
    [{ limiter, read, wallNow: 5 }, 'TypeError', 'wallNow must be a function; got 5'],
    [{ limiter, read, onApplied: 5 }, 'TypeError', 'onApplied must be a function; got 5'],
    [{ limiter, read, onRefused: 5 }, 'TypeError', 'onRefused must be a function; got 5'],
    [{ limiter, read, signal: 5 }, 'TypeError', 'signal must be an AbortSignal; got 5'],
  ]) {
    const error = thrown(() => poll(options));
    assert.deepEqual([error.name, error.message], [name, message]);
  }
  const source = poll({ limiter, read });
  assert.throws(() => source.refresh({}), {
    name: 'TypeError',
    message: 'ctx must be what has waitUntil(); got an Object',
  });
});

test('case 38: it is made where nothing may be called, and its process ends by itself', async () => {
  const { status, stdout, stderr } = await runScript(`
    const refuse = (name) => () => { throw new Error(name + ' was called'); };
    const { now } = performance;
    const { timeout } = AbortSignal;
    const { fetch } = globalThis;
    globalThis.fetch = refuse('fetch');
    for (const name of ['setTimeout', 'setInterval', 'queueMicrotask']) globalThis[name] = refuse(name);
    performance.now = Date.now = refuse('now');
    AbortSignal.timeout = refuse('timeout');
    const { TierLimiter } = await import('tierlimit');
    const { poll, pollUrl, pollKv } = await import('tierlimit/policies');
    const limiter = new TierLimiter({ policies: '${text(1)}' });
    pollUrl({ limiter, url: 'https://config.example/' });
    pollKv({ limiter, namespace: { get() {} }, key: 'a' });
    const source = poll({ limiter, read: () => new Promise(() => {}) });
    performance.now = now;
    Date.now = () => 0;
    AbortSignal.timeout = timeout;
    source.refresh();
    console.log(await source.refresh());`);
  assert.deepEqual([stderr, stdout, status], ['', 'under-way\n', 0]);
});
