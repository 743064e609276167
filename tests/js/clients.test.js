// Who is the client: by header, key, claim and functions of one's own, and by several of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import {
  address,
  apiKey,
  claim,
  cloudflare,
  every,
  firstOf,
  header,
  named,
  path,
} from 'tierlimit/clients';

import { Random } from '../model/random.js';
import { notStrings, only, thrown } from './support/limiter.js';
import { clientOf, source } from './support/source.js';

const inherited = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', 'then'];

// ---- Headers and keys --------------------------------------------------------------------------------------------------

test('header: its value, with its name', () => {
  assert.equal(clientOf(header('x-tenant'), null, { 'X-Tenant': 'acme' }), 'header:x-tenant:acme');
  assert.equal(
    clientOf(header('X-Tenant'), null, { 'x-tenant': ' a:b c ' }),
    'header:x-tenant:a:b c',
  );
  for (const fields of [{}, { 'x-tenant': '' }, { 'x-tenant': '  ' }, { 'x-tenants': 'acme' }]) {
    assert.equal(clientOf(header('x-tenant'), '192.0.2.1', fields), null);
  }
  const both = { 'x-a': 'same', 'x-b': 'same' };
  assert.notEqual(clientOf(header('x-a'), null, both), clientOf(header('x-b'), null, both));
  for (const value of ['', 'a b', 'a:b', 'é', 'a\n', 7, null, undefined]) {
    const error = thrown(() => header(value));
    assert.ok(error instanceof TypeError);
    assert.match(error.message, /^name must be the name of a header field; got /);
  }
});

test('apiKey: its value, from the field that is asked for', () => {
  assert.equal(clientOf(apiKey(), null, { 'X-API-Key': 'k-1' }), 'key:k-1');
  assert.equal(clientOf(apiKey({ header: 'Api-Key' }), null, { 'api-key': 'k-1' }), 'key:k-1');
  assert.equal(clientOf(apiKey(), null, { 'x-api-key': 'k:|%\xff' }), 'key:k:|%\xff');
  const long = 'k'.repeat(1e5);
  assert.equal(clientOf(apiKey(), null, { 'x-api-key': long }), `key:${long}`);
  for (const fields of [{}, { 'x-api-key': '' }, { 'x-api-key': ' \t ' }, { 'api-key': 'k-1' }]) {
    assert.equal(clientOf(apiKey(), '192.0.2.1', fields), null);
  }
});

test('apiKey: what stands after a scheme', () => {
  const by = apiKey({ header: 'authorization', scheme: 'Bearer' });
  const sent = (/** @type {string} */ value) => clientOf(by, null, { authorization: value });
  for (const value of ['Bearer k-1', 'bearer k-1', 'BEARER   k-1 ']) {
    assert.equal(sent(value), 'key:k-1', value);
  }
  for (const value of [
    '',
    'k-1',
    'Bearer',
    'Bearer ',
    'Bearerk-1',
    'Basic k-1',
    'Digest k-1',
    'Bearers k-1',
  ]) {
    assert.equal(sent(value), null, value);
  }
});

test('apiKey: keys that are not known are nobody', () => {
  const keys = new Set(['k-1']);
  const by = apiKey({ isKnown: (key) => keys.has(key) });
  assert.equal(clientOf(by, null, { 'x-api-key': 'k-1' }), 'key:k-1');
  assert.equal(clientOf(by, null, { 'x-api-key': 'k-2' }), null);
  assert.equal(clientOf(by, null), null);
  // Whoever makes keys up is one client all the same.
  const limiter = new TierLimiter({ policies: only(3, 0), now: () => 0 });
  const either = firstOf(by, address());
  const admitted = [1, 2, 3, 4, 5].map((n) =>
    limiter.allow(clientOf(either, '192.0.2.1', { 'x-api-key': `made-up-${n}` })),
  );
  assert.deepEqual(admitted, [true, true, true, false, false]);
});

test('apiKey: a promise does not make a key known', () => {
  for (const [value, shown] of [
    [Promise.resolve(false), 'a Promise'],
    [undefined, 'undefined'],
    [null, 'null'],
    [1, '1'],
    ['false', '"false"'],
  ]) {
    const by = apiKey({ isKnown: () => value });
    const error = thrown(() => clientOf(by, null, { 'x-api-key': 'k-1' }));
    assert.ok(error instanceof TypeError);
    assert.equal(error.message, `what isKnown returns must be a boolean; got ${shown}`);
  }
});

test('apiKey: options that are not as they should be are refused', () => {
  for (const [options, message] of [
    [{ name: 'x' }, 'there is no option "name"'],
    [{ header: 'x y' }, 'header must be the name of a header field; got "x y"'],
    [{ scheme: '' }, 'scheme must be a word such as "Bearer"; got ""'],
    [{ scheme: 'Bearer ' }, 'scheme must be a word such as "Bearer"; got "Bearer "'],
    [{ scheme: null }, 'scheme must be a word such as "Bearer"; got null'],
    [
      { isKnown: new Set() },
      'isKnown must be a function that returns whether there is such a key; got a Set',
    ],
  ]) {
    const error = thrown(() => apiKey(options));
    assert.ok(error instanceof TypeError);
    assert.equal(error.message, message);
  }
});

// ---- Claims ------------------------------------------------------------------------------------------------------------

/** @param {unknown} payload @param {string} [name] */
const claimed = (payload, name) => claim(() => payload, name)(null, source(null));

test('claim: of a payload, with its name', () => {
  assert.equal(claimed({ sub: 'ada' }), 'claim:sub:ada');
  assert.equal(claimed({ sub: 'ada', org: 'acme' }, 'org'), 'claim:org:acme');
  assert.equal(claimed({ sub: 'a:b|c%' }), 'claim:sub:a:b|c%');
  assert.equal(claimed(Object.assign(Object.create(null), { sub: 'ada' })), 'claim:sub:ada');
  const request = { auth: { sub: 'ada' } };
  assert.equal(claim((it) => it.auth)(request, source(null)), 'claim:sub:ada');
  const byUrl = claim((_, { url }) => ({ sub: url }));
  assert.equal(clientOf(byUrl, null, {}, '/x'), 'claim:sub:/x');
});

test('claim: a number is told from the text of its digits', () => {
  assert.equal(claimed({ sub: 42 }), 'claim-number:sub:42');
  assert.equal(claimed({ sub: '42' }), 'claim:sub:42');
  assert.equal(claimed({ sub: 0 }), 'claim-number:sub:0');
  assert.equal(claimed({ sub: -0 }), 'claim-number:sub:0');
  assert.equal(claimed({ sub: -7 }), 'claim-number:sub:-7');
  assert.equal(claimed({ sub: 2 ** 53 - 1 }), 'claim-number:sub:9007199254740991');
});

test('claim: what is neither text nor a whole number is no claim', () => {
  // Of the larger ones several would be one.
  const values = [
    '',
    null,
    undefined,
    true,
    1.5,
    NaN,
    Infinity,
    2 ** 53,
    2 ** 70,
    5n,
    [],
    ['ada'],
    {},
  ];
  for (const sub of values) assert.equal(claimed({ sub }), null, String(sub));
  for (const payload of [null, undefined, {}, { SUB: 'ada' }, []]) {
    assert.equal(claimed(payload), null);
  }
});

test('case 40: claim: what every object has is nobody’s claim', () => {
  for (const name of inherited) {
    assert.equal(claimed({}, name), null, name);
    assert.equal(claimed(JSON.parse(`{"${name}":"ada"}`), name), `claim:${name}:ada`);
  }
  assert.equal(claimed(Object.create({ sub: 'ada' })), null);
});

test('claim: a name and a value that hold colons are not taken for others', () => {
  const first = claimed({ a: 'b:c' }, 'a');
  const second = claimed({ 'a:b': 'c' }, 'a:b');
  assert.notEqual(first, second);
  assert.equal(
    claimed({ 'https://example.com/t': 'x' }, 'https://example.com/t'),
    'claim:https%3A//example.com/t:x',
  );
  assert.notEqual(claimed({ 'a%3Ab': 'c' }, 'a%3Ab'), second);
});

test('claim: a token that was not verified, or not yet, is an error and not nobody', () => {
  for (const [payload, shown] of [
    ['eyJhbGciOiJub25lIn0.e30.', '"eyJhbGciOiJub25lIn0.e30."'],
    ['', '""'],
    [false, 'false'],
    [5, '5'],
    [Promise.resolve({ sub: 'ada' }), 'a Promise'],
    [() => ({ sub: 'ada' }), 'a Function'],
  ]) {
    const error = thrown(() => claimed(payload));
    assert.ok(error instanceof TypeError);
    const message = `what getPayload returns must be a verified payload or null, at once; got ${shown}`;
    assert.equal(error.message, message);
  }
  for (const [args, message] of [
    [[], 'getPayload must be a function that returns a verified payload or null; got undefined'],
    [[{}], 'getPayload must be a function that returns a verified payload or null; got an Object'],
    [[() => null, ''], 'name must be the name of a claim; got ""'],
    [[() => null, null], 'name must be the name of a claim; got null'],
  ]) {
    assert.equal(thrown(() => claim(...args)).message, message);
  }
});

// ---- Functions of one's own --------------------------------------------------------------------------------------------

test('named: what a function finds, by its kind', () => {
  const by = named('user', (request) => request?.user);
  assert.equal(by({ user: 'ada' }, source(null)), 'user:ada');
  assert.equal(by.kind, 'user');
  for (const request of [null, {}, { user: null }, { user: '' }]) {
    assert.equal(by(request, source(null)), null);
  }
  const method = named('method', (_, about) => about.method);
  assert.equal(clientOf(method, null), 'method:GET');
  for (const [value, shown] of notStrings) {
    if (value === undefined || value === null) continue;
    const error = thrown(() => by({ user: value }, source(null)));
    assert.ok(error instanceof TypeError);
    assert.equal(
      error.message,
      `what finds a user must be a string or null, at once; got ${shown}`,
    );
  }
});

test('named: a kind that is taken, or none, is refused', () => {
  const kinds = ['ip', 'key', 'header', 'claim', 'claim-number', 'path', 'every'];
  for (const kind of [
    ...kinds,
    '',
    'User',
    '1a',
    '-',
    'a:b',
    'a b',
    'é',
    'a\n',
    7,
    null,
    undefined,
  ]) {
    const error = thrown(() => named(kind, () => 'x'));
    assert.ok(error instanceof TypeError);
    assert.match(error.message, /^kind must be a lower-case letter, .* and not claim, .*; got /);
  }
  for (const kind of ['a', 'user', 'user-2', 'x-', 'ips']) {
    assert.equal(
      clientOf(
        named(kind, () => 'x'),
        null,
      ),
      `${kind}:x`,
    );
  }
  const error = thrown(() => named('user', 'ada'));
  assert.equal(error.message, 'find must be a function that returns a string or null; got "ada"');
});

// ---- Several -----------------------------------------------------------------------------------------------------------

test('firstOf: the first that is found', () => {
  const by = firstOf(
    claim((request) => request?.auth),
    apiKey(),
    address(),
  );
  const key = { 'x-api-key': 'k-1' };
  assert.equal(by({ auth: { sub: 'ada' } }, source('192.0.2.1', key)), 'claim:sub:ada');
  assert.equal(clientOf(by, '192.0.2.1', key), 'key:k-1');
  assert.equal(clientOf(by, '192.0.2.1'), 'ip:192.0.2.1');
  assert.equal(clientOf(by, null), null);
});

test('every: all of them, or nobody', () => {
  const by = every(address(), path());
  assert.equal(clientOf(by, '192.0.2.1', {}, '/Login'), 'every:ip:192.0.2.1|path:/login');
  assert.equal(clientOf(by, null, {}, '/login'), null);
  assert.equal(clientOf(every(path(), address()), null), null);
  assert.equal(
    clientOf(every(path(), header('x')), null, { x: 'a|b%c' }),
    'every:path:/|header:x:a%7Cb%25c',
  );
  assert.equal(clientOf(every(path()), null), 'every:path:/');
});

test('case 44: without any address there is nobody, and no name for nobody', () => {
  for (const by of [
    ...[address(), address({ hops: 1 }), address({ trusted: ['loopback'] }), cloudflare()],
    ...[header('x'), apiKey(), claim(() => null), named('user', () => null)],
    ...[firstOf(apiKey(), address()), every(path(), address()), firstOf(every(address(), path()))],
  ]) {
    assert.equal(clientOf(by, null), null);
  }
});

test('case 40: names that every object has are clients like others', () => {
  const limiter = new TierLimiter({ policies: only(2, 0), now: () => 0 });
  for (const name of inherited) {
    const ways = [
      clientOf(header('x'), null, { x: name }),
      clientOf(apiKey(), null, { 'x-api-key': name }),
      claimed({ sub: name }),
      clientOf(
        named('user', () => name),
        null,
      ),
      clientOf(path(), null, {}, `/${name}`),
      clientOf(every(header('x'), path()), null, { x: name }, `/${name}`),
    ];
    assert.equal(new Set(ways).size, ways.length);
    for (const client of ways) {
      const admitted = [1, 2, 3].map(() => limiter.allow(client));
      assert.deepEqual(admitted, [true, true, false], client);
    }
    assert.equal(thrown(() => apiKey({ [name]: 1 })).message, `there is no option "${name}"`);
  }
});

test('case 41: parts that could be joined otherwise, and kinds, are kept apart', () => {
  const limiter = new TierLimiter({ policies: only(1, 0), now: () => 0 });
  const pair = (/** @type {string} */ a, /** @type {string} */ b) =>
    clientOf(
      every(
        named('route', () => a),
        named('user', () => b),
      ),
      null,
    );
  const clients = [
    pair('a', 'b:c'),
    pair('a:b', 'c'),
    pair('a|user:b', 'c'),
    pair('a', 'b|user:c'),
    pair('a%7Cuser:b', 'c'),
    pair('a', 'b%7Cuser:c'),
    clientOf(
      named('user', () => '192.0.2.1'),
      null,
    ),
    clientOf(address(), '192.0.2.1'),
    clientOf(apiKey(), null, { 'x-api-key': '192.0.2.1' }),
    claimed({ sub: '192.0.2.1' }),
    clientOf(every(address()), '192.0.2.1'),
    // Two rules with the same numbers, on two routes.
    clientOf(every(path(), address()), '192.0.2.1', {}, '/a'),
    clientOf(every(path(), address()), '192.0.2.1', {}, '/b'),
  ];
  assert.equal(new Set(clients).size, clients.length);
  for (const client of clients) assert.equal(limiter.allow(client), true, client);
  for (const client of clients) assert.equal(limiter.allow(client), false, client);
});

test('every: no two lists of parts have one name, however they are nested', () => {
  const random = new Random(41);
  const pieces = ['a', 'a', '|', '|user:a', '|route:a', '%', '%7C', '%25', '7C', '25'];
  /** @returns {[object, ReturnType<typeof every>]} what it is made of, and it */
  function made(/** @type {number} */ depth) {
    if (depth === 0 || random.chance(0.6)) {
      const kind = random.pick(['user', 'route']);
      const value = Array.from({ length: random.whole(1, 4) }, () => random.pick(pieces)).join('');
      return [[kind, value], named(kind, () => value)];
    }
    const parts = Array.from({ length: random.whole(1, 3) }, () => made(depth - 1));
    return [{ parts: parts.map(([what]) => what) }, every(...parts.map(([, extract]) => extract))];
  }
  /** @type {Map<string, string>} */
  const seen = new Map();
  for (let i = 0; i < 20_000; i += 1) {
    const [what, extract] = made(3);
    const name = clientOf(extract, null);
    const text = JSON.stringify(what);
    assert.equal(seen.get(name) ?? text, text, name);
    seen.set(name, text);
  }
  assert.ok(seen.size > 5000, String(seen.size));
});

test('firstOf and every: what is not of this entry is refused, with what to do', () => {
  for (const make of [firstOf, every]) {
    for (const [value, shown] of [
      [() => 'ada', 'a Function'],
      [{ kind: 'user' }, 'an Object'],
      ['ip', '"ip"'],
      [null, 'null'],
      [address, 'a Function'],
    ]) {
      const error = thrown(() => make(address(), value));
      assert.ok(error instanceof TypeError);
      assert.equal(
        error.message,
        "extractors[1] must be made by tierlimit/clients, a function of your own by named('its-kind', function); " +
          `got ${shown}`,
      );
    }
    assert.match(thrown(() => make()).message, /^extractors must be at least one; got /);
    assert.match(
      thrown(() => make([address()])).message,
      /^extractors\[0\] must be .*; got an Array$/,
    );
  }
});

test('the kinds of what is made here', () => {
  const kinds = [
    ...[address(), address({ hops: 1 }), cloudflare(), apiKey(), header('x'), claim(() => null)],
    ...[path(), named('user', () => 'x'), firstOf(path()), every(path())],
  ].map(({ kind }) => kind);
  assert.deepEqual(kinds, [
    ...['ip', 'ip', 'ip', 'key', 'header', 'claim'],
    ...['path', 'user', 'first-of', 'every'],
  ]);
});
