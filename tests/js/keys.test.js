// Names of clients and tiers: any string is one, and two different strings are two.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PolicyError } from 'tierlimit';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { clocked, only, thrown } from './support/limiter.js';

const inherited = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', 'then', ''];

/** Characters at the ends of what UTF-8 writes in one, two, three and four bytes, and halves of pairs. */
const characters = [
  '\0',
  'a',
  '\x7f',
  '\x80',
  'é',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ud800',
  '\udbff',
  '\udc00',
  '\udfff',
  '\ue000',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '𐀀',
  '\u{10ffff}',
];

/** All strings of up to three of the characters: some are the same, a pair being made of its halves. */
const short = new Set(['']);
for (const a of characters) {
  short.add(a);
  for (const b of characters) {
    short.add(a + b);
    for (const c of characters) short.add(a + b + c);
  }
}

/** A name with one of its units replaced. */
const replaced = (name, at, unit) => name.slice(0, at) + unit + name.slice(at + 1);

/** A name as a message shows it. */
const shown = (name) =>
  name.length < 100
    ? JSON.stringify(name)
    : `${name.length} units: ${JSON.stringify(name.slice(0, 9))}…${JSON.stringify(name.slice(-9))}`;

/** That each name has one token of its own. */
function assertApart(names) {
  const { limiter } = clocked(only(1, 0));
  for (const name of names) assert.equal(limiter.allow(name), true, shown(name));
  for (const name of names) assert.equal(limiter.allow(name), false, shown(name));
  assert.equal(limiter.stats().buckets, names.size);
  limiter.dispose();
}

test('case 40: names that objects inherit are clients like any other', () => {
  const { limiter, take } = clocked({
    ...only(3, 0),
    tiers: { pro: { capacity: 5, refillPerSecond: 0 } },
  });
  for (const name of inherited) {
    assert.deepEqual([take(name, 0).remaining, take(name, 0).remaining], [2, 1]);
    assert.equal(take(name, 0).fallback, 'no-tier');
  }
  for (const name of inherited) {
    limiter.setTier(name, 'pro');
    assert.equal(limiter.peek(name).tier, 'pro');
  }
  assert.equal(limiter.stats().assignments, inherited.length);
  assert.equal({}.x, undefined);
});

test('case 40: names that objects inherit are tiers like any other', () => {
  const { limiter } = clocked(only(3, 0));
  for (const tier of inherited) {
    assert.deepEqual(pick(limiter.peek('c', { tier })), [3, tier, 'unknown-tier']);
  }
  const tiers = inherited.map(
    (name) => `${JSON.stringify(name)}:{"capacity":7,"refillPerSecond":0}`,
  );
  const clients = inherited.map((name) => `${JSON.stringify(name)}:${JSON.stringify(name)}`);
  limiter.setPolicies(
    `{"default":{"capacity":3,"refillPerSecond":0},"tiers":{${tiers}},"clients":{${clients}}}`,
  );
  assert.deepEqual(limiter.rejected, []);
  for (const name of inherited) {
    assert.deepEqual(pick(limiter.peek(name)), [7, name, null]);
    assert.deepEqual(pick(limiter.peek('c', { tier: name })), [7, name, null]);
  }
  limiter.setPolicies(
    JSON.parse(`{"default":{"capacity":3,"refillPerSecond":0},"tiers":{${tiers}}}`),
  );
  for (const tier of inherited)
    assert.deepEqual(pick(limiter.peek('c', { tier })), [7, tier, null]);
});

test('case 40: a member that an object inherits is an unknown member', () => {
  const { limiter } = clocked(only(3, 0));
  for (const name of inherited) {
    const member = `${JSON.stringify(name)}:{"capacity":9}`;
    const inDocument = `{"default":{"capacity":3,"refillPerSecond":0},${member}}`;
    const inDefault = `{"default":{"capacity":3,"refillPerSecond":0,${member}}}`;
    for (const [text, path] of [
      [inDocument, `/${name}`],
      [inDefault, `/default/${name}`],
    ]) {
      for (const policies of [text, JSON.parse(text)]) {
        const error = thrown(() => limiter.setPolicies(policies));
        assert.ok(error instanceof PolicyError);
        assert.deepEqual([error.code, error.path], ['unknown-member', path]);
      }
    }
  }
  assert.equal({}.capacity, undefined);
  assert.equal(limiter.peek('c').limit, 3);
});

/** What a decision says of its tier. */
const pick = ({ limit, tier, fallback }) => [limit, tier, fallback];

test('different strings are different clients: every short one', () => {
  assert.ok(short.size > 5000);
  assertApart(short);
});

test('different strings are different clients: long ones at random', () => {
  const random = new Random(5);
  const names = new Set();
  for (let i = 0; i < 3000; i += 1) {
    let name = '';
    for (let length = random.whole(1, 120); length > 0; length -= 1) {
      const unit = random.pick([0x80, 0x800, 0x10000]);
      name += random.chance(0.2)
        ? random.pick(characters)
        : String.fromCharCode(random.whole(random.pick([0, 0xd7f0]), unit - 1) % 0x10000);
    }
    names.add(name);
    // And its neighbours: one unit changed, one more, one less.
    const at = random.whole(0, name.length - 1);
    names.add(
      name.slice(0, at) + String.fromCharCode(name.charCodeAt(at) ^ 1) + name.slice(at + 1),
    );
    names.add(name.slice(0, -1));
    names.add(`${name}\0`);
  }
  assertApart(names);
});

test('different strings are different clients: every code unit, at every place of a short name', () => {
  const units = Array.from({ length: 2 ** 16 }, (_, unit) => String.fromCharCode(unit));
  for (const length of [1, 24, 48, 49]) {
    const places = length === 49 ? [0, 23, 24, 48] : Array.from({ length }, (_, i) => i);
    for (const at of places) {
      const { limiter } = clocked(only(1, 0));
      const name = 'the first that come to mind, and the last of them'.slice(0, length);
      for (const unit of units) limiter.allow(replaced(name, at, unit));
      // Two that were one would have been one bucket.
      const { buckets, allowed } = limiter.stats();
      assert.deepEqual([buckets, allowed], [units.length, units.length], `${at} of ${length}`);
      limiter.dispose();
    }
  }
});

test('different strings are different clients: pairs, halves and the ends of encodings, at every place', () => {
  for (const lengths of [Array.from({ length: 52 }, (_, i) => i), [400, 4094, 4095, 4096, 4097]]) {
    const names = new Set();
    for (const length of lengths) {
      const name = 'the same letters again and again '.repeat(125).slice(0, length);
      assert.equal(name.length, length);
      names.add(name);
      for (let at = 0; at < length; at += at > 40 && at < length - 40 ? 97 : 1) {
        for (const character of characters) names.add(replaced(name, at, character));
        for (const pair of ['\ud800\udc00', '\udc00\ud800', '\udbff\udfff', '\ud800\ud800', 'éé']) {
          names.add(name.slice(0, at) + pair + name.slice(at + 2));
        }
      }
    }
    assertApart(names);
  }
});

test('different strings are different clients: units that look like ASCII where only a part of them is seen', () => {
  const names = new Set();
  // Other bits of a unit, its bytes the other way round, and both halves the same; and likewise two units in one.
  const alike = (unit) => [
    unit | 0x80,
    unit | 0x100,
    unit | 0x200,
    unit | 0x8000,
    unit | 0xff00,
    unit << 8,
    (unit << 8) | unit,
    (unit << 8) | 0x80,
  ];
  const letters = 'client-0123456789 /~\0.,:;?!()\x7fabcdefghij-ABCDEFGHIJ{}';
  for (let length = 1; length <= letters.length; length += 1) {
    for (const name of ['a'.repeat(length), letters.slice(0, length)]) {
      names.add(name);
      names.add(
        [...name].map((letter) => String.fromCharCode(letter.charCodeAt(0) | 0x80)).join(''),
      );
      names.add(
        [...name].map((letter) => String.fromCharCode(letter.charCodeAt(0) | 0x100)).join(''),
      );
      for (let at = 0; at < length; at += 1) {
        for (const unit of alike(name.charCodeAt(at))) {
          names.add(replaced(name, at, String.fromCharCode(unit)));
        }
        const next = String.fromCharCode((name.charCodeAt(at) << 8) | name.charCodeAt(at + 1));
        names.add(name.slice(0, at) + next + name.slice(at + 2));
      }
    }
  }
  assert.ok(names.has('a\u0161') && names.has('aa') && names.size > 5000);
  assertApart(names);
});

test('different strings are different clients: with the same beginning, as long as what is read at a time', () => {
  const names = new Set();
  for (const unit of ['a', 'é', '\u0800', '😀', '\ud800']) {
    const bytes = { a: 1, é: 2, '😀': 4 }[unit] ?? 3;
    for (let i = 0; i < 2 * 16; i += 1) {
      const size = (i < 16 ? 4085 : 8170) + i;
      const head = unit.repeat(Math.floor(size / bytes)) + 'x'.repeat(size % bytes);
      for (const tail of ['', 'a', 'b', 'é', 'è', '\ud800', '\0', '😀', '😁']) {
        names.add(head + tail);
        names.add(head.slice(1) + tail);
        // Of as many units as the bytes that there is room for.
        const rest = 4096 - head.length;
        if (rest > tail.length) names.add(head + '-'.repeat(rest - tail.length) + tail);
      }
    }
  }
  assertApart(names);
});

test('where there is no TextEncoder, names are the same clients', async () => {
  const script = `
    import { TierLimiter } from 'tierlimit';
    const limiter = new TierLimiter({ policies: ${JSON.stringify(only(1, 0))}, now: () => 0 });
    for (const length of [1, 24, 25, 48, 49, 4095, 4096, 4097]) {
      for (const unit of ['x', 'é', '😀', '\\ud800']) {
        const name = unit.repeat(length);
        limiter.setTier(name, name);
        console.log(limiter.allow(name), limiter.allow(name), limiter.peek(name).tier === name);
      }
    }`;
  for (const without of ['', 'delete globalThis.TextEncoder;']) {
    const { stdout, stderr } = await runScript(without + script);
    assert.equal(stderr, '');
    assert.equal(stdout, 'true false true\n'.repeat(32));
  }
});

test('what looks the same but is written otherwise is another client', () => {
  assertApart(
    new Set([
      'é',
      'e\u0301',
      'É',
      'acme',
      'ACME',
      ' acme',
      'acme ',
      'acme\0',
      'аcme',
      '\ufeffacme',
    ]),
  );
  assertApart(new Set(['%61', 'a', '\ufffd', '\ud800', '\udc00', '\ud800\ud800', '\udc00\ud800']));
});

test('a client is its string, however that came about', () => {
  const { limiter } = clocked(only(10, 0));
  const pieces = ['client', '-', '12', '34', '-é😀'];
  const spellings = [
    'client-1234-é😀',
    pieces.join(''),
    pieces.reduce((text, piece) => text + piece, ''),
    'xclient-1234-é😀x'.slice(1, -1),
    decodeURIComponent(encodeURIComponent('client-1234-é😀')),
    String.raw`client-1234-é😀`,
    'client-1234-é\ud83d' + '\ude00',
  ];
  for (const [index, name] of spellings.entries()) {
    assert.equal(limiter.check(name).remaining, 9 - index);
  }
});

test('setTier and the document mean the same client as a decision does, for every short name', () => {
  const { limiter } = clocked(only(3, 0));
  for (const name of short) limiter.setTier(name, `tier of ${name}`);
  for (const name of short) assert.equal(limiter.peek(name).tier, `tier of ${name}`);
  assert.equal(limiter.stats().assignments, short.size);
  for (const name of short) limiter.setTier(name, null);
  assert.equal(limiter.stats().assignments, 0);

  const names = [...short].filter((name) => name.isWellFormed());
  const clients = Object.fromEntries(names.map((name) => [name, name]));
  const tiers = Object.fromEntries(
    names.map((name, i) => [name, { capacity: i + 1, refillPerSecond: 0 }]),
  );
  limiter.setPolicies({ ...only(3, 0), tiers, clients });
  for (const [index, name] of names.entries()) {
    for (const decision of [limiter.peek(name), limiter.peek('c', { tier: name })]) {
      assert.deepEqual([decision.limit, decision.tier], [index + 1, name]);
    }
  }
  limiter.dispose();
});

test('setTier means the same client as a decision does, whatever the length of the name', () => {
  const { limiter } = clocked(only(3, 0));
  const lengths = Array.from({ length: 60 }, (_, i) => i);
  for (let length = 4085; length <= 4105; length += 1) lengths.push(length, 2 * length);
  for (const length of lengths) {
    for (const unit of ['x', '\0', '\x7f', 'é', '\uffff', '\udc00']) {
      // That what is not ASCII is all of it, the last unit, or one in the midst.
      for (const name of [
        unit.repeat(length),
        `${'x'.repeat(length)}${unit}`,
        `${'x'.repeat(length >> 1)}${unit}${'x'.repeat(length >> 1)}`,
      ]) {
        limiter.setTier(name, name);
        assert.ok(limiter.peek(name).tier === name, shown(name));
        limiter.setTier(name, null);
        assert.ok(limiter.peek(name).tier === null, shown(name));
      }
    }
  }
  limiter.dispose();
});

test('a tier name that no document can have is unknown, and comes back as it was given', () => {
  const { limiter } = clocked({ ...only(3, 0), tiers: { '\ufffd': only(9, 0).default } });
  for (const tier of ['\ud800', 'a\udc00b', '\udc00\ud800']) {
    assert.deepEqual(pick(limiter.peek('c', { tier })), [3, tier, 'unknown-tier']);
    limiter.setTier('d', tier);
    assert.deepEqual(pick(limiter.peek('d')), [3, tier, 'unknown-tier']);
  }
});

test('names of a megabyte are names like any other', () => {
  for (const filler of ['x', 'é', '😀', '\ud800']) {
    const { limiter } = clocked(only(1, 0));
    const long = filler.repeat(1e6 / filler.length);
    const names = new Set(['short', long, `${long}a`, `${long}b`, `a${long}`, long.slice(1)]);
    for (const name of names) assert.equal(limiter.allow(name), true);
    for (const name of names) assert.equal(limiter.allow(name), false);
    limiter.setTier(long, long);
    assert.equal(limiter.peek(long).tier, long);
    assert.equal(limiter.peek('short', { tier: `${long}a` }).tier, `${long}a`);
    limiter.dispose();
  }
});

test('limiters that take turns do not mix up their names', () => {
  const names = ['c', 'client', 'ü', 'x'.repeat(5000), ''];
  const limiters = names.map((_, index) => clocked(only(index + 1, 0)).limiter);
  for (let round = 1; round <= 6; round += 1) {
    for (const [index, limiter] of limiters.entries()) {
      for (const name of names) assert.equal(limiter.allow(name), round <= index + 1);
    }
  }
});
