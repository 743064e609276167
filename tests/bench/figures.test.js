import assert from 'node:assert/strict';
import { test } from 'node:test';

import { figures } from './figures.js';
import { report } from './report.js';

const machine = {
  date: '2001-01-01T00:00:00.000Z',
  processor: 'abacus',
  cores: 1,
  caches: null,
  memoryBytes: 2 ** 30,
  load: 0,
  system: 'sand',
  node: 'v20.19.0',
  v8: '11.3',
  emscripten: null,
  packages: { tierlimit: '0.1.0' },
  clocks: { 'performance.now()': 50 },
};
const start = (ms) => ({ decision: [ms, ms, ms], process: [50, 50, 50] });

/** Workloads of so many clients, on each of which `allow` takes what is given for it. */
const workloads = (clients, admitted, denied) =>
  ['uniform', 'zipf'].flatMap((order) =>
    Object.entries({ admitted, denied }).map(([outcome, allow]) => ({
      clients,
      outcome,
      order,
      names: 'fresh',
      ns: {
        allow,
        'allow, own clock': allow,
        check: allow.map((ns) => ns * 2),
        Map: [100, 100, 100],
        limiter: [100, 100, 100],
        'rate-limiter-flexible': [200, 200, 200],
        'express-rate-limit': [50, 50, 50],
      },
    })),
  );

const measured = {
  machine,
  command: 'npm run bench',
  throughput: [
    ...workloads(1000, [50, 60, 60], [59, 60, 70]),
    ...workloads(100_000, [10, 10, 10], [10, 10, 10]),
    ...workloads(1_000_000, [30, 30, 30], [30, 41, 41]),
  ],
  ownClock: workloads(100_000, [25, 25, 25], [20, 20, 20]),
  memory: [
    { name: 'allow', clients: 10, linear: 500, heap: 0, resident: 500 },
    { name: 'Map', clients: 10, linear: 0, heap: 1000, resident: 2000 },
  ],
  growth: {
    clients: 10,
    runs: {
      tierlimit: { median: [1], p9999: [2], slowest: [5, 9, 1000] },
      Map: { median: [1], p9999: [2], slowest: [100, 90, 80] },
    },
  },
  startup: { tierlimit: start(20), 'tierlimit/slim': start(21), limiter: start(10) },
  flood: {
    names: 30,
    floods: [
      { maxClients: 1, ns: [12, 12], filledBytes: 64, endBytes: 65, evictions: 1 },
      { maxClients: 9, ns: [10, 10], filledBytes: 64, endBytes: 64, evictions: 1 },
    ],
  },
};

const found = (what) => {
  const figure = figures(measured).find((it) => it.what.includes(what));
  return figure.reached.map(({ name, text, holds }) => `${name} ${text} ${holds}`.trim());
};

test('a figure is that of the worst case, and holds when it is as it should be at the most', () => {
  assert.deepEqual(found('1 thousand clients'), ['uniform 0.60 true', 'Zipf 0.60 true']);
  assert.deepEqual(found('1 million clients'), ['uniform 0.41 false', 'Zipf 0.41 false']);
  assert.deepEqual(found('100 thousand clients'), [
    'uniform (express-rate-limit) 0.20 true',
    'Zipf (express-rate-limit) 0.20 true',
    'uniform (express-rate-limit), own clock 0.50 false',
    'Zipf (express-rate-limit), own clock 0.50 false',
  ]);
  assert.deepEqual(found('check')[0], '1,000 clients 2.00 true');
  assert.deepEqual(found('linear memory'), ['0.50 false', 'bytes 50.0 true']);
  assert.deepEqual(found('slowest call'), ['0.10 true']);
  assert.deepEqual(found('first decision'), ['2.00 true', 'slim 2.10 false']);
  assert.deepEqual(found('flood'), [
    '1.20 true',
    'memory at 1 grown by 1 bytes false',
    'memory at 9 grown by 0 bytes true',
  ]);
});

test('a ratio is judged as it is, and printed so that one sees which side of the limit it is on', () => {
  const reached = (allow) =>
    figures({ machine, command: '', throughput: workloads(1000, [allow], [1]) })[0].reached[0];
  assert.deepEqual(
    [60, 60.04, 60.4, 59.96, 61].map((allow) => [reached(allow).text, reached(allow).holds]),
    [
      ['0.60', true],
      ['0.6004', false],
      ['0.604', false],
      ['0.60', true],
      ['0.61', false],
    ],
  );
});

test('a report says which outcomes it is the worst of', () => {
  const throughput = workloads(1000, [1], [1]);
  const admitted = throughput.filter(({ outcome }) => outcome === 'admitted');
  const native = { results: throughput, compilers: { Go: 'go1' }, missing: [] };
  const last = (more) =>
    report({ machine, command: '', ...more })
      .split('\n')
      .at(-1);
  assert.equal(last({}).includes('worst'), false);
  assert.equal(
    last({ throughput }),
    'Each is the worst of what was measured; in JavaScript: admitted, denied.',
  );
  assert.equal(
    last({ throughput: admitted, native }),
    'Each is the worst of what was measured; in JavaScript: admitted; natively: admitted, denied.',
  );
});

test('what was not measured is not said to hold', () => {
  assert.deepEqual(found('handle'), []);
  assert.deepEqual(
    figures({ machine, command: '' }).flatMap(({ reached }) => reached),
    [],
  );
  const lines = report({ machine, command: '' }).split('\n');
  assert.equal(lines.filter((line) => line.endsWith('| not measured |  |')).length, 10);
});

test('a report has a row for each subject and a verdict for each figure', () => {
  const text = report(measured);
  assert.match(text, /^\| Map \| 100 \(100–100\) \|/m);
  assert.match(text, /0\.60 \| uniform 0\.60 ✓; Zipf 0\.60 ✓ \| ✓ \|$/m);
  assert.match(text, /uniform 0\.41 ✗; Zipf 0\.41 ✗ \| ✗ \|$/m);
  // The sum of columns is the same in all rows of a table.
  for (const table of text.matchAll(/(^\|.*\|\n)+/gm)) {
    const counts = new Set(
      table[0]
        .trim()
        .split('\n')
        .map((row) => row.split(' | ').length),
    );
    assert.equal(counts.size, 1, table[0]);
  }
});
