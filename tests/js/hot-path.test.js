// The plain exports and their buffers, as bindings/README.md documents them: without embind for a decision, without the
// wrapper at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createModule } from 'tierlimit/module';

import { instantiate } from '../../js/src/core.js';
import { HotPath } from '../../js/src/hot-path.js';
import { Random } from '../model/random.js';
import { clocked, only } from './support/limiter.js';
import { coreWithin } from './support/memory.js';

const module = createModule();
const encoder = new TextEncoder();

const asAssigned = -1;
const unknownTier = -2;
const fingerprintGiven = -1;
const textGiven = -2;
const longestInWords = 24;
const longestBegun = 48;
const bufferBytes = 4096;
const answerBytes = 728;
const reasons = ['ok', 'exhausted', 'cost-exceeds-capacity', 'never-refills', 'table-full'];
const fallbacks = [null, 'no-tier', 'unknown-tier', 'invalid-tier-policy'];

const questions = Object.fromEntries(
  ['check', 'peek', 'reserve', 'settle', 'refund', 'fingerprint', 'batch'].map((name, i) => [
    name,
    i,
  ]),
);

const status = {
  clock: -1,
  invalidTime: -2,
  invalidCost: -3,
  notSeeded: -4,
  noPolicies: -5,
  outOfMemory: -6,
};

/** Where pieces of a text go. */
const bufferOf = (on) => (on._tierlimit_answer() >>> 0) + answerBytes;

/** A limiter that is seeded, with the same secret as every other. */
function made(policies, { seeded = true, sweep = true, maxClients = 1e6, on = module } = {}) {
  const text = typeof policies === 'string' ? policies : JSON.stringify(policies);
  const limiter = new on.TierLimiter(text, maxClients, 1e8, false, false, sweep);
  if (seeded) limiter.seed(1, 2, 3, 4);
  return limiter;
}

/** A name's bytes: UTF-8, and three bytes of the same form for a surrogate that has no other half. */
function bytesOf(name) {
  if (name.isWellFormed()) return encoder.encode(name);
  return Uint8Array.from(
    [...name].flatMap((character) => {
      if (character.isWellFormed()) return [...encoder.encode(character)];
      const unit = character.charCodeAt(0);
      return [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)];
    }),
  );
}

/** Six words of bytes, with zeros behind the end. */
function wordsOf(bytes) {
  const view = new DataView(new ArrayBuffer(longestInWords));
  bytes.forEach((byte, i) => view.setUint8(i, byte));
  return [0, 4, 8, 12, 16, 20].map((at) => view.getUint32(at, true));
}

/** A client by its name of up to 24 bytes. */
function inWords(name) {
  const bytes = bytesOf(name);
  return [bytes.length, ...wordsOf(bytes)];
}

/** A client by its name of 25 to 48 bytes, the first of which are taken in now. */
function begun(limiter, name) {
  const bytes = bytesOf(name);
  const first = wordsOf(bytes.subarray(0, longestInWords));
  assert.equal(module._tierlimit_begin(limiter.handle(), ...first), undefined);
  return [bytes.length, ...wordsOf(bytes.subarray(longestInWords))];
}

const theText = [textGiven, 0, 0, 0, 0, 0, 0];

/**
 * A client by a text that is taken in now, of which each piece fills the buffer up to so many bytes.
 *
 * @param {object} limiter
 * @param {string | Uint8Array} name
 * @param {number} [filled]
 */
function asText(limiter, name, filled = bufferBytes, on = module) {
  const bytes = typeof name === 'string' ? bytesOf(name) : name;
  const buffer = bufferOf(on);
  let kept = 0;
  for (let at = 0, last = false; !last;) {
    const piece = bytes.subarray(at, at + filled - kept);
    const first = at === 0;
    at += piece.length;
    last = at === bytes.length;
    on.HEAPU8.set(piece, buffer + kept);
    kept = on._tierlimit_text(limiter.handle(), kept + piece.length, first ? 1 : 0, last ? 1 : 0);
    assert.ok(kept >= 0 && kept < 8 && (kept === 0 || !last));
  }
  return theText;
}

/** The fingerprint of a client. */
function fingerprintOf(limiter, client, on = module) {
  assert.equal(
    on._tierlimit_ask(questions.fingerprint, limiter.handle(), ...client, ...request()),
    0,
  );
  const view = new DataView(on.HEAPU8.buffer, on._tierlimit_answer() >>> 0);
  return [36, 40, 44].map((at) => view.getUint32(at, true));
}

/** A client by its fingerprint. */
const byFingerprint = (words) => [fingerprintGiven, ...words, 0, 0, 0];

/** The rest of a request. */
const request = ({ tier = asAssigned, cost = 1, nowMs = 0 } = {}) => [tier, cost, nowMs];

/** `_tierlimit_allow` for a client and a request. */
const allow = (limiter, client, asked = undefined, on = module) =>
  on._tierlimit_allow(limiter.handle(), ...client, ...request(asked));
/** `_tierlimit_ask`. */
const ask = (question, limiter, client, asked = undefined, on = module) =>
  on._tierlimit_ask(questions[question], limiter.handle(), ...client, ...request(asked));
const check = (limiter, client, asked = undefined) => ask('check', limiter, client, asked);
const peek = (limiter, client, asked = undefined) => ask('peek', limiter, client, asked);
const reserve = (limiter, client, asked = undefined) => ask('reserve', limiter, client, asked);
const settle = (limiter, client, asked = undefined) => ask('settle', limiter, client, asked);
const refund = (limiter, client, asked = undefined) => ask('refund', limiter, client, asked);
const allowKnown = (limiter, words, asked = undefined) =>
  allow(limiter, byFingerprint(words), asked);
const batch = (limiter, client, on = module) => ask('batch', limiter, client, undefined, on);

/** Judges the batch of so many clients: the results, or the status that says why there are none. */
function allowMany(limiter, count, asked = undefined, on = module) {
  const outcome = on._tierlimit_allow_many(limiter.handle(), ...request(asked));
  if (outcome < 0) return outcome;
  assert.equal(outcome, 0);
  const view = new DataView(on.HEAPU8.buffer);
  const results = view.getUint32((on._tierlimit_answer() >>> 0) + 48, true);
  return Array.from({ length: count }, (_, i) => view.getUint32(results + 12 * i, true));
}

/** The fields of the answer buffer that tell of a decision, those of a limit by the one that binds. */
function answer() {
  const view = new DataView(module.HEAPU8.buffer, module._tierlimit_answer() >>> 0);
  const at = 56 + 56 * view.getUint32(32, true);
  return {
    limit: view.getFloat64(at, true),
    remaining: view.getFloat64(at + 8, true),
    retryMs: view.getFloat64(at + 16, true),
    resetMs: view.getFloat64(at + 24, true),
    windowMs: view.getFloat64(at + 32, true),
    moreMs: view.getFloat64(at + 40, true),
    touchedMs: view.getFloat64(0, true),
    reason: reasons[view.getInt32(16, true)],
    fallback: fallbacks[view.getInt32(20, true)],
    tier: view.getInt32(24, true),
  };
}

/** Each way to say which client is meant. */
const ways = {
  words: (limiter, name) => inWords(name),
  text: (limiter, name) => asText(limiter, name),
  fingerprint: (limiter, name) => byFingerprint(fingerprintOf(limiter, inWords(name))),
};

// ---- Decisions -----------------------------------------------------------------------------------------------------

for (const [way, client] of Object.entries(ways)) {
  test(`allow tells admitted from denied: a client by ${way}`, () => {
    const limiter = made(only(2, 1));
    const at = (nowMs, cost = 1) => allow(limiter, client(limiter, 'c'), { cost, nowMs });
    assert.deepEqual([at(0), at(0), at(0), at(1000)], [1, 1, 0, 1]);
    assert.equal(at(1e6, 3), 0);
    assert.equal(limiter.stats().buckets, 1);
    limiter.delete();
  });

  test(`check and peek leave the answer in the buffer: a client by ${way}`, () => {
    const limiter = made({
      ...only(2.5, 0.5),
      tiers: { pro: { capacity: 4, refillPerSecond: 0 } },
    });
    const named = (name) => client(limiter, name);
    assert.equal(check(limiter, named('c'), { cost: 2 }), 1);
    const { touchedMs, ...admitted } = answer();
    assert.equal(typeof touchedMs, 'number');
    assert.deepEqual(admitted, {
      limit: 2.5,
      remaining: 0,
      retryMs: 0,
      resetMs: 4000,
      windowMs: 5000,
      moreMs: 1000,
      reason: 'ok',
      fallback: 'no-tier',
      tier: -1,
    });
    assert.equal(peek(limiter, named('c'), { nowMs: 500 }), 0);
    assert.deepEqual(
      [answer().remaining, answer().retryMs, answer().reason],
      [0, 500, 'exhausted'],
    );
    assert.equal(peek(limiter, named('new'), { cost: 2, nowMs: 500 }), 1);
    assert.deepEqual([answer().remaining, answer().retryMs, answer().resetMs], [2, 0, 0]);

    const pro = limiter.tier('pro');
    assert.equal(check(limiter, named('d'), { tier: pro, cost: 4 }), 1);
    assert.deepEqual([answer().limit, answer().tier, answer().fallback], [4, pro, null]);
    // -1 stands for never.
    const { retryMs, resetMs, windowMs, moreMs } = answer();
    assert.deepEqual([retryMs, resetMs, windowMs, moreMs], [0, -1, -1, -1]);
    assert.equal(check(limiter, named('d'), { tier: pro }), 0);
    assert.deepEqual(
      [answer().retryMs, answer().resetMs, answer().reason],
      [-1, -1, 'never-refills'],
    );
    assert.equal(check(limiter, named('e'), { tier: unknownTier, cost: 9 }), 0);
    assert.deepEqual(
      [answer().reason, answer().fallback, answer().tier],
      ['cost-exceeds-capacity', 'unknown-tier', -1],
    );
    limiter.delete();
  });

  test(`why there is no decision is a number below 0: a client by ${way}`, () => {
    const limiter = made(only(2, 1));
    check(limiter, client(limiter, 'c'), { nowMs: 1000.5 });
    const refused = made('{');
    const unseeded = made(only(2, 1), { seeded: false });
    const c = client(limiter, 'c');
    const many = (of, one, asked) => {
      // Behind one whom it keeps from being charged.
      const outcome = batch(of, inWords('another')) || batch(of, one);
      return outcome < 0 ? outcome : allowMany(of, 2, asked);
    };
    for (const ask of [allow, check, peek, many]) {
      const asked = (of, cost, nowMs) => ask(of, c, { cost, nowMs });
      assert.equal(asked(limiter, 1, 1000.499), status.clock);
      assert.equal(answer().touchedMs, 1000.5);
      for (const nowMs of [NaN, Infinity, -Infinity, 2 ** 53]) {
        assert.equal(asked(limiter, 1, nowMs), status.invalidTime);
      }
      for (const cost of [0, -1, 0.5, 1.5, NaN, 2 ** 53, Infinity]) {
        assert.equal(asked(limiter, cost, 1001), status.invalidCost);
      }
      assert.equal(asked(refused, 1, 0), status.noPolicies);
      assert.equal(asked(unseeded, 1, 0), status.notSeeded);
    }
    assert.equal(ask('fingerprint', unseeded, c), status.notSeeded);
    const { allowed, denied, buckets } = limiter.stats();
    assert.deepEqual([allowed, denied, buckets], [1, 0, 1]);
    for (const each of [limiter, refused, unseeded]) each.delete();
  });
}

test('the exports and embind decide alike', () => {
  const random = new Random(8);
  const policies = { ...only(4, 1.5), tiers: { pro: { capacity: 7.5, refillPerSecond: 0.3 } } };
  const [first, second] = [made(policies, { sweep: false }), made(policies, { sweep: false })];
  const pro = first.tier('pro');
  let nowMs = 0;
  for (let i = 0; i < 3000; i += 1) {
    nowMs += random.whole(0, 900_000) / 1000;
    const name = `c${random.whole(0, 4)}`;
    const cost = random.whole(1, 9);
    const tier = random.pick([[], ['pro'], ['none']]);
    const number = { pro, none: unknownTier }[tier[0]] ?? asAssigned;
    const client = random.pick(Object.values(ways))(first, name);
    const verb = random.pick(['check', 'peek']);
    const outcome = { check, peek }[verb](first, client, { tier: number, cost, nowMs });
    const { touchedMs, tier: named, retryMs, ...told } = answer();
    const expected = second[verb](name, cost, nowMs, ...tier);
    assert.ok(touchedMs >= 0 && named >= -1);
    assert.deepEqual(
      { ...told, allowed: outcome === 1, retryAfterMs: retryMs < 0 ? null : retryMs },
      {
        ...Object.fromEntries(
          [
            ...['allowed', 'limit', 'remaining', 'retryAfterMs', 'resetMs', 'windowMs'],
            ...['reason', 'fallback'],
          ].map((member) => [member, expected[member]]),
        ),
        moreMs: expected.limits[0].moreAfterMs,
      },
    );
  }
  assert.deepEqual(first.stats(), second.stats());
  first.delete();
  second.delete();
});

// ---- Names ---------------------------------------------------------------------------------------------------------

/** Names of a length: letters that differ, and the bytes at the ends of ASCII, of which one is that behind the end. */
const namesOf = (length) =>
  [(i) => String.fromCharCode(33 + ((i * 7 + length) % 94)), () => '\0', () => '\x7f'].map(
    (letter) => Array.from({ length }, (_, i) => letter(i)).join(''),
  );

test('a name is the same client as words, as a text and through embind, whatever its length', () => {
  const limiter = made(only(100, 0));
  const names = new Set();
  for (let length = 0; length <= 60; length += 1) {
    for (const name of namesOf(length)) {
      names.add(name);
      const before = limiter.peek(name, 1, 0).remaining;
      const clients = [() => asText(limiter, name)];
      if (length <= longestInWords) clients.push(() => inWords(name));
      else if (length <= longestBegun) clients.push(() => begun(limiter, name));
      const asked = [() => limiter.allow(name, 1, 0)];
      for (const client of clients) {
        asked.push(
          () => allow(limiter, client()),
          () => check(limiter, client()),
          () => allowKnown(limiter, fingerprintOf(limiter, client())),
          () => batch(limiter, client()) || allowMany(limiter, 1)[0],
        );
      }
      asked.forEach((ask, i) => {
        assert.equal(Number(ask()), 1);
        assert.equal(limiter.peek(name, 1, 0).remaining, before - i - 1, JSON.stringify(name));
      });
    }
  }
  assert.equal(limiter.stats().buckets, names.size);
  limiter.delete();
});

test('names that are not ASCII: their bytes as words, as a text and through embind', () => {
  const limiter = made(only(3, 0));
  const names = ['é', 'tür', '€€', '日本語の名前です', '😀', 'a😀b', '\ud800', '\udfff\ud800x'];
  for (const name of names) {
    assert.ok(bytesOf(name).length <= longestInWords);
    assert.equal(allow(limiter, inWords(name)), 1);
    assert.equal(allow(limiter, asText(limiter, name)), 1);
    assert.equal(limiter.allow(name, 1, 0), true);
    assert.equal(limiter.allow(name, 1, 0), false);
  }
  assert.equal(limiter.stats().buckets, names.length);
  // Bytes that no text is made of are a client as well.
  const bytes = Uint8Array.of(0xff, 0x80, 0xc0, 0, 0xfe);
  assert.equal(allow(limiter, asText(limiter, bytes), { cost: 3 }), 1);
  assert.equal(limiter.stats().buckets, names.length + 1);
  limiter.delete();
});

test('every byte of the words counts, and so does the length', () => {
  const limiter = made(only(1, 0));
  const seen = new Set();
  let count = 0;
  const see = (client) => {
    count += 1;
    seen.add(fingerprintOf(limiter, client).join());
  };
  for (let length = 0; length <= longestBegun; length += 1) {
    const client = length <= longestInWords ? inWords : (name) => begun(limiter, name);
    const [name] = namesOf(length);
    see(client(name));
    for (let at = 0; at < length; at += 1) {
      for (const bit of [1, 64]) {
        const other = String.fromCharCode(name.charCodeAt(at) ^ bit);
        see(client(name.slice(0, at) + other + name.slice(at + 1)));
      }
    }
  }
  assert.equal(seen.size, count);
  limiter.delete();
});

test('what was begun stays for any number of names, until another text or name is begun', () => {
  const limiter = made(only(9, 0));
  const head = 'twenty-four bytes ahead,';
  const tails = [' ', ' and some', ' and some more of them', ' and twenty-four behind.'];
  begun(limiter, `${head}?`);
  for (const tail of tails) {
    const client = [head.length + tail.length, ...wordsOf(bytesOf(tail))];
    for (let i = 0; i < 2; i += 1) assert.equal(allow(limiter, client), 1);
    assert.equal(allow(limiter, inWords('another')), 1);
    assert.equal(limiter.peek(head + tail, 1, 0).remaining, 7);
  }
  // A text that is taken in is another, and so is the beginning of another name.
  const [tail] = tails;
  const client = [head.length + tail.length, ...wordsOf(bytesOf(tail))];
  const expected = fingerprintOf(limiter, client);
  asText(limiter, 'a text');
  assert.notDeepEqual(fingerprintOf(limiter, client), expected);
  begun(limiter, `${head.toUpperCase()}?`);
  assert.notDeepEqual(fingerprintOf(limiter, client), expected);
  begun(limiter, `${head}?`);
  assert.deepEqual(fingerprintOf(limiter, client), expected);
  // The text that was taken in whole is still there.
  assert.deepEqual(fingerprintOf(limiter, theText), fingerprintOf(limiter, inWords('a text')));
  // Without a secret nothing is begun.
  const unseeded = made(only(1, 0), { seeded: false });
  begun(unseeded, `${head.toUpperCase()}?`);
  assert.deepEqual(fingerprintOf(limiter, client), expected);
  limiter.delete();
  unseeded.delete();
});

test('numbers with and without a sign are the same words', () => {
  const limiter = made(only(2, 0));
  const client = inWords('\ud83d\ude00\ud83d\ude00');
  const signed = client.map((word) => word | 0);
  assert.ok(signed[1] < 0);
  assert.deepEqual(fingerprintOf(limiter, signed), fingerprintOf(limiter, client));
  const long = Uint8Array.from({ length: longestBegun }, (_, i) => 0xff - i);
  module._tierlimit_begin(
    limiter.handle(),
    ...wordsOf(long.subarray(0, 24)).map((word) => word | 0),
  );
  assert.deepEqual(
    fingerprintOf(limiter, [longestBegun, ...wordsOf(long.subarray(24))]),
    fingerprintOf(limiter, asText(limiter, long)),
  );
  const words = fingerprintOf(limiter, client);
  assert.equal(allow(limiter, client), 1);
  assert.equal(
    allowKnown(
      limiter,
      words.map((word) => word | 0),
    ),
    1,
  );
  assert.equal(allowKnown(limiter, words), 0);
  limiter.delete();
});

// ---- Texts ---------------------------------------------------------------------------------------------------------

/** So many bytes that do not repeat at any multiple of eight. */
const text = (size) => Uint8Array.from({ length: size }, (_, i) => 33 + ((i * i + 7 * i) % 93));
const decoder = new TextDecoder();

test('a text in pieces is the client of the whole, wherever the pieces end', () => {
  const limiter = made(only(1, 0));
  const near = (size) => Array.from({ length: 19 }, (_, i) => size - 9 + i);
  const sizes = [...near(9), 64, ...near(bufferBytes), ...near(2 * bufferBytes)];
  for (const size of sizes) {
    const bytes = text(size);
    const whole = decoder.decode(bytes);
    const prints = new Set();
    for (const filled of [...near(17), 256, 1000, ...near(bufferBytes)]) {
      if (filled < 8 || filled > bufferBytes) continue;
      if (size > 100 * filled && filled % 8 !== 1) continue;
      prints.add(fingerprintOf(limiter, asText(limiter, bytes, filled)).join());
    }
    assert.equal(prints.size, 1, `${size} bytes`);
    assert.equal(allow(limiter, theText), 1);
    assert.equal(limiter.allow(whole, 1, 0), false, `${size} bytes`);
  }
  assert.equal(limiter.stats().buckets, new Set(sizes).size);
  limiter.delete();
});

test('a piece may be empty, the last one too', () => {
  const limiter = made(only(1, 0));
  const expected = ['', 'abc', 'abcdefgh', 'abcdefghijk'].map((name) =>
    fingerprintOf(limiter, inWords(name)),
  );
  const put = (piece, after) => module.HEAPU8.set(bytesOf(piece), bufferOf(module) + after);
  const piece = (...given) => module._tierlimit_text(limiter.handle(), ...given);

  assert.equal(piece(0, 1, 1), 0);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[0]);
  assert.deepEqual([piece(0, 1, 0), piece(0, 0, 0), piece(0, 0, 1)], [0, 0, 0]);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[0]);
  put('abc', 0);
  assert.deepEqual([piece(3, 1, 0), piece(3, 0, 0), piece(3, 0, 1)], [3, 3, 0]);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[1]);
  put('abcdefgh', 0);
  assert.deepEqual([piece(8, 1, 0), piece(0, 0, 1)], [0, 0]);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[2]);
  put('abcdefghijk', 0);
  assert.deepEqual([piece(11, 1, 0), piece(3, 0, 1)], [3, 0]);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[3]);
  limiter.delete();
});

test('a text of ten million bytes is a client like any other', () => {
  const own = createModule();
  const limiter = made(only(1, 0), { on: own });
  const bytes = text(1e7);
  const other = Uint8Array.from(bytes);
  other[other.length - 1] += 1;
  assert.equal(allow(limiter, asText(limiter, bytes, bufferBytes, own), {}, own), 1);
  assert.equal(allow(limiter, asText(limiter, other, bufferBytes, own), {}, own), 1);
  const { byteLength } = own.HEAPU8;
  assert.equal(allow(limiter, asText(limiter, bytes, 4091, own), {}, own), 0);
  assert.equal(own.HEAPU8.byteLength, byteLength);
  assert.equal(limiter.allow(decoder.decode(bytes), 1, 0), false);
  assert.equal(limiter.stats().buckets, 2);
});

test('a text that is broken off is forgotten with the first piece of another', () => {
  const limiter = made(only(1, 0));
  const other = new module.TierLimiter(JSON.stringify(only(1, 0)));
  other.seed(5, 6, 7, 8);
  const name = 'a name of more bytes than cross in registers, twice over';
  const expected = [limiter, other].map((each) => fingerprintOf(each, asText(each, name)));
  assert.notDeepEqual(expected[0], expected[1]);
  for (const broken of [8, 13, 4095, 4096]) {
    for (const pieces of [1, 2]) {
      [limiter, other].forEach((each, i) => {
        for (let k = 0; k < pieces; k += 1) {
          module._tierlimit_text(other.handle(), broken, k === 0 ? 1 : 0, 0);
        }
        assert.deepEqual(fingerprintOf(each, asText(each, name)), expected[i]);
        begun(other, 'x'.repeat(broken % 24) + 'y'.repeat(25));
        assert.deepEqual(fingerprintOf(each, asText(each, name)), expected[i]);
      });
    }
  }
  // Until there is another one, the text is the last that was taken in whole.
  asText(limiter, name);
  module._tierlimit_text(limiter.handle(), 100, 1, 0);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[0]);
  // Of a limiter without a secret nothing is taken in.
  const unseeded = made(only(1, 0), { seeded: false });
  assert.equal(module._tierlimit_text(unseeded.handle(), 13, 1, 0), 0);
  assert.equal(module._tierlimit_text(unseeded.handle(), 13, 1, 1), 0);
  assert.deepEqual(fingerprintOf(limiter, theText), expected[0]);
  for (const each of [limiter, other, unseeded]) each.delete();
});

test('the text stays for any number of calls, whatever else is asked for in between', () => {
  const limiter = made(only(5, 0));
  const client = asText(limiter, 'x'.repeat(5000));
  assert.equal(allow(limiter, client), 1);
  assert.equal(allow(limiter, inWords('another')), 1);
  limiter.allow('y'.repeat(5000), 1, 0);
  limiter.setTier('z'.repeat(5000), 'tier');
  assert.equal(check(limiter, client), 1);
  assert.equal(answer().remaining, 3);
  assert.equal(batch(limiter, client), 0);
  assert.deepEqual(allowMany(limiter, 1), [1]);
  assert.equal(peek(limiter, client), 1);
  assert.equal(answer().remaining, 2);
  limiter.delete();
});

// ---- Fingerprints --------------------------------------------------------------------------------------------------

test('a fingerprint is of a name and a secret, and of nothing else', () => {
  const names = Array.from({ length: 100 }, (_, i) => 'client '.repeat(i % 5) + i);
  const prints = (limiter) =>
    names.map((name) => fingerprintOf(limiter, asText(limiter, name)).join());
  const limiter = made(only(2, 1000), { maxClients: 50 });
  const expected = prints(limiter);
  assert.equal(new Set(expected).size, names.length);

  for (const name of names) limiter.allow(name, 1, 0);
  assert.deepEqual(prints(limiter), expected);
  limiter.setPolicies(JSON.stringify({ ...only(1, 0), tiers: { pro: only(9, 0).default } }));
  for (const name of names) limiter.setTier(name, 'pro');
  assert.deepEqual(prints(limiter), expected);
  for (let i = 0; i < 5000; i += 1) limiter.allow(`another ${i}`, 1, i);
  const { evictions, swept } = limiter.stats();
  assert.ok(evictions + swept > 4000);
  assert.deepEqual(prints(limiter), expected);
  // A later secret is none.
  limiter.seed(5, 6, 7, 8);
  assert.deepEqual(prints(limiter), expected);

  const twin = made(only(7, 7));
  assert.deepEqual(prints(twin), expected);
  for (const secret of [
    [0, 2, 3, 4],
    [1, 0, 3, 4],
    [1, 2, 0, 4],
    [1, 2, 3, 0],
  ]) {
    const stranger = new module.TierLimiter(JSON.stringify(only(1, 0)));
    stranger.seed(...secret);
    const others = prints(stranger);
    assert.equal(new Set([...expected, ...others]).size, 2 * names.length);
    stranger.delete();
  }
  limiter.delete();
  twin.delete();
});

test('a client by its fingerprint is the one by its name', () => {
  const limiter = made({ ...only(3, 0), tiers: { pro: { capacity: 9, refillPerSecond: 0 } } });
  const words = fingerprintOf(limiter, inWords('c'));
  assert.equal(allow(limiter, inWords('c')), 1);
  assert.equal(allowKnown(limiter, words), 1);
  assert.equal(allow(limiter, byFingerprint(words)), 1);
  assert.equal(allowKnown(limiter, words), 0);
  assert.equal(limiter.peek('c', 1, 0).remaining, 0);
  limiter.setTier('d', 'pro');
  const other = fingerprintOf(limiter, inWords('d'));
  assert.equal(check(limiter, byFingerprint(other)), 1);
  assert.deepEqual([answer().limit, limiter.tierName(answer().tier)], [9, 'pro']);
  assert.equal(allowKnown(limiter, other, { cost: 8 }), 1);
  assert.equal(allowKnown(limiter, other), 0);
  assert.equal(
    allowKnown(limiter, fingerprintOf(limiter, inWords('e')), {
      tier: limiter.tier('pro'),
      cost: 9,
    }),
    1,
  );
  limiter.delete();
});

// ---- Batches -------------------------------------------------------------------------------------------------------

test('a batch is judged one client after the other', () => {
  const limiter = made(only(2, 1));
  const names = ['a', 'b', 'a', 'a', 'c', 'b', 'b', 'a name of more than twenty-four bytes', ''];
  const put = () => {
    for (const [i, name] of names.entries()) {
      const way = name.length > longestInWords ? begun : Object.values(ways)[i % 3];
      assert.equal(batch(limiter, way(limiter, name)), 0);
    }
  };
  put();
  assert.deepEqual(allowMany(limiter, names.length), [1, 1, 1, 0, 1, 1, 0, 1, 1]);
  const { allowed, denied, buckets } = limiter.stats();
  assert.deepEqual([allowed, denied, buckets], [7, 2, 5]);
  put();
  assert.deepEqual(
    allowMany(limiter, names.length, { cost: 2, nowMs: 1000 }),
    [0, 0, 0, 0, 1, 0, 0, 1, 1],
  );
  put();
  const tier = unknownTier;
  assert.deepEqual(
    allowMany(limiter, names.length, { tier, cost: 2, nowMs: 3000 }),
    [1, 1, 0, 0, 1, 0, 0, 1, 1],
  );
  // It is empty then.
  assert.equal(batch(limiter, inWords('new')), 0);
  assert.deepEqual(allowMany(limiter, 1, { nowMs: 3000 }), [1]);
  assert.deepEqual(allowMany(limiter, 0, { nowMs: 3000 }), []);
  assert.equal(limiter.stats().allowed + limiter.stats().denied, 3 * names.length + 1);
  limiter.delete();
});

test('a batch for one of whom the clock is too early charges nobody', () => {
  const limiter = made(only(5, 0));
  limiter.allow('late', 1, 1000);
  limiter.allow('early', 1, 500);
  const before = limiter.stats();
  for (const place of [0, 1, 2, 3]) {
    const names = ['a', 'early', 'b'];
    names.splice(place, 0, 'late');
    for (const name of names) batch(limiter, inWords(name));
    assert.equal(allowMany(limiter, 4, { nowMs: 999.999 }), status.clock);
    assert.equal(answer().touchedMs, 1000);
    assert.deepEqual(limiter.stats(), before);
  }
  // And the batch is empty.
  batch(limiter, inWords('a'));
  assert.deepEqual(allowMany(limiter, 1, { nowMs: 0 }), [1]);
  assert.deepEqual(
    ['a', 'b', 'early', 'late'].map((name) => limiter.peek(name, 1, 1000).remaining),
    [4, 5, 4, 4],
  );
  limiter.delete();
});

test('a client that may have been forgotten at a later reading makes the clock of a batch too early', () => {
  const limiter = made(only(2, 1000));
  for (let i = 0; i < 2000; i += 1) limiter.allow(`c${i}`, 1, i);
  for (let i = 0; i < 20_000; i += 1) limiter.allow('somebody', 1, 2000);
  assert.ok(limiter.stats().swept > 1500);
  const before = limiter.stats();
  batch(limiter, inWords('never seen'));
  assert.equal(allowMany(limiter, 1, { nowMs: 1500 }), status.clock);
  assert.ok(answer().touchedMs > 1500 && answer().touchedMs <= 2000);
  assert.deepEqual(limiter.stats(), before);
  limiter.delete();
});

test('a batch may be larger than any before, and is not limited by memory that others leave', () => {
  const own = createModule();
  const limiter = made(only(1, 0), { on: own, sweep: false });
  const fill = (from, to) => {
    for (let i = from; i < to; i += 1) assert.equal(batch(limiter, inWords(`${i}`), own), 0);
  };
  for (const size of [1, 255, 256, 257, 511, 512, 513, 5000]) {
    fill(0, size);
    const expected = Array.from({ length: size }, (_, i) =>
      Number(limiter.peek(`${i}`, 1, 0).allowed),
    );
    assert.deepEqual(allowMany(limiter, size, {}, own), expected, `${size}`);
    own._tierlimit_batch_end();
  }
  // Memory grows beneath a batch, by itself and by others, and the results are where the answer says.
  fill(4000, 5000);
  own._tierlimit_memory(2 * own.HEAPU8.length);
  fill(5000, 50_000);
  const results = allowMany(limiter, 46_000, {}, own);
  assert.deepEqual(results.indexOf(1), 1000);
  assert.equal(results.lastIndexOf(0), 999);
  own._tierlimit_batch_end();
  assert.equal(limiter.stats().buckets, 50_000);
});

test('what a large batch took is given back', () => {
  const own = instantiate(coreWithin(2 ** 21));
  const limiter = made(only(1, 0), { on: own, maxClients: 8 });
  const size = 60_000;
  const fill = () => {
    for (let i = 0; i < size; i += 1) assert.equal(batch(limiter, inWords(`${i}`), own), 0);
  };
  for (let round = 0; round < 5; round += 1) {
    fill();
    assert.ok(!own._tierlimit_memory(2 ** 20));
    if (round % 2 === 0) assert.equal(allowMany(limiter, size, {}, own).length, size);
    own._tierlimit_batch_end();
    assert.ok(own._tierlimit_memory(2 ** 20));
  }
  // Nothing is left of a batch that was not judged.
  batch(limiter, inWords('0'), own);
  own._tierlimit_batch_end();
  const before = limiter.stats();
  assert.deepEqual(allowMany(limiter, 0, {}, own), []);
  assert.deepEqual(limiter.stats(), before);
});

test('a batch that does not fit the memory is gone, and nobody is charged', () => {
  const own = instantiate(coreWithin(2 ** 20));
  const limiter = made(only(2, 0), { on: own });
  allow(limiter, inWords('0'), {}, own);
  const before = limiter.stats();
  for (let round = 0; round < 3; round += 1) {
    let fitted = 0;
    let outcome = 0;
    for (; outcome === 0 && fitted < 1e6; fitted += 1) {
      outcome = batch(limiter, inWords(`${fitted}`), own);
    }
    assert.equal(outcome, status.outOfMemory);
    assert.ok(fitted > 10_000, `${fitted}`);
    assert.deepEqual(limiter.stats(), before);
    // With or without giving the memory back there is room for a smaller one.
    if (round === 1) own._tierlimit_batch_end();
  }
  batch(limiter, inWords('0'), own);
  batch(limiter, inWords('1'), own);
  batch(limiter, inWords('0'), own);
  assert.deepEqual(allowMany(limiter, 3, {}, own), [1, 1, 0]);
});

test('the wrapper begins its batch anew, whatever is left of another', () => {
  const hotPath = new HotPath(createModule());
  const own = hotPath.module;
  const limiter = made(only(1, 0), { on: own });
  batch(limiter, inWords('left'), own);
  batch(limiter, inWords('over'), own);
  assert.deepEqual(hotPath.allowMany(limiter.handle(), ['a', 'left', 'a'], asAssigned, 1, 0), [
    true,
    true,
    false,
  ]);
  assert.deepEqual([limiter.stats().buckets, limiter.allow('over', 1, 0)], [2, true]);
});

// ---- Tiers, the answer, memory -------------------------------------------------------------------------------------

test('numbers of tiers are those of names, until the next document', () => {
  const tier = { capacity: 2, refillPerSecond: 0 };
  const limiter = made({ ...only(1, 0), tiers: { a: tier, b: tier, ü: tier, broken: {} } });
  const names = ['a', 'b', 'ü', 'broken'];
  const numbers = names.map((name) => limiter.tier(name));
  assert.equal(new Set(numbers).size, 4);
  assert.ok(numbers.every((number) => number >= 0));
  assert.deepEqual(
    numbers.map((number) => limiter.tierName(number)),
    names,
  );
  limiter.setTier('c', 'elsewhere');
  for (const unknown of ['', 'A', 'a\0', 'elsewhere', '\ud800']) {
    assert.equal(limiter.tier(unknown), unknownTier);
  }
  // The client's own tier has a number though it is not in the document.
  peek(limiter, inWords('c'));
  assert.equal(answer().fallback, 'unknown-tier');
  assert.equal(limiter.tierName(answer().tier), 'elsewhere');
  peek(limiter, inWords('x'), { tier: limiter.tier('broken') });
  assert.deepEqual([answer().fallback, answer().tier], ['invalid-tier-policy', numbers[3]]);
  for (const none of [4_000_000_000, 1000, 2 ** 31]) assert.equal(limiter.tierName(none), null);

  // Setting tiers leaves the document's as they are.
  for (let i = 0; i < 100; i += 1) limiter.setTier(`c${i}`, `tier ${i}`);
  for (let i = 0; i < 100; i += 2) limiter.clearTier(`c${i}`);
  assert.deepEqual(
    names.map((name) => limiter.tier(name)),
    numbers,
  );
  limiter.setPolicies(JSON.stringify({ ...only(1, 0), tiers: { elsewhere: tier, ü: tier } }));
  assert.deepEqual(
    ['a', 'b', 'broken'].map((name) => limiter.tier(name)),
    [unknownTier, unknownTier, unknownTier],
  );
  for (const name of ['elsewhere', 'ü']) {
    assert.equal(limiter.tierName(limiter.tier(name)), name);
    assert.equal(peek(limiter, inWords('y'), { tier: limiter.tier(name), cost: 2 }), 1);
  }
  limiter.delete();
});

test('each call writes of the answer what it is said to write, and nothing else', () => {
  const limiter = made({ ...only(2, 1), tiers: { pro: { capacity: 4, refillPerSecond: 0 } } });
  const unseeded = made(only(2, 1), { seeded: false });
  const refused = made('{');
  limiter.allow('late', 1, 1e6);
  for (let i = 0; i < 2; i += 1) limiter.allow('spent', 1, 0);
  asText(limiter, 'late');
  const pro = limiter.tier('pro');
  const late = fingerprintOf(limiter, inWords('late'));
  const spent = fingerprintOf(limiter, inWords('spent'));

  let fresh = 0;
  const somebodyNew = () => inWords(`new ${(fresh += 1)}`);
  /** The offsets at which a call leaves another byte than there was, whatever there was. */
  const written = (call) => {
    const offsets = new Set();
    for (const mark of [0x5a, 0xa5]) {
      const start = module._tierlimit_answer() >>> 0;
      assert.equal(start % 8, 0);
      module.HEAPU8.fill(mark, start, start + answerBytes);
      call();
      const bytes = module.HEAPU8.subarray(start, start + answerBytes);
      bytes.forEach((byte, i) => byte !== mark && offsets.add(i));
    }
    return [...offsets].sort((a, b) => a - b);
  };
  const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
  const decision = [...range(16, 36), ...range(56, 112)];
  const touched = range(0, 8);
  const nothing = [];
  const expect = (offsets, outcome, call) => {
    assert.deepEqual(
      written(() => assert.equal(call(), outcome)),
      offsets,
      `${call}`,
    );
  };

  for (const ask of [check, peek]) {
    expect(decision, 1, () => ask(limiter, somebodyNew()));
    expect(decision, 1, () => ask(limiter, somebodyNew(), { tier: pro }));
    expect(decision, 0, () => ask(limiter, inWords('spent')));
    expect(decision, 0, () => ask(limiter, byFingerprint(spent)));
    expect(decision, 0, () => ask(limiter, inWords('d'), { cost: 99 }));
    expect(touched, status.clock, () => ask(limiter, inWords('late')));
    expect(touched, status.clock, () => ask(limiter, theText));
    expect(touched, status.clock, () => ask(limiter, byFingerprint(late)));
  }
  expect(nothing, 1, () => allow(limiter, somebodyNew()));
  expect(nothing, 0, () => allow(limiter, inWords('spent')));
  expect(touched, status.clock, () => allow(limiter, inWords('late')));
  expect(touched, status.clock, () => allow(limiter, theText));
  expect(nothing, 0, () => allowKnown(limiter, spent));
  expect(touched, status.clock, () => allowKnown(limiter, late));

  for (const ask of [allow, check, peek]) {
    expect(nothing, status.invalidTime, () => ask(limiter, inWords('c'), { nowMs: NaN }));
    expect(nothing, status.invalidCost, () => ask(limiter, inWords('c'), { cost: 0.5 }));
    expect(nothing, status.notSeeded, () => ask(unseeded, inWords('c')));
    expect(nothing, status.noPolicies, () => ask(refused, inWords('c')));
  }
  // What is held: the cost, the time, the limits that were charged, how many, the same of a candidate, and which one that is.
  const held = range(504, 724);
  expect([...decision, ...held], 1, () => reserve(limiter, somebodyNew()));
  expect(touched, status.clock, () => reserve(limiter, inWords('late')));
  expect(nothing, status.invalidCost, () => reserve(limiter, inWords('c'), { cost: 0 }));
  expect(nothing, status.notSeeded, () => reserve(unseeded, inWords('c')));
  const debt = range(8, 16);
  expect(debt, 1, () => refund(limiter, inWords('spent')));
  expect(touched, status.clock, () => refund(limiter, theText));
  expect(nothing, status.invalidCost, () => refund(limiter, inWords('c'), { cost: 0 }));
  expect(nothing, status.notSeeded, () => refund(unseeded, inWords('c')));
  expect(nothing, status.invalidCost, () => settle(limiter, inWords('c'), { cost: 0.5 }));
  expect(nothing, status.invalidTime, () => settle(limiter, inWords('c'), { nowMs: NaN }));
  expect(nothing, status.notSeeded, () => settle(unseeded, inWords('c')));
  const fingerprint = (of, client) => ask('fingerprint', of, client);
  expect(range(36, 48), 0, () => fingerprint(limiter, inWords('c')));
  expect(range(36, 48), 0, () => fingerprint(limiter, theText));
  expect(nothing, status.notSeeded, () => fingerprint(unseeded, inWords('c')));

  const many = (of, names, asked) => {
    for (const name of names) batch(of, inWords(name));
    return module._tierlimit_allow_many(of.handle(), ...request(asked));
  };
  expect(nothing, 0, () => batch(limiter, inWords('late')));
  module._tierlimit_batch_end();
  expect(range(48, 52), 0, () => many(limiter, ['spent', 'spent'], {}));
  expect(touched, status.clock, () => many(limiter, ['spent', 'late'], {}));
  expect(nothing, status.invalidTime, () => many(limiter, ['spent'], { nowMs: Infinity }));
  expect(nothing, status.invalidCost, () => many(limiter, ['spent'], { cost: 0 }));
  expect(nothing, status.noPolicies, () => many(refused, ['spent'], {}));
  expect(nothing, undefined, () => module._tierlimit_batch_end());
  expect(nothing, 3, () => module._tierlimit_text(limiter.handle(), 3, 1, 0));
  expect(nothing, 0, () => module._tierlimit_text(limiter.handle(), 3, 0, 1));
  expect(nothing, undefined, () => module._tierlimit_begin(limiter.handle(), 1, 2, 3, 4, 5, 6));
  expect(nothing, 1, () => module._tierlimit_memory(100));
  for (const each of [limiter, unseeded, refused]) each.delete();
});

test('whether memory can be had', () => {
  const own = createModule();
  assert.ok(own._tierlimit_memory(1000));
  assert.ok(!own._tierlimit_memory(2 ** 32 - 1));
  const { byteLength } = own.HEAPU8;
  assert.ok(own._tierlimit_memory(2 * byteLength));
  assert.ok(own.HEAPU8.byteLength > 2 * byteLength);
});

test('buffers stay where they are and what they hold while memory grows', () => {
  const own = createModule();
  const limiter = made(only(1, 0), { on: own });
  const [buffer, answerAt] = [bufferOf(own), own._tierlimit_answer()];
  const grow = () => {
    const before = own.HEAPU8;
    assert.ok(own._tierlimit_memory(before.length));
    assert.equal(before.length, 0);
    assert.deepEqual([bufferOf(own), own._tierlimit_answer()], [buffer, answerAt]);
  };
  const name = 'a text in two pieces, between which memory grows';
  const expected = fingerprintOf(limiter, asText(limiter, name, bufferBytes, own), own);
  own.HEAPU8.set(bytesOf(name.slice(0, 13)), buffer);
  const kept = own._tierlimit_text(limiter.handle(), 13, 1, 0);
  assert.equal(kept, 5);
  grow();
  own.HEAPU8.set(bytesOf(name.slice(13)), buffer + kept);
  own._tierlimit_text(limiter.handle(), kept + name.length - 13, 0, 1);
  grow();
  assert.deepEqual(fingerprintOf(limiter, theText, own), expected);
  ask('check', limiter, theText, undefined, own);
  grow();
  const view = new DataView(own.HEAPU8.buffer, answerAt);
  assert.deepEqual([view.getFloat64(56, true), view.getFloat64(64, true)], [1, 0]);
});

test('what is reserved is settled from a copy of what the answer held', () => {
  const limiter = made(only(10, 0));
  const at = (module._tierlimit_answer() >>> 0) + 504;
  const held = () => module.HEAPU8.slice(at, at + 224);
  const left = (name) => {
    peek(limiter, inWords(name));
    return answer().remaining;
  };
  assert.equal(reserve(limiter, inWords('a'), { cost: 5 }), 1);
  const a = held();
  assert.equal(reserve(limiter, asText(limiter, 'b'), { cost: 7 }), 1);
  const b = held();
  assert.deepEqual([left('a'), left('b')], [5, 3]);
  module.HEAPU8.set(a, at);
  assert.equal(settle(limiter, inWords('a'), { cost: 2 }), 1);
  assert.deepEqual([left('a'), left('b')], [8, 3]);
  module.HEAPU8.set(b, at);
  assert.equal(settle(limiter, asText(limiter, 'b'), { cost: 11 }), 1);
  const debt = new DataView(module.HEAPU8.buffer).getFloat64(at - 496, true);
  assert.deepEqual([left('a'), left('b'), debt], [8, 0, 1]);
  assert.equal(refund(limiter, inWords('b'), { cost: 4 }), 1);
  assert.equal(
    refund(limiter, byFingerprint(fingerprintOf(limiter, inWords('a'))), { cost: 4 }),
    1,
  );
  assert.deepEqual([left('a'), left('b')], [10, 4]);
  limiter.delete();
});

test('embind, the wrapper and the exports are about the same clients', () => {
  const hotPath = new HotPath(createModule());
  const own = hotPath.module;
  const limiter = made(only(4, 0), { on: own });
  const { limiter: wrapped } = clocked(only(3, 0));
  const allowing = 0;
  const boundary = [4095, 4096, 4097].flatMap((length) =>
    ['x', 'é'].map((unit) => unit.repeat(length)),
  );
  const short = Array.from({ length: 60 }, (_, length) => 'x'.repeat(length));
  for (const name of ['é', '😀', '\ud800', ...short, ...boundary]) {
    assert.equal(limiter.allow(name, 1, 0), true);
    const client = asText(limiter, name, bufferBytes, own);
    assert.equal(own._tierlimit_allow(limiter.handle(), ...client, ...request()), 1);
    assert.equal(hotPath.ask(allowing, limiter.handle(), name, asAssigned, 1, 0), 1);
    assert.equal(limiter.peek(name, 1, 0).remaining, 1);
    wrapped.setTier(name, 'known');
    assert.equal(wrapped.check(name).tier, 'known');
    assert.equal(wrapped.check(name).remaining, 1);
  }
  // Memory that grows beneath the wrapper's views.
  const long = 'ü'.repeat(30);
  for (let i = 0; i < 5; i += 1) {
    assert.ok(own._tierlimit_memory(own.HEAPU8.length));
    const name = `${long} ${i}`;
    assert.equal(hotPath.ask(allowing, limiter.handle(), name, asAssigned, 4, 0), 1);
    assert.equal(limiter.allow(name, 1, 0), false);
  }
});
