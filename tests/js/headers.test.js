// Decisions as header fields, read back by a parser that is not of the library that wrote them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { exposedHeaders, headersFor } from 'tierlimit/fetch';

import { membersOf } from '../http/fields.js';
import { Random } from '../model/random.js';
import { clocked, only } from './support/limiter.js';

const most = 999_999_999_999_999;

/** A decision by limits, of which the first binds. */
function decided(limits, more = {}) {
  const [{ name, ...binding }] = limits;
  const allowed = limits.every(({ retryAfterMs }) => retryAfterMs === 0);
  const about = { tier: null, limitName: name, reason: 'ok', fallback: null };
  return { allowed, ...binding, ...about, limits, ...more };
}

/** One limit as a decision tells it. */
const main = (more = {}) => ({
  ...{ name: 'main', limit: 100, remaining: 7, retryAfterMs: 0, resetMs: 55_800 },
  ...{ windowMs: 60_000, moreAfterMs: 600, ...more },
});

/** Both fields, read back. */
function read(decision, options) {
  const { 'RateLimit-Policy': policy, RateLimit: service } = headersFor(decision, options);
  return { policy: membersOf(policy), service: membersOf(service) };
}

test('the fields of a decision, letter for letter', () => {
  assert.deepEqual(headersFor(decided([main()])), {
    'RateLimit-Policy': '"main";q=100;w=60',
    RateLimit: '"main";r=7;t=0',
  });
  const daily = main({ name: 'daily', limit: 1000, windowMs: 86_400_000, moreAfterMs: 86_300 });
  assert.deepEqual(headersFor(decided([main({ retryAfterMs: 1200, moreAfterMs: 2000 }), daily])), {
    'RateLimit-Policy': '"main";q=100;w=60, "daily";q=1000;w=86400',
    RateLimit: '"main";r=7;t=2, "daily";r=7;t=86',
    'Retry-After': '2',
  });
});

test('what never comes back has neither a window nor a time', () => {
  const never = main({ windowMs: null, moreAfterMs: null, resetMs: null, retryAfterMs: null });
  assert.deepEqual(headersFor(decided([never])), {
    'RateLimit-Policy': '"main";q=100',
    RateLimit: '"main";r=7',
  });
});

test('version 12: a, w and c in place of r and t, and names that differ in more than case', () => {
  const limits = ['Burst', 'burst', 'burst-2'].map((name) => main({ name, moreAfterMs: 3000 }));
  assert.deepEqual(headersFor(decided(limits), { version: 12, cost: 5 }), {
    'RateLimit-Policy': '"Burst";q=100;w=60, "burst-2";q=100;w=60, "burst-2-2";q=100;w=60',
    RateLimit: '"Burst";a=7;w=3;c=5, "burst-2";a=7;w=3;c=5, "burst-2-2";a=7;w=3;c=5',
  });
  assert.equal(headersFor(decided([main()]), { version: 12 }).RateLimit, '"main";a=7;w=0');
  assert.deepEqual(
    read(decided(limits)).policy.map(({ name }) => name),
    ['Burst', 'burst', 'burst-2'],
  );
});

test('main by another name, and other units', () => {
  const options = { name: 'search "v2"', unit: 'content-bytes' };
  assert.deepEqual(read(decided([main(), main({ name: 'daily' })]), options), {
    policy: ['search "v2"', 'daily'].map((name) => ({ name, q: 100, qu: 'content-bytes', w: 60 })),
    service: ['search "v2"', 'daily'].map((name) => ({ name, r: 7, t: 0 })),
  });
  assert.equal(
    headersFor(decided([main()]), { unit: 'requests' })['RateLimit-Policy'],
    '"main";q=100;w=60',
  );
});

test('windows are rounded up and quotas down, to whole seconds and tokens', () => {
  const { policy } = read(decided([main({ limit: 5.99, windowMs: 5990.001 })]));
  assert.deepEqual(policy, [{ name: 'main', q: 5, w: 6 }]);
  const { policy: exact } = read(decided([main({ limit: 5, windowMs: 5000 })]));
  assert.deepEqual(exact, [{ name: 'main', q: 5, w: 5 }]);
  const { policy: short } = read(decided([main({ windowMs: 0.001 })]));
  assert.equal(short[0].w, 1);
});

test('Retry-After: whole seconds rounded up, never 0, absent where nothing helps', () => {
  for (const [retryAfterMs, seconds] of [
    ...[
      [null, undefined],
      [0.001, '1'],
      [1, '1'],
      [999.999, '1'],
      [1000, '1'],
      [1000.001, '2'],
    ],
    ...[
      [59_999, '60'],
      [60_000, '60'],
      [1e21, `${most}`],
      [Infinity, `${most}`],
    ],
    // What no limiter of ours says.
    ...[
      [0, '1'],
      [-5, '1'],
      [NaN, undefined],
      [undefined, undefined],
      ['9', undefined],
    ],
  ]) {
    const decision = decided([main({ retryAfterMs })], { allowed: false, retryAfterMs });
    assert.equal(headersFor(decision)['Retry-After'], seconds, `${retryAfterMs}`);
  }
  assert.equal(headersFor(decided([main()]))['Retry-After'], undefined);
});

test('names of limiters that are not ours break no field', () => {
  const names = [
    ...[
      '',
      'a"b',
      'back\\slash',
      'line\r\nX-Evil: yes',
      'tab\t',
      'nul\0',
      'ümlaut',
      '客户',
      '\ud800',
    ],
    ...[
      'x'.repeat(1000),
      ';r=999',
      ', "other";q=1',
      '~',
      ' ',
      undefined,
      null,
      5,
      {},
      Symbol.iterator,
    ],
  ];
  for (const name of names) {
    for (const version of [11, 12]) {
      const fields = headersFor(decided([main({ name })]), { version });
      assert.doesNotThrow(() => new Headers(fields));
      const { policy, service } = read(decided([main({ name })]), { version });
      assert.deepEqual([policy.length, service.length], [1, 1]);
      assert.equal(policy[0].name, service[0].name);
      assert.match(policy[0].name, /^[ -~]{1,64}$/);
    }
  }
  assert.equal(read(decided([main({ name: 'a"b\\c' })])).policy[0].name, 'a"b\\c');
});

test('numbers of limiters that are not ours are never other than whole and in range', () => {
  const random = new Random(1);
  const odd = [
    ...[NaN, Infinity, -Infinity, -1, -0, 0, 0.5, 1e300, 2 ** 53, most, most + 1, 5e-324],
    ...[undefined, null, '7', true, {}],
  ];
  const number = () =>
    random.chance(0.6) ? random.pick(odd) : random.fraction() * 10 ** random.whole(0, 20);
  for (let i = 0; i < 3000; i += 1) {
    const limits = Array.from({ length: random.whole(1, 3) }, (_, index) => ({
      ...{ name: `limit-${index}`, limit: number(), remaining: number(), resetMs: number() },
      ...{ retryAfterMs: number(), windowMs: number() },
      ...(random.chance(0.5) ? { moreAfterMs: number() } : {}),
    }));
    const options = {
      ...{ version: random.pick([11, 12]), cost: number() ?? 1 },
      ...{ legacy: random.pick([false, 'delta-seconds', 'epoch-seconds']) },
    };
    const decision = decided(limits, { allowed: random.chance(0.5), retryAfterMs: number() });
    const fields = headersFor(decision, options);
    for (const member of [
      ...membersOf(fields['RateLimit-Policy']),
      ...membersOf(fields.RateLimit),
    ]) {
      for (const [key, value] of Object.entries(member)) {
        if (key !== 'name') assert.ok(value >= 0 && value <= most, `${key}=${value}`);
      }
    }
    for (const name of ['Retry-After', ...exposedHeaders.filter((it) => it.startsWith('X-'))]) {
      if (name in fields) assert.match(fields[name], /^\d{1,15}$/, name);
    }
  }
});

test('a decision without its limits is told by its own members', () => {
  const { limits, ...rest } = decided([main({ name: 'only' })]);
  assert.equal(limits.length, 1);
  for (const decision of [rest, { ...rest, limits: [] }]) {
    assert.equal(headersFor(decision).RateLimit, '"only";r=7;t=0');
  }
});

test('the time of a limiter that tells none is that of a token bucket', () => {
  // 100 tokens in 60 s, 7 of them there: the next one comes in 0.6 s less what has passed of it.
  const time = (more) => read(decided([main({ moreAfterMs: undefined, ...more })])).service[0].t;
  assert.equal(time({ limit: 10, remaining: 7, windowMs: 60_000, resetMs: 18_000 }), 6);
  assert.equal(time({ limit: 10, remaining: 7, windowMs: 60_000, resetMs: 12_001 }), 0);
  assert.equal(time({ limit: 10, remaining: 7, windowMs: 60_000, resetMs: 13_000 }), 1);
  assert.equal(time({ limit: 10, remaining: 10, windowMs: 60_000, resetMs: 0 }), 6);
  assert.equal(time({ limit: 10, remaining: 0, windowMs: 60_000, resetMs: 60_000 }), 6);
  assert.equal(time({ windowMs: undefined }), undefined);
  assert.equal(time({ windowMs: null }), undefined);
  // A second that floating point makes a hair less of is one.
  assert.equal(time({ limit: 3, remaining: 1, windowMs: 3000.3, resetMs: 2000.1 }), 1);
});

test('within t seconds no more than r can be used, and Retry-After is not before t is over', () => {
  const random = new Random(7);
  let seconds = 0;
  for (let i = 0; i < 600; i += 1) {
    const windowSeconds = random.whole(1, 40);
    const policy = random.pick([
      { capacity: random.whole(2, 24) / 2, refill: { tokens: 1, seconds: random.whole(1, 20) } },
      { algorithm: 'sliding-window', limit: random.whole(1, 8), windowSeconds },
      { algorithm: 'fixed-window', limit: random.whole(1, 8), windowSeconds },
    ]);
    const { take } = clocked({ default: policy });
    let atMs = 0;
    let decision;
    for (let steps = random.whole(1, 12); steps > 0; steps -= 1) {
      atMs += random.whole(0, 9000) + random.pick([0, 0.001, 0.5]);
      decision = take('acme', atMs);
    }
    const [{ r, t }] = read(decision).service;
    const told = `${JSON.stringify(policy)} at ${atMs} ms: r=${r};t=${t}`;
    assert.equal(r, decision.remaining, told);
    seconds += t;
    if (!decision.allowed) assert.ok(Number(headersFor(decision)['Retry-After']) >= t, told);
    // All that is there is used at once, and then it is tried again and again until the time is over.
    let used = 0;
    for (let j = 0; j < r; j += 1) used += Number(take('acme', atMs).allowed);
    assert.equal(used, r, told);
    for (let ms = 0; ms < t * 1000; ms += 125) used += Number(take('acme', atMs + ms).allowed);
    if (t > 0) used += Number(take('acme', atMs + t * 1000 - 0.001).allowed);
    assert.equal(used, r, told);
  }
  // That nothing is ever told would be true, too.
  assert.ok(seconds > 1000, `${seconds}`);
});

test('case 19: X-RateLimit-Reset says seconds, or the second since 1970 when told so', () => {
  const wallNow = () => 1_700_000_000_500;
  const { take } = clocked({ default: { capacity: 10, refill: { tokens: 10, seconds: 60 } } });
  for (let i = 0; i < 10; i += 1) take('acme', 5000);
  const decision = take('acme', 5000);
  assert.equal(decision.resetMs, 60_000);
  const legacy = (options) => {
    const fields = headersFor(decision, { ...options, wallNow });
    return ['Limit', 'Remaining', 'Reset'].map((name) => fields[`X-RateLimit-${name}`]);
  };
  assert.deepEqual(legacy({ legacy: 'delta-seconds' }), ['10', '0', '60']);
  assert.deepEqual(legacy({ legacy: 'epoch-seconds' }), ['10', '0', '1700000061']);
  assert.deepEqual(legacy({ legacy: false }), [undefined, undefined, undefined]);
  assert.equal(
    headersFor(decision, { legacy: 'delta-seconds', wallNow }).RateLimit,
    '"main";r=0;t=6',
  );
  const never = decided([main({ resetMs: null })]);
  assert.equal('X-RateLimit-Reset' in headersFor(never, { legacy: 'epoch-seconds' }), false);
});

test('case 18: the time of day moves what is told as one, and nothing else', () => {
  const { take } = clocked({ default: { capacity: 10, refillPerSecond: 1 } });
  let wallMs = 1_700_000_000_000;
  const options = { legacy: 'epoch-seconds', wallNow: () => wallMs };
  for (let i = 0; i < 10; i += 1) take('acme', 0);
  const before = headersFor(take('acme', 0), options);
  wallMs += 2 * 3600 * 1000;
  const after = headersFor(take('acme', 5000), options);
  assert.deepEqual(
    [before, after].map((fields) => [fields.RateLimit, fields['X-RateLimit-Reset']]),
    [
      ['"main";r=0;t=1', '1700000010'],
      ['"main";r=4;t=1', '1700007206'],
    ],
  );
  assert.equal(before['RateLimit-Policy'], after['RateLimit-Policy']);
  const now = Math.floor(Date.now() / 1000);
  const reset = Number(
    headersFor(take('acme', 5000), { legacy: 'epoch-seconds' })['X-RateLimit-Reset'],
  );
  assert.ok(reset >= now + 6 && reset < now + 100, `${reset} at ${now}`);
});

test('a partition key is a hash of the client, or what a function makes of it', () => {
  const decision = decided([main(), main({ name: 'daily' })]);
  const key = (options) => {
    const { policy, service } = read(decision, options);
    const keys = [...policy, ...service].map(({ pk }) => pk && Buffer.from(pk).toString('latin1'));
    assert.equal(new Set(keys).size, 1);
    return keys[0];
  };
  const hash = (client) =>
    createHash('sha256').update(client).digest().subarray(0, 12).toString('latin1');
  for (const client of ['acme', '', 'ip:203.0.113.5', 'ü', '客户'.repeat(50)]) {
    assert.equal(key({ client, partitionKey: true }), hash(client), client);
  }
  // Every length around those at which the padding needs one more block.
  for (let length = 40; length < 200; length += 1) {
    const client = 'x'.repeat(length);
    assert.equal(key({ client, partitionKey: true }), hash(client), `${length}`);
  }
  assert.equal(key({ client: 'acme', partitionKey: (client) => `<${client}>` }), '<acme>');
  const bytes = Buffer.from('a shared buffer').subarray(2, 8);
  assert.equal(key({ client: 'acme', partitionKey: () => bytes }), 'shared');
  assert.equal(key({ client: 'acme', partitionKey: false }), undefined);
  assert.equal(key({ partitionKey: true }), undefined);
  assert.throws(() => key({ client: 'acme', partitionKey: () => 5 }), {
    name: 'TypeError',
    message: 'partitionKey() must be a string or a Uint8Array; got 5',
  });
});

test('more policies than are remembered, each told right at each time', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let i = 1; i <= 3000; i += 1) {
      const limits = [main({ limit: i }), main({ name: 'daily', windowMs: i * 1000 })];
      assert.equal(
        headersFor(decided(limits))['RateLimit-Policy'],
        `"main";q=${i};w=60, "daily";q=100;w=${i}`,
      );
    }
  }
});

test('options that are not as they should be', () => {
  const decision = decided([main()]);
  for (const [options, message] of [
    [{ verson: 11 }, 'there is no option "verson"'],
    [{ version: 10 }, 'version must be 11 or 12; got 10'],
    [{ version: '11' }, 'version must be 11 or 12; got "11"'],
    [{ name: '' }, 'name must be 1 to 64 printable ASCII characters; got ""'],
    [{ name: 'ü' }, 'name must be 1 to 64 printable ASCII characters; got "ü"'],
    [{ name: 'a\n' }, 'name must be 1 to 64 printable ASCII characters; got "a\\n"'],
    [{ unit: 5 }, 'unit must be 1 to 64 printable ASCII characters; got 5'],
    [
      { partitionKey: 'x' },
      'partitionKey must be true, false or a function of the client; got "x"',
    ],
    [{ legacy: true }, 'legacy must be false, "delta-seconds" or "epoch-seconds"; got true'],
    [{ wallNow: 5 }, 'wallNow must be a function that returns milliseconds; got 5'],
  ]) {
    assert.throws(() => headersFor(decision, options), { name: 'TypeError', message });
  }
});

test('the fields that a page of another origin is to be allowed to read', () => {
  const fields = headersFor(decided([main({ retryAfterMs: 5 })]), { legacy: 'delta-seconds' });
  assert.deepEqual(Object.keys(fields).sort(), [...exposedHeaders].sort());
  assert.ok(Object.isFrozen(exposedHeaders));
});

test('fields of a limiter by default', () => {
  const { take } = clocked(only(5, 1));
  assert.deepEqual(headersFor(take('acme', 0)), {
    'RateLimit-Policy': '"main";q=5;w=5',
    RateLimit: '"main";r=4;t=1',
  });
});
