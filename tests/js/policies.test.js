// Policy documents: what is accepted, what is refused, what is reported, and what a change does to buckets.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { PolicyError, TierLimiter } from 'tierlimit';

import { clocked, only, thrown } from './support/limiter.js';

const vectors = JSON.parse(
  readFileSync(new URL('../vectors/policy-documents.json', import.meta.url), 'utf8'),
);

const good = { capacity: 3, refillPerSecond: 1 };

/** The error that refuses a document. */
function refusal(policies, options = {}) {
  const error = thrown(() => new TierLimiter({ policies, ...options }).dispose());
  assert.ok(error instanceof PolicyError, `${error}`);
  return error;
}

/** Where and what the problems are. */
const places = (problems) => problems.map(({ path, code }) => [path, code]);

test('case 9: reloading the same policies refills nothing, however they are written', () => {
  const policies = {
    default: { capacity: 10, refillPerSecond: 0.1 },
    tiers: { pro: { capacity: 10, refill: { tokens: 10, seconds: 13 } } },
    clients: { acme: 'pro' },
  };
  const spellings = [
    ...Array.from({ length: 5 }, () => policies),
    JSON.stringify(policies),
    JSON.stringify(policies, null, '\t'),
    '\ufeff' + JSON.stringify(policies, null, 4).replaceAll('\n', '\r\n'),
    '{"clients":{"acme":"pro"},"tiers":{"pro":{"refill":{"seconds":13,"tokens":10},"capacity":10}},' +
      '"default":{"refillPerSecond":0.1,"capacity":10}}',
    '{"default":{"capacity":1e1,"refillPerSecond":1e-1},' +
      '"tiers":{"pro":{"capacity":10.00,"refill":{"tokens":20,"seconds":26.0}}},"clients":{"acme":"\\u0070ro"}}',
  ];
  const { limiter, take } = clocked(policies);
  for (const client of ['acme', 'nobody']) assert.equal(take(client, 0, 10).remaining, 0);
  assert.equal(take('half', 0, 5).remaining, 5);
  for (const [index, spelling] of spellings.entries()) {
    assert.equal(limiter.setPolicies(spelling).revision, index + 2);
    for (const client of ['acme', 'nobody']) {
      const { allowed, remaining, limit } = take(client, 0);
      assert.deepEqual([allowed, remaining, limit], [false, 0, 10]);
    }
    assert.equal(limiter.peek('half').remaining, 5);
  }
  // Nor does it take anything away.
  assert.equal(take('acme', 1299.999).allowed, false);
  limiter.setPolicies(policies);
  assert.equal(take('acme', 1300).allowed, true);
});

test('case 9: ten thousand reloads leave a drained client denied and memory as it was', () => {
  const { limiter, take } = clocked(only(10, 0.001));
  take('c', 0, 10);
  const { bytes } = limiter.stats();
  for (let i = 0; i < 10_000; i += 1) limiter.setPolicies(only(10, 0.001));
  assert.equal(take('c', 0).allowed, false);
  assert.equal(limiter.stats().bytes, bytes);
  assert.equal(limiter.revision, 10_001);
});

test('case 11: a raised rate refuses nobody and gives nothing by itself', () => {
  const { limiter, take } = clocked({
    default: { capacity: 16, refill: { tokens: 10, seconds: 20 } },
  });
  assert.equal(take('c', 0, 3).remaining, 13);
  limiter.setPolicies({ default: { capacity: 16, refill: { tokens: 1000, seconds: 20 } } });
  const decision = take('c', 0);
  assert.deepEqual([decision.allowed, decision.remaining], [true, 12]);
});

test('case 11: a lowered capacity is the one that is reported and enforced', () => {
  const { limiter, take } = clocked(only(20, 0));
  assert.equal(limiter.peek('untouched').limit, 20);
  assert.equal(take('touched', 0).remaining, 19);
  limiter.setPolicies(only(10, 0));
  for (const client of ['untouched', 'touched']) {
    const decisions = Array.from({ length: 12 }, () => take(client, 0));
    assert.equal(decisions.filter(({ allowed }) => allowed).length, 10);
    assert.ok(decisions.every(({ limit }) => limit === 10));
  }
});

test('case 11: a raised capacity does not fill a bucket', () => {
  const { limiter, take } = clocked(only(20, 1));
  take('drained', 0, 20);
  take('half', 0, 10);
  limiter.setPolicies(only(40, 1));
  assert.equal(limiter.peek('drained').remaining, 0);
  assert.equal(limiter.peek('half').remaining, 10);
  assert.equal(limiter.peek('half').limit, 40);
  assert.equal(limiter.peek('never seen').remaining, 40);
  assert.equal(take('drained', 1000).remaining, 0);
  assert.equal(take('half', 25_000).remaining, 34);
});

test('a change takes effect at the next decision, for the time since the last one too', () => {
  const { limiter, clock, take } = clocked(only(100, 1));
  take('c', 0, 100);
  clock.ms = 10_000;
  limiter.setPolicies(only(100, 5));
  assert.equal(limiter.peek('c').remaining, 50);
  // Policies between two decisions never happened for the client.
  limiter.setPolicies(only(1, 0));
  limiter.setPolicies(only(100, 3));
  assert.equal(take('c', 10_000, 30).remaining, 0);
});

test('a balance that is not whole keeps its fraction from one unit to another', () => {
  const { limiter, take } = clocked(only(10, 0.5));
  take('c', 0, 10);
  assert.equal(take('c', 1000).allowed, false);
  limiter.setPolicies({ default: { capacity: 10, refill: { tokens: 7, seconds: 13 } } });
  limiter.setPolicies(only(10.5, 0.25));
  assert.equal(take('c', 1000).retryAfterMs, 2000);
});

test('clients of the document are replaced, those of setTier stay', () => {
  const tiers = { a: { capacity: 2, refillPerSecond: 1 }, b: { capacity: 3, refillPerSecond: 1 } };
  const { limiter } = clocked({ default: good, tiers, clients: { x: 'a', y: 'a' } });
  limiter.setTier('y', 'b');
  limiter.setTier('z', 'b');
  const tierOf = (client) => limiter.peek(client).tier;
  assert.deepEqual(['x', 'y', 'z'].map(tierOf), ['a', 'b', 'b']);
  limiter.setPolicies({ default: good, tiers, clients: { z: 'a' } });
  assert.deepEqual(['x', 'y', 'z'].map(tierOf), [null, 'b', 'b']);
  limiter.setTier('z', null);
  assert.equal(tierOf('z'), 'a');
});

test('tiers that come, go and break are looked up anew after each document', () => {
  const { limiter } = clocked({ default: good });
  const seen = (tier) => {
    const { limit, fallback } = limiter.peek('c', { tier });
    return [limit, fallback];
  };
  const tier = (capacity) => ({ capacity, refillPerSecond: 1 });
  const documents = [
    [{}, [3, 'unknown-tier'], [3, 'unknown-tier']],
    [{ a: tier(5), b: tier(6) }, [5, null], [6, null]],
    [{ b: tier(7), a: tier(8) }, [8, null], [7, null]],
    [{ b: tier(9) }, [3, 'unknown-tier'], [9, null]],
    [{ a: { capacity: 'x' }, z: tier(2) }, [3, 'invalid-tier-policy'], [3, 'unknown-tier']],
    [{ a: tier(4) }, [4, null], [3, 'unknown-tier']],
  ];
  for (const [tiers, a, b] of documents) {
    limiter.setPolicies({ default: good, tiers });
    // Twice: the second time out of what is remembered.
    assert.deepEqual([seen('a'), seen('b'), seen('a'), seen('b')], [a, b, a, b]);
  }
});

test('a tier name is what the decision says, also when its number has been another one', () => {
  const { limiter } = clocked({ default: good });
  for (let i = 0; i < 20; i += 1) {
    limiter.setTier('c', `tier ${i}`);
    assert.equal(limiter.check('c').tier, `tier ${i}`);
    if (i % 3 === 0) limiter.setPolicies({ default: good, tiers: { [`other ${i}`]: good } });
    assert.equal(limiter.check('c').tier, `tier ${i}`);
    limiter.setTier('c', null);
    assert.equal(limiter.check('c').tier, null);
  }
});

test('the report of an accepted document', () => {
  const text = [
    '{',
    '  "default": { "capacity": 5, "refillPerSecond": 1 },',
    '  "tiers": {',
    '    "ok": { "capacity": 5, "refillPerSecond": 1, "algorithm": "token-bucket" },',
    '    "a/b~c": { "capacity": 0, "refillPerSecond": 1 },',
    '    "💥": { "capcity": 5, "refillPerSecond": 1 }, "later": { "limits": [] },',
    '    "fine": { "capacity": 1e9, "refillPerSecond": 11574.074074 }',
    '  },',
    '  "clients": { "acme": "ok", "lost": "nowhere" }',
    '}',
  ].join('\n');
  const limiter = new TierLimiter({ policies: text });
  assert.equal(limiter.revision, 1);
  assert.deepEqual(
    limiter.rejected.map(({ path, code, line, column }) => [path, code, line, column]),
    [
      ['/tiers/a~1b~0c/capacity', 'invalid-value', 5, 28],
      ['/tiers/💥/capcity', 'unknown-member', 6, 13],
      ['/tiers/💥', 'missing-member', 6, 11],
      ['/tiers/later/limits', 'invalid-value', 6, 72],
      ['/clients/lost', 'unknown-tier', 9, 38],
    ],
  );
  assert.deepEqual(
    limiter.warnings.map(({ path, code, line, column }) => [path, code, line, column]),
    [['/tiers/fine/refillPerSecond', 'rate-rounded', 7, 51]],
  );
  for (const problem of [...limiter.rejected, ...limiter.warnings]) {
    assert.deepEqual(Object.keys(problem).sort(), ['code', 'column', 'line', 'message', 'path']);
    assert.ok(problem.message.length > 10, problem.message);
  }
  assert.match(limiter.rejected[0].message, /capacity is 0; it must be at least 1/);

  const report = limiter.setPolicies(JSON.parse(text));
  assert.equal(report.revision, 2);
  assert.deepEqual(
    report.rejected,
    new TierLimiter({ policies: text }).rejected.map((problem) => ({
      ...problem,
      line: null,
      column: null,
    })),
  );
  assert.deepEqual(
    report.warnings.map(({ path, line, column }) => [path, line, column]),
    [['/tiers/fine/refillPerSecond', null, null]],
  );
  assert.equal(limiter.rejected, report.rejected);
  assert.equal(limiter.warnings, report.warnings);
  assert.equal(limiter.revision, report.revision);

  assert.deepEqual(limiter.setPolicies({ default: good }), {
    revision: 3,
    rejected: [],
    warnings: [],
  });
  assert.equal(report.rejected.length, 5);
});

test('strict refuses what would be reported, with everything that was found', () => {
  const policies = {
    default: good,
    tiers: {
      broken: { capacity: 0, refillPerSecond: 1 },
      later: { ...good, onStoreError: 'deny' },
    },
    clients: { lost: 'nowhere' },
  };
  const error = refusal(policies, { strict: true });
  assert.deepEqual(places(error.problems), [
    ['/tiers/broken/capacity', 'invalid-value'],
    ['/tiers/later/onStoreError', 'unsupported'],
    ['/clients/lost', 'unknown-tier'],
  ]);
  const limiter = new TierLimiter({ policies: { default: good }, strict: true });
  assert.throws(() => limiter.setPolicies(policies), PolicyError);
  assert.equal(limiter.revision, 1);
  // A rate that had to be rounded is in force, and no reason to refuse.
  const { warnings } = limiter.setPolicies(only(1e9, 11574.074074));
  assert.deepEqual(places(warnings), [['/default/refillPerSecond', 'rate-rounded']]);
});

test('a PolicyError says what and where', () => {
  const text =
    '{\r\n  "default": { "capacity": 3,\r  "💥": 1, "refillPerSecond": "1" },\n  "more": 1 }';
  const error = refusal(text);
  assert.deepEqual(
    [error.name, error.code, error.path, error.line, error.column],
    ['PolicyError', 'unknown-member', '/default/💥', 3, 3],
  );
  assert.deepEqual(
    error.problems.map(({ path, code, line, column }) => [path, code, line, column]),
    [
      ['/default/💥', 'unknown-member', 3, 3],
      ['/default/refillPerSecond', 'wrong-type', 3, 31],
      ['/more', 'unknown-member', 4, 3],
    ],
  );
  assert.equal(
    error.message,
    `policies refused: /default/💥: ${error.problems[0].message} (line 3, column 3)`,
  );
  assert.ok(error instanceof Error);
  assert.match(error.stack, /^PolicyError: policies refused: /);

  const fromObject = refusal({ default: { capacity: 3 } });
  assert.deepEqual(
    [fromObject.path, fromObject.code, fromObject.line, fromObject.column],
    ['/default', 'missing-member', null, null],
  );
  assert.doesNotMatch(fromObject.message, /line|column/);
});

test('case 26: whatever is wrong with a document is a PolicyError, and the last one stays in force', () => {
  const named = { name: 'a', ...good };
  const bad = [
    ['', 'syntax'],
    ['{', 'syntax'],
    ['{"default":{"capacity":3,"refillPerSecond":1}} x', 'syntax'],
    ['{"default":{"capacity":3,"refillPerSecond":1}}\0', 'syntax'],
    ['{"default":{"capacity":3,"refillPerSecond":1},}', 'syntax'],
    ["{'default':{}}", 'syntax'],
    ['{"default":{"capacity":3,"refillPerSecond":1},"\\udc00":1}', 'lone-surrogate'],
    ['{"default":{"capacity":3,"refillPerSecond":1},"\ud800":1}', 'lone-surrogate'],
    ['['.repeat(33) + ']'.repeat(33), 'too-deep'],
    ['{"default":{"capacity":1e400,"refillPerSecond":1}}', 'number-out-of-range'],
    ['{"default":{},"default":{"capacity":3,"refillPerSecond":1}}', 'duplicate-member'],
    ['{"default":{"capacity":3,"refillPerSecond":1},"tier":{}}', 'unknown-member'],
    ['{"default":{"capacity":3,"refillPerSecond":1},"tiers":[]}', 'wrong-type'],
    ['{"default":{"capacity":3,"refillPerSecond":1},"clients":{"a":1}}', 'wrong-type'],
    ['null', 'wrong-type'],
    [[], 'wrong-type'],
    [{}, 'missing-member'],
    [{ tiers: { a: good } }, 'missing-member'],
    [{ default: null }, 'wrong-type'],
    [{ default: { capacity: 3 } }, 'missing-member'],
    [{ default: { refillPerSecond: 3 } }, 'missing-member'],
    [{ default: { capacity: 0.5, refillPerSecond: 1 } }, 'invalid-value'],
    [{ default: { capacity: 3, refillPerSecond: -1 } }, 'invalid-value'],
    [{ default: { capacity: 3, refillPerSecond: '1' } }, 'wrong-type'],
    [{ default: { capacity: 3, refill: { tokens: 1, seconds: 0 } } }, 'invalid-value'],
    [{ default: { capacity: 3, refill: { tokens: 1 } } }, 'missing-member'],
    [{ default: { ...good, refill: { tokens: 1, seconds: 1 } } }, 'conflicting-members'],
    [{ default: { ...good, limits: [] } }, 'conflicting-members'],
    [{ default: { limits: [] } }, 'invalid-value'],
    [{ default: { limits: [good] } }, 'missing-member'],
    [{ default: { limits: [named, named] } }, 'invalid-value'],
    [{ default: { limits: [named, { ...named, name: 'b', capacity: 0 }] } }, 'invalid-value'],
    [{ default: { ...good, onRaise: 'refill' } }, 'invalid-value'],
    [{ default: { ...good, accrual: null } }, 'wrong-type'],
    [{ default: { ...good, onStoreError: 'deny' } }, 'unsupported'],
    [{ default: { algorithm: 'sliding-window', limit: 100 } }, 'missing-member'],
    [
      { default: { algorithm: 'sliding-window', limit: 10_001, windowSeconds: 60 } },
      'invalid-value',
    ],
    [{ default: { ...good, algorithm: 'fixed-window' } }, 'unknown-member'],
    [{ default: { ...good, algorithm: 'leaky-cauldron' } }, 'invalid-value'],
    [{ default: { capacity: 9e18, refillPerSecond: 1e-300 } }, 'not-representable'],
  ];
  const { limiter, take } = clocked({
    default: good,
    tiers: { a: { capacity: 7, refillPerSecond: 0 } },
  });
  assert.equal(take('c', 0).remaining, 2);
  assert.equal(take('d', 0, 1, 'a').remaining, 6);
  const before = limiter.stats();
  for (const [policies, code] of bad) {
    for (const call of [
      () => limiter.setPolicies(policies),
      () => new TierLimiter({ policies, strict: true }),
    ]) {
      const error = thrown(call);
      const shown = JSON.stringify(policies)?.slice(0, 80);
      assert.ok(error instanceof PolicyError, `${shown}: ${error}`);
      assert.ok(error instanceof Error);
      assert.equal(error.code, code, shown);
      assert.equal(error.problems[0].code, code);
      assert.ok(error.message.length > 20, error.message);
      assert.ok(error.problems.every(({ message }) => message.length > 10));
    }
    assert.deepEqual(limiter.stats(), before);
    assert.equal(limiter.peek('c').remaining, 2);
    assert.equal(limiter.peek('d', { tier: 'a' }).remaining, 6);
  }
  assert.deepEqual(limiter.rejected, []);
});

test('policies that are no document at all are a TypeError that names what was given', () => {
  const cyclic = { default: good };
  cyclic.tiers = cyclic;
  const cases = [
    [undefined, /policies .* undefined/],
    [null, /policies .* null/],
    [5, /policies .* 5/],
    [5n, /policies .* 5n/],
    [true, /policies .* true/],
    [Symbol('p'), /policies .* Symbol\(p\)/],
    [new TypeError('p'), /policies .* an Error/],
    [{ [Symbol.toStringTag]: 'x'.repeat(500) }, /policies .* an Object$/],
    [() => ({ default: good }), /policies .* a Function/],
    [{ default: { capacity: 3n, refillPerSecond: 1 } }, /"capacity" must be a JSON value; got 3n/],
    [Buffer.from('{}'), /policies must be a plain object or JSON text; got a Uint8Array/],
    [Promise.resolve('{}'), /got a Promise/],
    [new Map(), /got a Map/],
    [{ default: good, tiers: new Map([['pro', good]]) }, /"tiers" must be a JSON value; got a Map/],
    [{ default: good, tiers: Promise.resolve({ pro: good }) }, /"tiers" must be .* got a Promise/],
    [{ default: good, clients: () => ({ acme: 'pro' }) }, /"clients" must be .* got a Function/],
    [{ default: good, clients: { acme: NaN } }, /"acme" must be a finite number; got NaN/],
    [
      { default: { capacity: Infinity, refillPerSecond: 1 } },
      /"capacity" must be a finite number; got Infinity/,
    ],
    [
      { default: good, clients: new URLSearchParams('acme=pro') },
      /"clients" must be .* got a URLSearchParams/,
    ],
    [cyclic, /policies .* circular/],
    [{ toJSON: () => undefined }, /policies/],
    [
      {
        toJSON() {
          throw new Error('not today');
        },
      },
      /policies .* not today/,
    ],
    [
      {
        toJSON() {
          throw undefined;
        },
      },
      /policies .* undefined/,
    ],
  ];
  const limiter = new TierLimiter({ policies: { default: good } });
  for (const [policies, message] of cases) {
    assert.throws(() => new TierLimiter({ policies }), { name: 'TypeError', message });
    assert.throws(() => limiter.setPolicies(policies), { name: 'TypeError', message });
  }
  assert.equal(limiter.revision, 1);
});

test('objects are written as JSON: what JSON leaves out is left out', () => {
  const { limiter } = clocked({
    default: { ...good, refill: undefined },
    tiers: undefined,
    clients: {},
  });
  assert.equal(limiter.peek('c').limit, 3);
  limiter.setPolicies({ toJSON: () => ({ default: { capacity: 4, refillPerSecond: 1 } }) });
  assert.equal(limiter.peek('c').limit, 4);
  assert.equal(refusal({ default: { capacity: null, refillPerSecond: 1 } }).code, 'wrong-type');
});

test('case 63: a member given twice is refused, however it is spelled, with both places', () => {
  const error = refusal('{"default":{"capacity":10,"refillPerSecond":1,"capacity":1000000}}');
  assert.deepEqual(
    [error.code, error.path, error.line, error.column],
    ['duplicate-member', '/default/capacity', 1, 47],
  );
  assert.match(error.message, /1:13.*1:47/);

  const twice = [
    [
      '{"default":{"capacity":10,"\\u0063apacity":1000000,"refillPerSecond":1}}',
      '/default/capacity',
    ],
    ['{"default":{"capacity":10,"refillPerSecond":1},"tiers":{},"tiers":{}}', '/tiers'],
    ['{"default":{"capacity":10,"refillPerSecond":1},"tiers":{"a":1,"\\u0061":2}}', '/tiers/a'],
    [
      '{"default":{"capacity":10,"refillPerSecond":1},"tiers":{"a":{"x":{"y":[{"é":1,"\\u00E9":2}]}}}}',
      '/tiers/a/x/y/0/é',
    ],
    [
      '{"default":{"capacity":10,"refillPerSecond":1},"clients":{"\\ud83d\\ude00":"a","😀":"a"}}',
      '/clients/😀',
    ],
    [
      '{"default":{"capacity":10,"refill":{"tokens":1,"seconds":1,"tokens":1}}}',
      '/default/refill/tokens',
    ],
  ];
  for (const [text, path] of twice) {
    assert.deepEqual(places(refusal(text).problems), [[path, 'duplicate-member']]);
  }
  const { rejected } = clocked({
    default: good,
    tiers: { a: good, b: good },
    clients: { a: 'a', b: 'b' },
  }).limiter;
  assert.deepEqual(rejected, []);
});

test('case 64: depth is an error, not a trap, and the limiter still answers', () => {
  const { limiter, take } = clocked({ default: good });
  assert.equal(take('c', 0).remaining, 2);
  const deep = [
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    '['.repeat(100_000) + ']'.repeat(100_000),
    '{"default":' + '[{"a":'.repeat(50_000) + '1' + '}]'.repeat(50_000) + '}',
    `{"default":{"capacity":3,"refillPerSecond":1},"tiers":{"a":${'['.repeat(31)}${']'.repeat(31)}}}`,
  ];
  for (const text of deep) {
    const error = thrown(() => limiter.setPolicies(text));
    assert.ok(error instanceof PolicyError);
    assert.equal(error.code, 'too-deep');
    assert.match(error.message, /32/);
    assert.equal(limiter.peek('c').remaining, 2);
  }
  // 32 levels are as deep as it may be.
  const { rejected } = limiter.setPolicies(
    `{"default":{"capacity":3,"refillPerSecond":1},"tiers":{"a":${'['.repeat(30)}${']'.repeat(30)}}}`,
  );
  assert.deepEqual(places(rejected), [['/tiers/a', 'wrong-type']]);
  assert.equal(take('c', 0).remaining, 1);
});

test('case 64: a document of five megabytes is read', () => {
  const tiers = {};
  const clients = {};
  const long = 'é'.repeat(200);
  for (let i = 0; i < 8000; i += 1) {
    tiers[`tier ${i} ${long}`] = { capacity: i + 1, refillPerSecond: i / 10 };
    clients[`client ${i} ${long}`] = `tier ${i} ${long}`;
  }
  const text = JSON.stringify({ default: good, tiers, clients });
  assert.ok(text.length > 5e6, `${text.length}`);
  const { limiter, take } = clocked({ default: good });
  const { rejected, warnings } = limiter.setPolicies(text);
  assert.deepEqual([rejected, warnings], [[], []]);
  for (const i of [0, 1234, 7999]) assert.equal(take(`client ${i} ${long}`, 0).remaining, i);
  assert.throws(() => limiter.setPolicies(`${text},`), { code: 'syntax' });
  assert.throws(() => limiter.setPolicies(text.slice(0, -1)), { code: 'syntax' });
  assert.equal(take(`client 9 ${long}`, 0).remaining, 9);
  limiter.dispose();
});

test('case 64: every prefix of a document is an error, and never a trap', () => {
  const text =
    '\ufeff{ "default": {"capacity": 3.5e0, "refill": {"tokens": 1, "seconds": 13}},\r\n "tiers": {"é\\u00e9😀": ' +
    '{"capacity": -0, "refillPerSecond": true, "more": [null, "\\ud83d\\ude00", {}]}}, "clients": {"a\\n": "b"}}';
  const { limiter, take } = clocked({ default: good });
  for (let length = 0; length < text.length; length += 1) {
    const error = thrown(() => limiter.setPolicies(text.slice(0, length)));
    assert.ok(error instanceof PolicyError, `at ${length}: ${error}`);
    assert.match(error.code, /^(syntax|lone-surrogate)$/);
    assert.ok(error.line >= 1 && error.column >= 1);
  }
  assert.equal(take('c', 0).remaining, 2);
  assert.equal(limiter.setPolicies(text).revision, 2);
  assert.equal(take('c', 0).remaining, 1);
});

test('case 65: one byte order mark at the start and CRLF are accepted; a mark elsewhere is refused', () => {
  const text = JSON.stringify({ default: good }, null, 2).replaceAll('\n', '\r\n');
  const { limiter } = clocked(`\ufeff${text}`);
  assert.equal(limiter.peek('c').limit, 3);
  for (const marked of [`\ufeff\ufeff${text}`, text.replace('{', '{\ufeff'), `${text}\ufeff`]) {
    assert.throws(() => limiter.setPolicies(marked), { code: 'syntax' });
  }
  const { line, column } = thrown(() => limiter.setPolicies(`\ufeff\ufeff${text}`));
  assert.deepEqual([line, column], [1, 1]);
});

test('case 65: a trailing comma and a comment are errors with their place; the old policies stay', () => {
  const { limiter, take } = clocked({ default: good });
  take('c', 0);
  const cases = [
    ['{\n  "default": {\n    "capacity": 9,\n    "refillPerSecond": 1,\n  }\n}', 5, 3],
    ['{\r\n  "default": { "capacity": 9, "refillPerSecond": 1 },\r\n}', 3, 1],
    ['{\n  // nine\n  "default": { "capacity": 9, "refillPerSecond": 1 }\n}', 2, 3],
    ['{ "default": /* nine */ { "capacity": 9, "refillPerSecond": 1 } }', 1, 14],
    ['{ "😀": 1, # nine\n}', 1, 12],
  ];
  for (const [text, line, column] of cases) {
    const error = thrown(() => limiter.setPolicies(text));
    assert.ok(error instanceof PolicyError);
    assert.deepEqual([error.code, error.line, error.column], ['syntax', line, column], text);
    assert.match(error.message, new RegExp(`line ${line}, column ${column}`));
    const { limit, remaining } = limiter.peek('c');
    assert.deepEqual([limit, remaining, limiter.revision], [3, 2, 1]);
  }
});

test('case 66: numbers are kept exactly, or refused', () => {
  const { limiter, take } = clocked({ default: good });
  const capacity = (number) => `{"default":{"capacity":${number},"refillPerSecond":0}}`;

  limiter.setPolicies(capacity('4294967297'));
  assert.equal(take('a', 0, 4294967297).remaining, 0);
  assert.equal(take('b', 0, 4294967296).remaining, 1);
  assert.equal(take('c', 0, 4294967298).reason, 'cost-exceeds-capacity');

  // As a double it would be 9007199254740992.
  limiter.setPolicies(capacity('9007199254740993'));
  assert.equal(take('d', 0, Number.MAX_SAFE_INTEGER).remaining, 2);
  assert.deepEqual([take('d', 0, 2).allowed, take('d', 0).allowed], [true, false]);

  for (const thousand of ['1000', '1e3', '1000.0', '1E+3', '0.1e4', '1000000e-3']) {
    limiter.setPolicies(capacity(thousand));
    assert.equal(limiter.peek('new').limit, 1000);
    assert.equal(limiter.peek('new', { cost: 1000 }).allowed, true);
    assert.equal(limiter.peek('new', { cost: 1001 }).allowed, false);
  }
  limiter.setPolicies(capacity('1.5'));
  assert.equal(limiter.peek('new').limit, 1.5);
  limiter.setPolicies('{"default":{"capacity":1,"refillPerSecond":-0}}');
  assert.equal(take('new', 0).resetMs, null);

  const refused = [
    ['1e400', 'number-out-of-range'],
    ['-1e400', 'number-out-of-range'],
    ['-1', 'invalid-value'],
    ['-0', 'invalid-value'],
    ['0', 'invalid-value'],
    ['0.999999999999999999999999', 'invalid-value'],
    ['1e300', 'not-representable'],
    ['"10"', 'wrong-type'],
    ['"1e3"', 'wrong-type'],
    ['null', 'wrong-type'],
    ['true', 'wrong-type'],
    ['[10]', 'wrong-type'],
    ['{}', 'wrong-type'],
    ['0x10', 'syntax'],
    ['010', 'syntax'],
    ['+1', 'syntax'],
    ['1.', 'syntax'],
    ['.5', 'syntax'],
    ['1e', 'syntax'],
    ['1_000', 'syntax'],
    ['10n', 'syntax'],
    ['NaN', 'syntax'],
    ['Infinity', 'syntax'],
  ];
  for (const [number, code] of refused) {
    assert.throws(
      () => limiter.setPolicies(capacity(number)),
      { name: 'PolicyError', code },
      number,
    );
  }
});

test('case 68: no capacity that is 0, negative or missing is taken for unlimited', () => {
  const wrong = [
    [{ capacity: 0, refillPerSecond: 1 }, 'invalid-value'],
    [{ capacity: -5, refillPerSecond: 1 }, 'invalid-value'],
    [{ refillPerSecond: 1 }, 'missing-member'],
    [{ capcity: 5, refillPerSecond: 1 }, 'unknown-member'],
    [{ capacity: 5, refillPerSeconds: 1 }, 'unknown-member'],
    [{ capacity: 5, refillPerSecond: 1, burst: 9 }, 'unknown-member'],
    [{ capacity: 5, refill: { tokens: 5, second: 1 } }, 'unknown-member'],
    [{ capacity: 5 }, 'missing-member'],
    [{ capacity: 5, refillPerSecond: -1 }, 'invalid-value'],
    [{}, 'missing-member'],
    [null, 'wrong-type'],
  ];
  for (const [policy, code] of wrong) {
    assert.equal(refusal({ default: policy }).code, code);

    const { limiter, take } = clocked({ default: only(2, 0).default, tiers: { t: policy } });
    assert.equal(limiter.rejected[0].code, code);
    assert.ok(limiter.rejected.every(({ path }) => path.startsWith('/tiers/t')));
    const decisions = Array.from({ length: 5 }, () => take('c', 0, 1, 't'));
    assert.equal(decisions.filter(({ allowed }) => allowed).length, 2);
    assert.ok(decisions.every(({ fallback }) => fallback === 'invalid-tier-policy'));
  }
});

for (const { name, text, strict, errors = [], rejected = [], warnings = [] } of vectors) {
  test(`vector: ${name}`, () => {
    const facts = (problems) =>
      problems.map(({ code, path, line, column }) => ({ code, path, line, column }));
    if (errors.length > 0) {
      assert.deepEqual(facts(refusal(text, { strict }).problems), errors);
      return;
    }
    const limiter = new TierLimiter({ policies: text, strict });
    assert.deepEqual(facts(limiter.rejected), rejected);
    assert.deepEqual(facts(limiter.warnings), warnings);
    limiter.dispose();
  });
}
