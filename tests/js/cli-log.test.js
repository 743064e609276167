// What the command line tool makes of log lines, and how it orders, counts and groups requests.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LineSplitter } from '../../js/src/cli/lines.js';
import { parseLogLine } from '../../js/src/cli/log-line.js';
import { parseLogTime } from '../../js/src/cli/log-time.js';
import { plot } from '../../js/src/cli/plot.js';
import { Progress } from '../../js/src/cli/progress.js';
import { Tally } from '../../js/src/cli/tally.js';
import { TierRules } from '../../js/src/cli/tier-rules.js';
import { TimeOrder } from '../../js/src/cli/time-order.js';
import { Timeline } from '../../js/src/cli/timeline.js';

describe('the time of a line', () => {
  const times = [
    ['17/May/2015:10:05:03 +0000', '2015-05-17T10:05:03Z'],
    ['10/Oct/2000:13:55:36 -0700', '2000-10-10T20:55:36Z'],
    ['01/Jan/2024:00:00:00 +0530', '2023-12-31T18:30:00Z'],
    ['31/Dec/2023:23:59:59 -0330', '2024-01-01T03:29:59Z'],
    ['29/Feb/2024:12:00:00 +0000', '2024-02-29T12:00:00Z'],
    ['29/Feb/2000:12:00:00 +0000', '2000-02-29T12:00:00Z'],
    ['31/Dec/2016:23:59:60 +0000', '2017-01-01T00:00:00Z'],
    ['01/Jan/1970:00:00:00 +0000', '1970-01-01T00:00:00Z'],
    ['31/Dec/2254:23:59:59 +0000', '2254-12-31T23:59:59Z'],
  ];
  for (const [text, iso] of times) {
    test(text, () => assert.equal(parseLogTime(text), Date.parse(iso) / 1000));
  }

  const noTimes = [
    ...['29/Feb/2023:12:00:00 +0000', '29/Feb/2100:12:00:00 +0000', '31/Apr/2024:12:00:00 +0000'],
    ...['00/May/2024:12:00:00 +0000', '32/May/2024:12:00:00 +0000', '1/May/2024:12:00:00 +0000'],
    ...['17/may/2015:10:05:03 +0000', '17/Mai/2015:10:05:03 +0000', '17/05/2015:10:05:03 +0000'],
    ...['17/May/2015:24:00:00 +0000', '17/May/2015:10:60:03 +0000', '17/May/2015:10:05:61 +0000'],
    ...['17/May/2015:10:05:03', '17/May/2015:10:05:03 0000', '17/May/2015:10:05:03 +0060'],
    ...['17/May/1969:10:05:03 +0000', '17/May/9999:10:05:03 +0000', '17/May/15:10:05:03 +0000'],
    ...['2015-05-17T10:05:03Z', '', ' 17/May/2015:10:05:03 +0000'],
  ];
  for (const text of noTimes) {
    test(`none: '${text}'`, () => assert.equal(parseLogTime(text), NaN));
  }
});

describe('a line', () => {
  const seconds = Date.parse('2015-05-17T10:05:03Z') / 1000;
  const when = '[17/May/2015:10:05:03 +0000]';
  const combined = '"GET / HTTP/1.1" 200 5 "http://example.org/" "curl/8.0"';
  const lines = [
    ['Common', `192.0.2.1 - - ${when} "GET / HTTP/1.0" 200 2326`, { agent: '-' }],
    ['Combined', `192.0.2.1 - - ${when} ${combined}`, { agent: 'curl/8.0' }],
    ['with a user', `192.0.2.1 - alice ${when} ${combined}`, { user: 'alice' }],
    ['with a user of two words', `192.0.2.1 - al ice ${when} ${combined}`, { user: 'al ice' }],
    ['with an ident', `192.0.2.1 root alice ${when} ${combined}`, { user: 'alice' }],
    ['of an IPv6 host', `2001:db8::1 - - ${when} ${combined}`, { host: '2001:db8::1' }],
    ['of a named host', `host.example.org - - ${when} ${combined}`, { host: 'host.example.org' }],
    ['without size or status', `192.0.2.1 - - ${when} "-" - - "-" "-"`, { agent: '-' }],
    ['with an empty request', `192.0.2.1 - - ${when} "" 400 0 "-" "-"`, { agent: '-' }],
    [
      'with quotes in its fields',
      `192.0.2.1 - - ${when} "GET /\\"a\\" HTTP/1.1" 200 5 "-" "a \\"b\\" \\\\"`,
      { agent: 'a \\"b\\" \\\\' },
    ],
    [
      'with escaped bytes',
      `192.0.2.1 - - ${when} "\\x16\\x03\\x01" 400 226 "-" "\\xe9"`,
      { agent: '\\xe9' },
    ],
    [
      'with raw bytes',
      `192.0.2.1 - - ${when} "GET /\xff" 400 0 "-" "\xe9\x85"`,
      { agent: '\xe9\x85' },
    ],
    ['with more fields', `192.0.2.1 - - ${when} ${combined} 0.012 "x"`, { agent: 'curl/8.0' }],
    ['with a bracket in the request', `192.0.2.1 - - ${when} "GET /[a] ${when} x" 200 5`, {}],
    ['with a nameless host', `- - - ${when} ${combined}`, { host: '-' }],
  ];
  for (const [name, line, fields] of lines) {
    test(name, () => {
      const { host = '192.0.2.1', user = '-', agent } = fields;
      const parsed = parseLogLine(line);
      assert.deepEqual(parsed, { host, user, agent: agent ?? parsed.agent, seconds });
    });
  }

  const none = [
    ['prose', 'hello', /^no time/],
    ['JSON', '{"host":"192.0.2.1","time":"17/May/2015:10:05:03 +0000"}', /^no time/],
    ['a time that is none', `192.0.2.1 - - [31/Apr/2015:10:05:03 +0000] ${combined}`, /31\/Apr/],
    ['no user', `192.0.2.1 - ${when} ${combined}`, /^no host, ident and user/],
    ['a request that is cut off', `192.0.2.1 - - ${when} "GET /`, /^no "request"/],
    [
      'a request that ends in a backslash',
      `192.0.2.1 - - ${when} "GET /\\" 200 5`,
      /^no "request"/,
    ],
    ['no status', `192.0.2.1 - - ${when} "GET / HTTP/1.1"`, /^no "request"/],
    ['a status in words', `192.0.2.1 - - ${when} "GET / HTTP/1.1" OK 5`, /^no "request"/],
  ];
  for (const [name, line, reason] of none) {
    test(`none: ${name}`, () => assert.match(parseLogLine(line), reason));
  }

  test('of nothing but escapes, as long as lines get', () => {
    const escapes = '\\"'.repeat(120_000);
    const parsed = parseLogLine(`192.0.2.1 - - ${when} "${escapes}" 200 5 "-" "a"`);
    assert.equal(parsed.agent, 'a');
    assert.match(parseLogLine(`192.0.2.1 - - ${when} "${escapes} 200 5`), /^no "request"/);
  });
});

describe('splitting into lines', () => {
  /** @param {Buffer[]} chunks */
  function split(chunks, maxBytes = 8) {
    const lines = [];
    const splitter = new LineSplitter(maxBytes, (line, cutOff) => {
      lines.push(cutOff ? `${line}…` : line);
    });
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  }

  const texts = [
    ['a\nbc\n', ['a', 'bc']],
    ['a\nbc', ['a', 'bc']],
    ['a\r\n\r\n\nb\r\n', ['a', '', '', 'b']],
    ['', []],
    ['\n', ['']],
    ['12345678\n123456789\n1234567890123\nx\n', ['12345678', '12345678…', '12345678…', 'x']],
    ['12345678\r\n123456789', ['12345678', '12345678…']],
    ['\xe9\xff\n', ['\xe9\xff']],
  ];
  for (const [text, lines] of texts) {
    test(`${JSON.stringify(text)}, however it arrives`, () => {
      const bytes = Buffer.from(text, 'latin1');
      for (let size = 1; size <= bytes.length + 1; size++) {
        const chunks = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        assert.deepEqual(split(chunks), lines, `in chunks of ${size}`);
      }
    });
  }
});

describe('putting in order by time', () => {
  /**
   * @param {[client: string, seconds: number][]} requests
   * @param {number} windowSeconds
   */
  function order(requests, windowSeconds) {
    const ordered = [];
    const timeOrder = new TimeOrder(windowSeconds, (client, seconds) => {
      ordered.push(`${client}@${seconds}`);
    });
    for (const [client, seconds] of requests) timeOrder.add({ client, seconds });
    timeOrder.end();
    return {
      ordered: ordered.join(' '),
      late: timeOrder.late,
      maxLateSeconds: timeOrder.maxLateSeconds,
    };
  }

  test('sorts within the window, those of one second in the order read', () => {
    const requests = [
      ['a', 5],
      ['b', 3],
      ['c', 5],
      ['d', 4],
      ['e', 3],
      ['f', 9],
      ['g', 4],
    ];
    assert.deepEqual(order(requests, 5), {
      ordered: 'b@3 e@3 d@4 g@4 a@5 c@5 f@9',
      late: 0,
      maxLateSeconds: 0,
    });
  });

  test('judges what comes too late at the time reached, and counts it', () => {
    const requests = [
      ['a', 10],
      ['b', 20],
      ['c', 7],
      ['d', 10],
      ['e', 12],
      ['f', 15],
    ];
    assert.deepEqual(order(requests, 5), {
      ordered: 'a@10 c@10 d@10 e@12 f@15 b@20',
      late: 1,
      maxLateSeconds: 3,
    });
  });

  test('keeps the order read without a window', () => {
    const requests = [
      ['a', 2],
      ['b', 1],
      ['c', 2],
      ['d', 3],
    ];
    assert.deepEqual(order(requests, 0), {
      ordered: 'a@2 b@2 c@2 d@3',
      late: 1,
      maxLateSeconds: 1,
    });
  });

  test('one line from the future does not make all others late', () => {
    const requests = [
      ['a', 1],
      ['z', 1e9],
      ['b', 2],
      ['c', 3],
    ];
    assert.deepEqual(order(requests, 5), {
      ordered: 'a@1 b@2 c@3 z@1000000000',
      late: 0,
      maxLateSeconds: 0,
    });
  });

  test('lets the oldest second go when too many wait', () => {
    let letGo = 0;
    const timeOrder = new TimeOrder(60, () => letGo++);
    for (let n = 0; n < 300_000; n++) timeOrder.add({ client: 'a', seconds: n % 50 });
    assert.ok(letGo >= 200_000, `${letGo} let go`);
    timeOrder.end();
    assert.equal(letGo, 300_000);
  });
});

describe('counting clients in bounded memory', () => {
  const admitted = { allowed: true, tier: null, fallback: 'no-tier', reason: 'ok' };
  const denied = { ...admitted, allowed: false, reason: 'exhausted' };

  /** @param {Tally} tally */
  const rows = (tally) =>
    tally.mostLimited(Infinity).map((row) => [row.client, row.admitted, row.denied, row.exact]);

  test('keeps the most limited ones, and says what may be missing', () => {
    const tally = new Tally(4);
    const requests = ['a-', 'a-', 'a-', 'b-', 'b+', 'c+', 'c+', 'd+', 'e+', 'b-', 'd+', 'd-'];
    for (const [client, sign] of requests) tally.count(client, sign === '+' ? admitted : denied);
    // e did not fit beside a, b, c and d: c and d were dropped. d came back.
    assert.deepEqual(rows(tally), [
      ['a', 0, 3, true],
      ['b', 1, 2, true],
      ['d', 1, 1, false],
      ['e', 1, 0, false],
    ]);
    assert.equal(tally.forgottenClients, 2);
    assert.equal(tally.deniedMissedAtMost, 0);
    assert.equal(tally.clientCount, null);
    assert.equal(tally.admitted, 6);
    assert.equal(tally.denied, 6);
    // f makes room again: d, with a denial, and e go.
    tally.count('f', denied);
    assert.equal(tally.deniedMissedAtMost, 1);
    assert.deepEqual(tally.tiers(), [
      { tier: null, fallback: 'no-tier', admitted: 6, denied: 7, clients: null },
    ]);
  });

  test('is exact as long as they fit', () => {
    const tally = new Tally(4);
    for (const client of 'abcdabab') tally.count(client, admitted);
    assert.equal(tally.clientCount, 4);
    assert.ok(rows(tally).every(([, , , exact]) => exact));
  });
});

describe('the timeline', () => {
  test('groups into readable widths, empty ones included', () => {
    const timeline = new Timeline();
    for (const seconds of [7200, 7201, 10_801, 18_000]) timeline.count(seconds, seconds !== 7201);
    assert.deepEqual(timeline.rows(4), {
      bucketSeconds: 3600,
      buckets: [
        { startSeconds: 7200, admitted: 1, denied: 1 },
        { startSeconds: 10_800, admitted: 1, denied: 0 },
        { startSeconds: 14_400, admitted: 0, denied: 0 },
        { startSeconds: 18_000, admitted: 1, denied: 0 },
      ],
    });
    assert.equal(timeline.rows(24).bucketSeconds, 600);
  });

  test('loses no request, however long the log', () => {
    const timeline = new Timeline();
    const years = 284 * 365 * 86400;
    const count = 50_000;
    for (let n = 0; n < count; n++) timeline.count(Math.floor((n / count) * years), n % 3 > 0);
    const { bucketSeconds, buckets } = timeline.rows(24);
    assert.ok(buckets.length <= 24);
    assert.equal(buckets[0].startSeconds, 0);
    assert.equal(buckets[1].startSeconds, bucketSeconds);
    const sum = (field) => buckets.reduce((total, bucket) => total + bucket[field], 0);
    assert.equal(sum('denied'), Math.ceil(count / 3));
    assert.equal(sum('admitted') + sum('denied'), count);
  });

  test('is empty without requests', () => {
    assert.deepEqual(new Timeline().rows(24).buckets, []);
  });
});

describe('the plot', () => {
  const buckets = [
    { startSeconds: 0, admitted: 100, denied: 100 },
    { startSeconds: 60, admitted: 100, denied: 0 },
    { startSeconds: 120, admitted: 0, denied: 0 },
    { startSeconds: 180, admitted: 199, denied: 1 },
    { startSeconds: 240, admitted: 1, denied: 0 },
  ];

  for (const width of [60, 80, 200]) {
    test(`stacks denied on admitted, in ${width} columns`, () => {
      const lines = plot({ bucketSeconds: 60, buckets }, { width, color: false });
      assert.equal(Math.max(...lines.map((line) => line.length)), width);
      const bars = lines.slice(-5).map((line) => line.replace(/[^▏▎▍▌▋▊▉█▒]/g, ''));
      const full = bars[0].length;
      assert.match(bars[0], /^(█+)▒+$/);
      assert.equal(bars[0].indexOf('▒'), Math.round(full / 2));
      assert.match(bars[1], /^█+[▏▎▍▌▋▊▉]?$/);
      assert.equal(bars[1].length, Math.ceil(full / 2));
      assert.equal(bars[2], '');
      assert.equal(bars[3], `${'█'.repeat(full - 1)}▒`);
      assert.equal(bars[4].length, 1);
    });
  }

  test('has colours where they are wanted, and is the same without them', () => {
    const terminal = { width: 80, color: true };
    const colored = plot({ bucketSeconds: 60, buckets }, terminal).join('\n');
    const plain = plot({ bucketSeconds: 60, buckets }, { ...terminal, color: false }).join('\n');
    assert.notEqual(colored, plain);
    assert.equal(colored.replace(/\x1b\[\d+m/g, ''), plain);
  });
});

describe('the progress line', () => {
  /** @param {boolean} isTTY */
  function terminal(isTTY) {
    const written = [];
    return { isTTY, write: (text) => written.push(text), written };
  }

  test('appears on a terminal after a while, and is wiped', () => {
    let nowMs = 0;
    const screen = terminal(true);
    const progress = new Progress(screen, 1000, () => nowMs);
    progress.update({ lines: 10, bytes: 1 });
    assert.deepEqual(screen.written, []);
    nowMs = 1000;
    progress.update({ lines: 12_345, bytes: 420 });
    progress.update({ lines: 12_346, bytes: 421 });
    assert.deepEqual(screen.written, ['\r12,345 lines, 42 %\x1b[K']);
    progress.end();
    assert.equal(screen.written.at(-1), '\r\x1b[K');
  });

  test('leaves anything else alone', () => {
    let nowMs = 0;
    const file = terminal(false);
    const progress = new Progress(file, null, () => nowMs);
    nowMs = 1e6;
    progress.update({ lines: 1, bytes: 1 });
    progress.end();
    assert.deepEqual(file.written, []);
  });
});

describe('tiers by rule', () => {
  const rules = new TierRules(
    [
      ...['10.1.0.0/16=pro', '10.0.0.0/8=free', '2001:db8::/32=pro', '10.1.2.3=enterprise'],
      ...['a=b=gold', 'x/24=odd'],
    ],
    'rest',
  );
  const clients = [
    ['10.1.2.3', 'enterprise'],
    ['10.1.2.4', 'pro'],
    ['10.2.0.1', 'free'],
    ['11.0.0.1', 'rest'],
    ['2001:db8:1::9', 'pro'],
    ['2001:db9::9', 'rest'],
    ['::ffff:10.1.2.4', 'pro'],
    ['a=b', 'gold'],
    ['x/24', 'odd'],
    ['toString', 'rest'],
  ];
  for (const [client, tier] of clients) {
    test(`${client} is ${tier}`, () => assert.equal(rules.tierOf(client), tier));
  }

  test('say nothing of others unless asked to', () => {
    assert.equal(new TierRules(['a=pro']).tierOf('b'), undefined);
  });

  for (const assignment of ['a', '=pro', 'a=', '10.0.0.0/33=pro', '2001:db8::/129=pro']) {
    test(`'${assignment}' is refused`, () => {
      assert.throws(() => new TierRules([assignment]), { name: 'UsageError' });
    });
  }
});
