// Clients by address: what is one address however it is written, and whose word counts behind proxies.
import assert from 'node:assert/strict';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { test } from 'node:test';

import { TierLimiter } from 'tierlimit';
import { address, cloudflare } from 'tierlimit/clients';

import { Random } from '../model/random.js';
import { runScript } from './support/child.js';
import { only, thrown } from './support/limiter.js';
import { clientOf, source } from './support/source.js';

const peer = address();
/** @param {string | null} text */
const nameOf = (text) => clientOf(peer, text);

// ---- What an address is ----------------------------------------------------------------------------------------------

test('case 42: one client, however its address is written; others are others', () => {
  const first = nameOf('2001:db8:1:2::1');
  assert.equal(first, 'ip:2001:db8:1:2::/64');
  for (const text of [
    '2001:DB8:1:2:ffff:0:0:9',
    '2001:0db8:0001:0002:0000:0000:0000:0001',
    '[2001:db8:1:2::1]:443',
    '[2001:db8:1:2::1]',
    '[2001:db8:1:2::1]:_obfuscated',
    '2001:db8:1:2::192.0.2.1',
    '2001:db8:1:2::1%eth0',
    '[2001:db8:1:2::1%eth0]:443',
  ]) {
    assert.equal(nameOf(text), first, text);
  }
  assert.equal(nameOf('2001:db8:1:3::1'), 'ip:2001:db8:1:3::/64');
  for (const text of [
    '192.0.2.7',
    '192.0.2.7:52241',
    '192.0.2.7:_port',
    '::ffff:192.0.2.7',
    '::FFFF:192.0.2.7',
    '::ffff:c000:207',
    '0:0:0:0:0:ffff:192.0.2.7',
    '[::ffff:192.0.2.7]:443',
    '::ffff:192.0.2.7%eth0',
    '64:ff9b::192.0.2.7',
    '64:ff9b::c000:207',
  ]) {
    assert.equal(nameOf(text), 'ip:192.0.2.7', text);
  }
  assert.equal(nameOf('::ffff:192.0.2.2'), 'ip:192.0.2.2');
  for (const zone of ['eth0', 'br-lan.7', 'wlan_0', '25', '%25en0', '12']) {
    assert.equal(nameOf(`fe80::1%${zone}`), 'ip:fe80::/64', zone);
  }
});

test('what is no address is nobody: neither what some take for one, nor what is nearly one', () => {
  for (const text of [
    null,
    ...['', ' ', 'not-an-ip', 'unknown', '_hidden', 'undefined', 'localhost', 'example.com'],
    // What inet_aton reads, and ipaddr.js with it.
    ...['127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '010.0.0.1'],
    ...['192.0.2.07', '192.0.2.00', '192.0.2.0x7', '+1.2.3.4', '1.2.3.4.', '.1.2.3.4', '1..2.3'],
    ...['256.0.0.1', '1.2.3.256', '1.2.3', '1.2.3.4.5', '1.2.3.-4', '1.2.3.4e0', '１.2.3.4'],
    ...['1.2.3.4:', '1.2.3.4:x', '1.2.3.4:123456', '1.2.3.4:80:80', '1.2.3.4/32', '1.2.3.4%eth0'],
    ...[
      '[1.2.3.4]',
      '[1.2.3.4]:80',
      '1.2.3.4]',
      '[',
      ']',
      '[]',
      '[]:80',
      '[::1',
      '::1]',
      '[[::1]]',
    ],
    ...['[::1]:', '[::1]:x', '[::1]80', '[::1]:123456', '[::1] ', ' ::1', '::1 ', '"::1"'],
    ...[':', ':::', '::1::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8::'],
    ...['12345::', 'g::', '::g', ':1', '1:', ':1:2:3:4:5:6:7', '::1%', '::1% ', '::1%a b', '%eth0'],
    ...['::/64', '::ffff:192.0.2.07', '::ffff:127.1', '::ffff:0x7f.0.0.1', '::256.0.0.1'],
    ...[
      '::1.2.3.4:5',
      '1.2.3.4::',
      '1:2:3:4:5:6:7:1.2.3.4',
      '::192.0.2.1.',
      '::ffff:192.0.2',
      '::0b0.2.3.4',
      '::a1.2.3.4',
    ],
    ...['2001:db8::1\n', '\n1.2.3.4', '1.2.3.4\n', '1.2.3.4\0', '::1\0', 'ſ::', '::１'],
    '1'.repeat(1e6),
    ':'.repeat(1e6),
    '1:'.repeat(1e6),
    `::1%${'a'.repeat(1e6)}`,
    `[${'['.repeat(1e6)}`,
  ]) {
    assert.equal(nameOf(text), null, text?.slice(0, 40));
    if (text !== null) {
      const fields = { forwarded: 'for=192.0.2.1' };
      assert.equal(clientOf(address({ trusted: ['loopback'] }), text, fields), null);
    }
  }
});

test('what else stands for an IPv4 address is the IPv6 address that it is', () => {
  for (const [text, name] of [
    // Compatible (deprecated) and translated as it was before RFC 6052: nobody routes them.
    ['::192.0.2.1', 'ip:::/64'],
    ['::ffff:0:192.0.2.1', 'ip:::/64'],
    ['::1', 'ip:::/64'],
    // 6to4 has its IPv4 address within the prefix, and 65,536 times 64 bits behind it.
    ['2002:c000:207:1::1', 'ip:2002:c000:207:1::/64'],
    // In the first 64 bits of Teredo is the server, and all its clients behind it.
    ['2001:0:c000:207:8000:63bf:3fff:fdd2', 'ip:2001:0:c000:207::/64'],
    // A prefix of somebody's own translator (RFC 8215) does not tell where the IPv4 address is.
    ['64:ff9b:1::c000:207', 'ip:64:ff9b:1::/64'],
  ]) {
    assert.equal(nameOf(text), name, text);
  }
});

test('the prefixes may be others; an address that counts whole is named without one', () => {
  for (const [options, text, name] of [
    [{ prefix6: 128 }, '2001:db8:0:0:1:0:0:1', 'ip:2001:db8::1:0:0:1'],
    [{ prefix6: 128 }, '2001:db8:0:1:1:1:1:1', 'ip:2001:db8:0:1:1:1:1:1'],
    [{ prefix6: 127 }, '2001:db8::ffff', 'ip:2001:db8::fffe/127'],
    [{ prefix6: 56 }, '2001:db8:1:2ff::1', 'ip:2001:db8:1:200::/56'],
    [{ prefix6: 48 }, '2001:db8:1:2::1', 'ip:2001:db8:1::/48'],
    [{ prefix6: 1 }, 'ffff::1', 'ip:8000::/1'],
    [{ prefix4: 24 }, '192.0.2.7', 'ip:192.0.2.0/24'],
    [{ prefix4: 24 }, '::ffff:192.0.2.7', 'ip:192.0.2.0/24'],
    [{ prefix4: 31 }, '192.0.2.7', 'ip:192.0.2.6/31'],
    [{ prefix4: 1 }, '192.0.2.7', 'ip:128.0.0.0/1'],
    [{ prefix6: undefined, prefix4: undefined, hops: undefined }, '::2', 'ip:::/64'],
  ]) {
    assert.equal(clientOf(address(options), text), name);
    if (!('hops' in options)) {
      const fields = { 'cf-connecting-ip': text };
      assert.equal(clientOf(cloudflare(options), null, fields), name);
    }
  }
});

/** An IPv6 address, written in any way. @param {Random} random @param {bigint} value */
function written(random, value) {
  const groups = groupsOf(value).map((group) => group.toString(16));
  let tail = '';
  if (random.chance(0.3)) {
    const low = Number(value & 0xffffffffn);
    tail = [low >>> 24, (low >>> 16) & 255, (low >>> 8) & 255, low & 255].join('.');
    groups.splice(6);
  }
  // Any zeros may be left out, one at least, and not only the most.
  const zeros = groups.flatMap((group, i) => (group === '0' ? [i] : []));
  let text = groups
    .map((group) => (random.chance(0.3) ? group.padStart(random.whole(1, 4), '0') : group))
    .concat(tail === '' ? [] : [tail])
    .join(':');
  if (zeros.length > 0 && random.chance(0.7)) {
    const from = random.pick(zeros);
    let to = from + 1;
    while (groups[to] === '0' && random.chance(0.9)) to += 1;
    const [left, right] = [groups.slice(0, from), groups.slice(to)];
    text = `${left.join(':')}::${[...right, ...(tail === '' ? [] : [tail])].join(':')}`;
  }
  if (random.chance(0.3)) text = text.toUpperCase();
  if (random.chance(0.2)) text += `%${random.pick(['eth0', '3', 'en-1.2'])}`;
  return random.weighted([
    [3, text],
    [1, `[${text}]`],
    [1, `[${text}]:${random.whole(0, 65_535)}`],
  ]);
}

const groupsOf = (/** @type {bigint} */ value) =>
  Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn));

/** A value with many zeros in a row, as addresses have them. @param {Random} random */
function randomValue(random) {
  let value = 0n;
  for (let i = 0; i < 8; i += 1) {
    const group = random.chance(0.5)
      ? 0
      : random.pick([random.whole(0, 65_535), random.whole(0, 15), 0xffff]);
    value = (value << 16n) | BigInt(group);
  }
  return random.chance(0.1) ? (0xffffn << 32n) | (value & 0xffffffffn) : value;
}

test('random addresses, written in any way, are what the URL parser and big integers make of them', () => {
  const random = new Random(42);
  const counts = { mapped: 0, others: 0 };
  for (let round = 0; round < 40; round += 1) {
    const prefix6 = round === 0 ? 64 : random.whole(1, 128);
    const prefix4 = random.whole(1, 32);
    const extract = address({ prefix6, prefix4 });
    for (let i = 0; i < 250; i += 1) {
      const value = randomValue(random);
      const text = written(random, value);
      const high = value >> 32n;
      let expected;
      if (high === 0xffffn || high === 0x64ff9bn << 64n) {
        counts.mapped += 1;
        const shift = BigInt(32 - prefix4);
        const low = Number((((value & 0xffffffffn) >> shift) << shift) & 0xffffffffn);
        // It reads a number as an address, which address() does not.
        expected = new URL(`http://${low}/`).hostname + (prefix4 === 32 ? '' : `/${prefix4}`);
      } else {
        counts.others += 1;
        const shift = BigInt(128 - prefix6);
        const kept = groupsOf((value >> shift) << shift).map((group) => group.toString(16));
        const { hostname } = new URL(`http://[${kept.join(':')}]/`);
        expected = hostname.slice(1, -1) + (prefix6 === 128 ? '' : `/${prefix6}`);
      }
      assert.equal(clientOf(extract, text), `ip:${expected}`, `${text} by ${prefix6}, ${prefix4}`);
    }
  }
  assert.ok(counts.mapped > 300 && counts.others > 5000, JSON.stringify(counts));
});

test('of random texts, those are addresses that node:net takes for one', () => {
  const random = new Random(7);
  const counts = { addresses: 0, others: 0 };
  const pieces = [...'0123456789abcdefABCDEF::::....g%', '255', '256', '::', '0:', '10.', 'ffff:'];
  for (let i = 0; i < 30_000; i += 1) {
    let text = random.weighted([
      [2, written(random, randomValue(random)).replace(/^\[|\].*$/g, '')],
      [1, `${random.whole(0, 260)}.${random.whole(0, 260)}.${random.whole(0, 255)}.7`],
      [1, ''],
    ]);
    for (let changes = random.whole(0, 3); changes > 0; changes -= 1) {
      const at = random.whole(0, text.length);
      const left = text.slice(0, at);
      text = left + random.pick(pieces) + text.slice(at + random.whole(0, 2));
    }
    const withPort = /^([^:]+):\d{1,5}$/.exec(text);
    const expected = isIP(text) !== 0 || (withPort !== null && isIPv4(withPort[1]));
    // A zone may have dots and lines for us; in node:net it has colons too.
    if (/%.*[^a-z\d]/i.test(text)) continue;
    assert.equal(nameOf(text) !== null, expected, JSON.stringify(text));
    counts[expected ? 'addresses' : 'others'] += 1;
  }
  assert.ok(counts.addresses > 3000 && counts.others > 3000, JSON.stringify(counts));
});

test('however many addresses there are, each is what it was', () => {
  const by = address({ hops: 1, prefix6: 128 });
  for (let round = 0; round < 2; round += 1) {
    for (let i = 0; i < 6000; i += 1) {
      const text = `2001:db8::${(i + 1).toString(16)}`;
      assert.equal(clientOf(by, text), `ip:${text}`);
      assert.equal(clientOf(by, '::9', { 'x-forwarded-for': ` ${text}` }), `ip:${text}`);
    }
  }
});

test('what is remembered of addresses is bounded, and holds no part of a header', async (t) => {
  const { status, stdout, stderr } = await runScript(
    `
    import { address } from 'tierlimit/clients';
    const used = () => {
      gc();
      return process.memoryUsage().heapUsed;
    };
    const by = address({ hops: 1 });
    let field = '';
    let n = 0;
    const source = { header: () => field, address: '', method: 'GET', url: '/' };
    const ask = () => {
      n += 1;
      const text = '2001:db8:' + (4096 + (n >> 8)).toString(16) + ':' + (4096 + (n & 255)).toString(16) + '::12';
      source.address = text;
      // As it comes from a parser: one flat text.
      field = field && Buffer.from('9.9.9.9, '.repeat(2000) + text).toString('latin1');
      if (by(null, source) !== 'ip:' + text.replace('::12', '::/64')) throw new Error(text);
    };
    ask();
    const before = used();
    for (let i = 0; i < 100_000; i += 1) ask();
    const short = used() - before;
    field = '-';
    for (let i = 0; i < 5000; i += 1) ask();
    console.log(JSON.stringify({ short, long: used() - before }));`,
    ['--expose-gc'],
  );
  assert.deepEqual([status, stderr], [0, '']);
  const grown = JSON.parse(stdout);
  t.diagnostic(
    `addresses that are remembered: ${grown.short} bytes, with those of headers ${grown.long}`,
  );
  // With the headers that addresses are a part of it would be 17 MB.
  assert.ok(grown.short < 4e6 && grown.long < 4e6, stdout);
});

// ---- Behind proxies ----------------------------------------------------------------------------------------------------

const forwardedFor = (/** @type {string} */ value) => ({ 'x-forwarded-for': value });

test('by default nothing is trusted: headers are ignored', () => {
  const fields = { ...forwardedFor('203.0.113.5'), forwarded: 'for=203.0.113.5' };
  for (const extract of [
    address(),
    address({}),
    address({ hops: 0 }),
    address({ hops: 0, header: 'forwarded' }),
    address({ hops: 0, header: 'x-real-ip' }),
  ]) {
    assert.equal(clientOf(extract, '192.0.2.1', fields), 'ip:192.0.2.1');
    assert.equal(clientOf(extract, null, fields), null);
  }
});

test('case 43: with n hops, the n-th address from the right', () => {
  const limiter = new TierLimiter({ policies: only(20, 0), now: () => 0 });
  const one = address({ hops: 1 });
  for (let n = 0; n < 20; n += 1) {
    const client = clientOf(one, '10.0.0.1', forwardedFor(`9.9.9.${n}, 203.0.113.5`));
    assert.equal(client, 'ip:203.0.113.5');
    assert.equal(limiter.allow(client), true);
  }
  assert.equal(limiter.allow('ip:203.0.113.5'), false);
  // The victim, whose address the others have sent along, has all that is his.
  const victim = clientOf(one, '10.0.0.1', forwardedFor('9.9.9.7'));
  assert.equal(limiter.peek(victim).remaining, 20);

  const list = '9.9.9.9, 203.0.113.5,10.0.0.3 ,\t10.0.0.2';
  for (const [hops, name] of [
    [0, 'ip:10.0.0.1'],
    [1, 'ip:10.0.0.2'],
    [2, 'ip:10.0.0.3'],
    [3, 'ip:203.0.113.5'],
    [4, 'ip:9.9.9.9'],
    // Fewer than there should be: somebody has come another way.
    [5, 'ip:10.0.0.1'],
    [32, 'ip:10.0.0.1'],
  ]) {
    assert.equal(clientOf(address({ hops }), '10.0.0.1', forwardedFor(list)), name, String(hops));
  }
  for (const fields of [{}, forwardedFor('')]) {
    assert.equal(clientOf(one, '10.0.0.1', fields), 'ip:10.0.0.1');
    assert.equal(clientOf(one, null, fields), null);
  }
  // Where the runtime tells no peer, the header still does.
  assert.equal(clientOf(one, null, forwardedFor('203.0.113.5')), 'ip:203.0.113.5');
});

test('a header that is there several times is one list', () => {
  const fields = [
    ['X-Forwarded-For', '9.9.9.9, 8.8.8.8'],
    ['x-forwarded-for', '203.0.113.5'],
  ];
  assert.equal(clientOf(address({ hops: 1 }), '10.0.0.1', fields), 'ip:203.0.113.5');
  assert.equal(clientOf(address({ hops: 2 }), '10.0.0.1', fields), 'ip:8.8.8.8');
});

test('what is no address where the client should be is nobody, and never makes way for its left neighbour', () => {
  for (const entry of ['', ' ', 'unknown', '_x', '127.1', '"203.0.113.5"', '203.0.113.5 x', '-']) {
    const list = forwardedFor(`9.9.9.9,${entry}`);
    assert.equal(clientOf(address({ hops: 1 }), '10.0.0.1', list), null, entry);
    assert.equal(clientOf(address({ trusted: ['10.0.0.0/8'] }), '10.0.0.1', list), null, entry);
    const middle = forwardedFor(`9.9.9.9,${entry},10.0.0.2`);
    assert.equal(clientOf(address({ hops: 2 }), '10.0.0.1', middle), null, entry);
    assert.equal(clientOf(address({ trusted: ['10.0.0.0/8'] }), '10.0.0.1', middle), null, entry);
    // Of those that hops leaves out nothing is asked, not even that.
    assert.equal(clientOf(address({ hops: 3 }), '10.0.0.1', middle), 'ip:9.9.9.9', entry);
  }
  for (const [list, hops, name] of [
    [',', 1, null],
    [',', 2, null],
    [',', 3, 'ip:10.0.0.1'],
    [', 203.0.113.5', 1, 'ip:203.0.113.5'],
    ['203.0.113.5,', 2, 'ip:203.0.113.5'],
  ]) {
    assert.equal(clientOf(address({ hops }), '10.0.0.1', forwardedFor(list)), name, list);
  }
});

test('ports, brackets and prefixes count in headers as they do of the peer', () => {
  const one = address({ hops: 1, prefix6: 56 });
  for (const [entry, name] of [
    ['203.0.113.5:4711', 'ip:203.0.113.5'],
    ['[2001:db8:1:2ff::1]:4711', 'ip:2001:db8:1:200::/56'],
    ['2001:db8:1:2ff::1', 'ip:2001:db8:1:200::/56'],
    ['::ffff:203.0.113.5', 'ip:203.0.113.5'],
  ]) {
    assert.equal(clientOf(one, '10.0.0.1', forwardedFor(`x, ${entry}`)), name);
  }
});

test('with trusted networks, the first address that is not in them', () => {
  const trusted = ['loopback', '10.0.0.0/8', '2001:db8:aaaa::/48', '198.51.100.7'];
  const by = address({ trusted });
  const list = forwardedFor('9.9.9.9, 203.0.113.5, 198.51.100.7, 2001:db8:aaaa::5, 10.9.9.9');
  for (const proxy of ['10.0.0.1', '127.0.0.1', '::1', '::ffff:10.0.0.1', '2001:db8:aaaa:1::1']) {
    assert.equal(clientOf(by, proxy, list), 'ip:203.0.113.5', proxy);
  }
  // Somebody who is none of the proxies may say what he likes.
  for (const other of ['203.0.113.9', '11.0.0.1', '198.51.100.8', '::ffff:203.0.113.9']) {
    const name = `ip:${other.replace('::ffff:', '')}`;
    assert.equal(clientOf(by, other, list), name, other);
  }
  assert.equal(clientOf(by, '2001:db8:aaab::1', list), 'ip:2001:db8:aaab::/64');
  assert.equal(clientOf(by, null, list), null);
  // All of them are proxies, so the first of these asks for itself.
  assert.equal(clientOf(by, '10.0.0.1', forwardedFor('10.0.0.3, 10.0.0.2')), 'ip:10.0.0.3');
  assert.equal(clientOf(by, '10.0.0.1', forwardedFor('')), 'ip:10.0.0.1');
  assert.equal(clientOf(by, '10.0.0.1'), 'ip:10.0.0.1');
});

test('the names of networks are those of other middleware', () => {
  for (const [name, inside, outside] of [
    ['loopback', ['127.0.0.1', '127.255.0.9', '::1'], ['128.0.0.1', '::2', '10.0.0.1']],
    ['linklocal', ['169.254.1.1', 'fe80::1%eth0', 'febf::1'], ['169.255.0.1', 'fec0::1', '::1']],
    [
      'uniquelocal',
      ['10.0.0.1', '172.16.0.1', '172.31.9.9', '192.168.1.1', 'fc00::1', 'fdff::1'],
      ['172.32.0.1', '172.15.0.1', '192.169.0.1', '11.0.0.1', 'fe00::1', '127.0.0.1'],
    ],
  ]) {
    const by = address({ trusted: [name] });
    const list = forwardedFor('203.0.113.5');
    for (const text of inside) assert.equal(clientOf(by, text, list), 'ip:203.0.113.5', text);
    for (const text of outside) assert.notEqual(clientOf(by, text, list), 'ip:203.0.113.5', text);
  }
});

test('random networks hold the addresses that node:net finds in them', () => {
  const random = new Random(3);
  const counts = { inside: 0, outside: 0 };
  for (let round = 0; round < 300; round += 1) {
    const list = new BlockList();
    const trusted = [];
    for (let i = random.whole(1, 4); i > 0; i -= 1) {
      if (random.chance(0.5)) {
        const prefix = random.whole(1, 32);
        const shift = BigInt(32 - prefix);
        const base = (BigInt(random.bits()) >> shift) << shift;
        const { hostname } = new URL(`http://${base}/`);
        list.addSubnet(hostname, prefix, 'ipv4');
        trusted.push(
          random.chance(0.2) ? `::ffff:${hostname}/${prefix + 96}` : `${hostname}/${prefix}`,
        );
      } else {
        // Where IPv4 is mapped, the one counts networks of IPv6 too, and the other those of IPv4.
        const prefix = random.whole(1, 128);
        const shift = BigInt(128 - prefix);
        const base = ((randomValue(random) | (1n << 127n)) >> shift) << shift;
        const text = groupsOf(base)
          .map((group) => group.toString(16))
          .join(':');
        list.addSubnet(text, prefix, 'ipv6');
        trusted.push(`${text}/${prefix}`);
      }
    }
    const by = address({ trusted });
    for (let i = 0; i < 40; i += 1) {
      // Near one of the networks, as often as not within.
      const [base, digits] = random.pick(trusted).replace('::ffff:', '').split('/');
      const isV4 = base.includes('.');
      const bits = isV4 ? 32 : 128;
      const value = isV4
        ? BigInt(base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0))
        : base.split(':').reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
      const prefix = Number(digits) > bits ? Number(digits) - 96 : Number(digits);
      const near = value ^ (1n << BigInt(random.whole(0, bits - 1)));
      const other = random.chance(0.5)
        ? near
        : value | (randomValue(random) >> BigInt(128 - bits + prefix));
      const text = isV4
        ? new URL(`http://${other & 0xffffffffn}/`).hostname
        : groupsOf(other)
            .map((group) => group.toString(16))
            .join(':');
      const isInside = list.check(text, isV4 ? 'ipv4' : 'ipv6');
      const client = clientOf(by, text, forwardedFor('203.0.113.5'));
      assert.equal(client === 'ip:203.0.113.5', isInside, `${text} in ${trusted}`);
      counts[isInside ? 'inside' : 'outside'] += 1;
    }
  }
  assert.ok(counts.inside > 2000 && counts.outside > 2000, JSON.stringify(counts));
});

test('no more of a header is looked at than is needed, however long it is', () => {
  const long = `${'9.9.9.9, '.repeat(1e5)}203.0.113.5`;
  assert.equal(clientOf(address({ hops: 1 }), '10.0.0.1', forwardedFor(long)), 'ip:203.0.113.5');
  const garbage = `${'"'.repeat(1e6)}, for=203.0.113.5`;
  const fields = { forwarded: garbage };
  const forwarded = address({ hops: 1, header: 'forwarded' });
  assert.equal(clientOf(forwarded, '10.0.0.1', fields), 'ip:203.0.113.5');
  assert.equal(
    clientOf(forwarded, '10.0.0.1', { forwarded: 'for=203.0.113.5;x='.repeat(1e5) }),
    null,
  );
  // Of an element 1,024 characters.
  const element = (/** @type {number} */ length) => ({
    forwarded: `for=9.9.9.9, ${'for=203.0.113.5;x='.padEnd(length - 1, 'a')}`,
  });
  assert.equal(clientOf(forwarded, '10.0.0.1', element(1023)), 'ip:203.0.113.5');
  assert.equal(clientOf(forwarded, '10.0.0.1', element(1025)), null);
  // Of proxies that are all trusted, 32.
  const by = address({ trusted: ['10.0.0.0/8'] });
  const proxies = (/** @type {number} */ count) =>
    forwardedFor(`203.0.113.5${', 10.0.0.2'.repeat(count)}`);
  assert.equal(clientOf(by, '10.0.0.1', proxies(31)), 'ip:203.0.113.5');
  assert.equal(clientOf(by, '10.0.0.1', proxies(32)), null);
  assert.equal(clientOf(by, '10.0.0.1', proxies(1e5)), null);
});

// ---- Forwarded ---------------------------------------------------------------------------------------------------------

test('Forwarded is read as RFC 7239 has it', () => {
  for (const [value, name] of [
    // Its own examples.
    ['for="_gazonk"', null],
    ['For="[2001:db8:cafe::17]:4711"', 'ip:2001:db8:cafe::/64'],
    ['for=192.0.2.60;proto=http;by=203.0.113.43', 'ip:192.0.2.60'],
    ['for=192.0.2.43, for=198.51.100.17', 'ip:198.51.100.17'],
    ['for="192.0.2.43:47011"', 'ip:192.0.2.43'],
    ['for=unknown', null],
    ['for=_SEVKISEK', null],
    // Others.
    ['FOR=192.0.2.1', 'ip:192.0.2.1'],
    ['by=203.0.113.43;for=192.0.2.1', 'ip:192.0.2.1'],
    ['by="a;for=9.9.9.9,";for=192.0.2.1', 'ip:192.0.2.1'],
    ['for=192.0.2.1;secret="a\\"b,c;for=9.9.9.9"', 'ip:192.0.2.1'],
    ['for="192.0.2\\.1"', 'ip:192.0.2.1'],
    ['for="192.0.2.1:_port"', 'ip:192.0.2.1'],
    ['for="2001:db8:cafe::17"', 'ip:2001:db8:cafe::/64'],
    ['for=[2001:db8:cafe::17]', 'ip:2001:db8:cafe::/64'],
    ['\t for=192.0.2.1 ; proto=https ; ', 'ip:192.0.2.1'],
    ['for=9.9.9.9,for=192.0.2.1', 'ip:192.0.2.1'],
    ['for="9.9.9.9, for=8.8.8.8", for=192.0.2.1', 'ip:192.0.2.1'],
    ['for=9.9.9.9;x="a\\\\", for=192.0.2.1', 'ip:192.0.2.1'],
    // Not well-formed, or without what is asked for.
    ...[
      ...['proto=https', 'by=192.0.2.1', '192.0.2.1', 'for', 'for=', 'for=""', 'for = 192.0.2.1'],
      ...['for=192.0.2.1;for=192.0.2.2', 'for=192.0.2.1;FOR="192.0.2.2"', 'xfor=192.0.2.1'],
      ...['for=192.0.2.1;=x', 'for=192.0.2.1 proto=http', 'for=192.0.2.1"', 'for="192.0.2.1'],
      ...['for="192.0.2.1\\"', 'for=192.0.2.1\\', '"for=192.0.2.1"', 'for="192.0.2.1"x'],
      ...['for=9.9.9.9,', 'for=9.9.9.9, ', 'for=9.9.9.9, ,', 'for=9.9.9.9;x="\\, for=192.0.2.1\\"'],
    ].map((text) => [text, null]),
    ['', 'ip:10.0.0.1'],
  ]) {
    const by = address({ hops: 1, header: 'Forwarded' });
    assert.equal(clientOf(by, '10.0.0.1', { forwarded: value }), name, value);
  }
});

test('what somebody sends in Forwarded changes nothing of what proxies write to the right of it', () => {
  const random = new Random(9);
  const pieces = ['"', '\\', ',', ';', '=', 'for=', '9.9.9.9', ' ', 'for="', '[', ']', 'x', '\\"'];
  const two = address({ hops: 2, header: 'forwarded' });
  const by = address({ trusted: ['10.0.0.0/8'], header: 'forwarded' });
  for (let i = 0; i < 5000; i += 1) {
    const sent = Array.from({ length: random.whole(0, 12) }, () => random.pick(pieces)).join('');
    const added = random.pick([
      'for=203.0.113.5, for=10.0.0.2',
      'for="203.0.113.5:80";proto=https, by=_x;for="10.0.0.2"',
      'by="_\\"";for=203.0.113.5,for=10.0.0.2;host="a,b"',
    ]);
    const fields = { forwarded: `${sent}, ${added}` };
    assert.equal(clientOf(two, '10.0.0.1', fields), 'ip:203.0.113.5', fields.forwarded);
    assert.equal(clientOf(by, '10.0.0.1', fields), 'ip:203.0.113.5', fields.forwarded);
  }
});

test('where a quote is left open, nobody knows how many there are to the left', () => {
  const by = (/** @type {number} */ hops) => address({ hops, header: 'forwarded' });
  for (const forwarded of [
    'for=9.9.9.9, for=8.8.8.8", for=203.0.113.5',
    'for=a", for=203.0.113.5',
  ]) {
    assert.equal(clientOf(by(1), '10.0.0.1', { forwarded }), 'ip:203.0.113.5');
    for (const hops of [2, 3, 4]) assert.equal(clientOf(by(hops), '10.0.0.1', { forwarded }), null);
  }
});

test('hops and networks are counted in Forwarded as in other headers', () => {
  const fields = { forwarded: 'for=9.9.9.9, for=203.0.113.5;proto=http, for="10.0.0.2:80"' };
  for (const [hops, name] of [
    [1, 'ip:10.0.0.2'],
    [2, 'ip:203.0.113.5'],
    [3, 'ip:9.9.9.9'],
    [4, 'ip:10.0.0.1'],
  ]) {
    const by = address({ hops, header: 'forwarded' });
    assert.equal(clientOf(by, '10.0.0.1', fields), name);
  }
  const by = address({ trusted: ['10.0.0.0/8'], header: 'FORWARDED' });
  assert.equal(clientOf(by, '10.0.0.1', fields), 'ip:203.0.113.5');
  assert.equal(clientOf(by, '11.0.0.1', fields), 'ip:11.0.0.1');
  // An element is no address of itself, and an address is no element.
  assert.equal(clientOf(by, '10.0.0.1', { forwarded: '10.0.0.1' }), null);
  assert.equal(clientOf(by, 'for=10.0.0.1', { forwarded: 'for=9.9.9.9' }), null);
});

test('any other header is a list of addresses', () => {
  const by = address({ hops: 1, header: 'X-Real-IP' });
  assert.equal(clientOf(by, '10.0.0.1', { 'x-real-ip': '203.0.113.5' }), 'ip:203.0.113.5');
  assert.equal(clientOf(by, '10.0.0.1', forwardedFor('203.0.113.5')), 'ip:10.0.0.1');
});

// ---- Cloudflare --------------------------------------------------------------------------------------------------------

test('cloudflare: the address in CF-Connecting-IP, and nobody without it', () => {
  const by = cloudflare();
  const told = (/** @type {string} */ value) => ({ 'CF-Connecting-IP': value });
  assert.equal(clientOf(by, null, told('203.0.113.5')), 'ip:203.0.113.5');
  assert.equal(clientOf(by, '192.0.2.1', told('2001:db8:1:2::1')), 'ip:2001:db8:1:2::/64');
  for (const fields of [{}, told(''), told('unknown'), told('203.0.113.5, 203.0.113.6')]) {
    assert.equal(clientOf(by, '192.0.2.1', fields), null);
  }
});

test('cloudflare: with trusted networks, from others nothing is believed', () => {
  const by = cloudflare({ trusted: ['173.245.48.0/20', '2400:cb00::/32'] });
  const fields = { 'cf-connecting-ip': '203.0.113.5' };
  for (const peer of ['173.245.48.1', '::ffff:173.245.63.255', '2400:cb00:1::1']) {
    assert.equal(clientOf(by, peer, fields), 'ip:203.0.113.5', peer);
  }
  for (const peer of ['173.245.64.1', '192.0.2.1', '2400:cb01::1', 'x', null]) {
    assert.equal(clientOf(by, peer, fields), null, String(peer));
  }
});

// ---- Options -----------------------------------------------------------------------------------------------------------

test('options that are not as they should be are refused by name, value and rule', () => {
  const networks =
    'networks such as "10.0.0.0/8", "2001:db8::/32" or "192.0.2.1", or "loopback", "linklocal" or "uniquelocal"';
  for (const [make, options, Class, message] of [
    [address, null, TypeError, 'options must be an object such as { hops }; got null'],
    [address, 'x', TypeError, 'options must be an object such as { hops }; got "x"'],
    [address, { hop: 1 }, TypeError, 'there is no option "hop"'],
    ...[-1, 33, 1.5, NaN, Infinity].map((hops) => [
      address,
      { hops },
      RangeError,
      `hops must be a whole number from 0 to 32; got ${hops}`,
    ]),
    [address, { hops: '1' }, TypeError, 'hops must be a whole number from 0 to 32; got "1"'],
    [address, { hops: null }, TypeError, 'hops must be a whole number from 0 to 32; got null'],
    [address, { prefix6: 0 }, RangeError, 'prefix6 must be a whole number from 1 to 128; got 0'],
    [
      address,
      { prefix6: 129 },
      RangeError,
      'prefix6 must be a whole number from 1 to 128; got 129',
    ],
    [address, { prefix4: 33 }, RangeError, 'prefix4 must be a whole number from 1 to 32; got 33'],
    [address, { prefix4: '8' }, TypeError, 'prefix4 must be a whole number from 1 to 32; got "8"'],
    [address, { header: '' }, TypeError, 'header must be the name of a header field; got ""'],
    [address, { header: 'a b' }, TypeError, 'header must be the name of a header field; got "a b"'],
    [address, { header: null }, TypeError, 'header must be the name of a header field; got null'],
    [
      address,
      { hops: 0, trusted: ['::1'] },
      TypeError,
      'hops must be left out where trusted is given; got 0',
    ],
    [address, { trusted: [] }, TypeError, `trusted must be an array of ${networks}; got an Array`],
    [
      address,
      { trusted: 'loopback' },
      TypeError,
      `trusted must be an array of ${networks}; got "loopback"`,
    ],
    [address, { trusted: null }, TypeError, `trusted must be an array of ${networks}; got null`],
    [address, { trusted: [7] }, TypeError, `trusted[0] must be one of ${networks}; got 7`],
    ...[
      ...['', 'x', 'Loopback', '__proto__', 'toString', '10.0.0.0/', '10.0.0.0/08', '10.0.0.0/8/8'],
      ...['10/8', '10.0.0.0/255.0.0.0', '010.0.0.0/8', '[::1]', '::1%eth0', '10.0.0.1:80', '/8'],
      ...['10.0.0.0/-1', '10.0.0.0/8 ', ' 10.0.0.0/8', '::ffff:10.0.0.0/0x68'],
    ].map((text) => [
      address,
      { trusted: ['::1', text] },
      TypeError,
      `trusted[1] must be one of ${networks}; got ${JSON.stringify(text)}`,
    ]),
    // Everybody is no network of proxies.
    ...['0.0.0.0/0', '10.0.0.0/33', '10.0.0.0/999'].map((text) => [
      address,
      { trusted: [text] },
      RangeError,
      `trusted[0] must be a network with a prefix from 1 to 32; got "${text}"`,
    ]),
    [
      address,
      { trusted: ['::/0'] },
      RangeError,
      'trusted[0] must be a network with a prefix from 1 to 128; got "::/0"',
    ],
    ...['::ffff:0.0.0.0/96', '::ffff:10.0.0.0/8'].map((text) => [
      address,
      { trusted: [text] },
      RangeError,
      `trusted[0] must be a network with a prefix from 97 to 128; got "${text}"`,
    ]),
    [
      address,
      { trusted: ['10.0.0.1/8'] },
      RangeError,
      'trusted[0] must be a network without bits beyond its prefix, "10.0.0.0/8"; got "10.0.0.1/8"',
    ],
    [
      address,
      { trusted: ['2001:db8::1/32'] },
      RangeError,
      'trusted[0] must be a network without bits beyond its prefix, "2001:db8::/32"; got "2001:db8::1/32"',
    ],
    [cloudflare, { hops: 1 }, TypeError, 'there is no option "hops"'],
    [cloudflare, { prefix6: 0 }, RangeError, 'prefix6 must be a whole number from 1 to 128; got 0'],
    [
      cloudflare,
      { trusted: [] },
      TypeError,
      `trusted must be an array of ${networks}; got an Array`,
    ],
  ]) {
    const error = thrown(() => make(options));
    assert.ok(error instanceof Class, `${message}: ${error}`);
    assert.equal(error.message, message);
  }
});

test('the networks that were given are copied, and the same request has the same client later', () => {
  const trusted = ['10.0.0.0/8'];
  const options = { trusted, header: 'x-forwarded-for' };
  const by = address(options);
  trusted[0] = '203.0.113.0/24';
  options.header = 'x';
  const request = source('10.0.0.1', forwardedFor('203.0.113.5'));
  for (let i = 0; i < 3; i += 1) assert.equal(by(null, request), 'ip:203.0.113.5');
});
