// What was measured, in Markdown.
import { figures } from './figures.js';
import { ratio, summary } from './statistics.js';

/** @import { Measured } from './main.js' */
/** @import { Result } from './throughput.js' */

/**
 * @param {Measured} measured
 * @returns {string}
 */
export const report = (measured) =>
  [
    '# Benchmark of tierlimit',
    about(measured),
    notes,
    sizes(measured.sizes),
    startup(measured.startup),
    memory(measured.memory),
    growth(measured.growth),
    flood(measured.flood),
    throughput(measured.throughput),
    ownClock(measured.ownClock),
    lengths(measured.lengths),
    native(measured.native),
    reached(measured),
  ]
    .filter(Boolean)
    .join('\n\n');

/**
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 * @param {string} [align] of all columns but the first
 */
const table = (head, rows, align = '--:') =>
  [head, head.map((_, column) => (column === 0 ? '---' : align)), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en');
const digits = (/** @type {number} */ value) => (value < 10 ? value.toFixed(1) : whole(value));

/**
 * The median, and the quartiles around it.
 * @param {number[]} values
 */
function spread(values) {
  const { median, low, high } = summary(values);
  return `${digits(median)} (${digits(low)}–${digits(high)})`;
}

/** @param {Measured} measured */
function about({ machine, command, native: nativePart }) {
  const gigabytes = (machine.memoryBytes / 2 ** 30).toFixed(0);
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  const compilers = Object.values(nativePart?.compilers ?? {});
  const clocks = Object.entries(machine.clocks).map(([name, ns]) => `${name} ${ns.toFixed(0)} ns`);
  return [
    `- ${machine.date}, \`${command}\``,
    `- ${machine.processor}, ${machine.cores} cores${machine.caches ? ` (${machine.caches})` : ''}, ${gigabytes} GiB`,
    `- ${machine.system}`,
    `- Node ${machine.node} (V8 ${machine.v8}), Emscripten ${machine.emscripten ?? 'unknown'}` +
      compilers.map((compiler) => `, ${compiler}`).join(''),
    `- ${packages.join(', ')}`,
    `- reading a clock: ${clocks.join(', ')}; load at the start: ${machine.load.toFixed(1)}`,
  ].join('\n');
}

const notes = `\
- Medians of rounds, with quartiles in parentheses. Within a round every subject does the same requests, one after the
  other in rotating order; a ratio is the median of the ratios within each round. With many clients a turn finds the
  outer caches taken by others, as in a process that does other things between requests.
- Names have 24 characters where nothing else is said. Fresh ones are made just before they are used, as a request delivers them, for each subject
  anew: flat, in the cache, their hash not computed. Interned ones are the same strings every time. Handles are objects
  that lie where they lay when they were made.
- tierlimit, the Map and the native subjects are given the time, which costs nothing to read; \`own clock\` is tierlimit
  with the one that it has by default, performance.now(). npm's limiters read that or Date.now() themselves. The time
  given in JavaScript is milliseconds since the start, as small integers: the Map is a little faster by it, and takes 16
  bytes a client less, than by milliseconds since 1970.
- The Map and unordered_map check no argument, bound no memory and forget nobody. unordered_map is asked by string_view,
  with a hash of its own, and by string, whose hashes GNU's library keeps. limiter is a Map of its TokenBuckets.
  rate-limiter-flexible (without its prefix for keys) and express-rate-limit's MemoryStore count requests in fixed
  windows; their promises are awaited.`;

/** @param {Measured['sizes']} sizes */
const sizes = (sizes) =>
  sizes &&
  `## Sizes in bytes\n\n${table(
    ['', 'raw', 'gzipped'],
    sizes.map(({ what, raw, gzipped }) => [what, whole(raw), whole(gzipped)]),
  )}`;

/** @param {Measured['startup']} startup */
const startup = (startup) =>
  startup &&
  `## From import to the first decision, in a fresh process (ms)\n\n${table(
    ['', 'import and first decision', 'against limiter', 'whole process'],
    Object.entries(startup).map(([name, it]) => [
      name,
      spread(it.decision),
      ratio(it.decision, startup.limiter.decision).median.toFixed(2),
      spread(it.process),
    ]),
  )}`;

/** @param {Measured['memory']} memory */
const memory = (memory) =>
  memory &&
  `## Memory at ${whole(memory[0].clients)} clients (bytes per client)\n\n${table(
    ['', 'linear memory', 'heap', 'resident'],
    memory.map(({ name, clients, linear, heap, resident }) => [
      name,
      ...[linear, heap, resident].map((bytes) => (bytes / clients).toFixed(1)),
    ]),
  )}\n\nEvery subject in a process of its own, after a collection. The heap holds the names, which tierlimit drops.`;

/** @param {Measured['growth']} growth */
const growth = (growth) =>
  growth &&
  `## Single calls while growing from 0 to ${whole(growth.clients)} clients (ns)\n\n${table(
    ['', 'median', '99.99 %', 'slowest', 'slowest of each run'],
    Object.entries(growth.runs).map(([name, runs]) => [
      name,
      spread(runs.median),
      spread(runs.p9999),
      spread(runs.slowest),
      runs.slowest.map(whole).join(' '),
    ]),
  )}\n\nMedians of ${growth.runs.Map.slowest.length} runs. Each call is timed alone, by one more reading of performance.now().`;

/** @param {Measured['flood']} flood */
function flood(flood) {
  if (flood === undefined) return undefined;
  const rows = flood.floods.map(({ maxClients, ns, filledBytes, endBytes, evictions }) => [
    whole(maxClients),
    spread(ns),
    whole(filledBytes),
    whole(endBytes),
    whole(evictions),
  ]);
  const head = ['maxClients', 'ns a call', 'linear memory, filled', 'at the end', 'evictions'];
  const from = whole(2 * Math.max(...flood.floods.map(({ maxClients }) => maxClients)));
  return `## A flood of ${whole(flood.names)} new names\n\n${table(head, rows)}

The calls counted are those after the first ${from} names: from there on every table is full.`;
}

/** @param {Measured['throughput']} results */
function throughput(results) {
  if (results === undefined) return undefined;
  const counts = [...new Set(results.map(({ clients }) => clients))];
  return counts
    .map((clients) => {
      const title = `## ${whole(clients)} clients (ns a request)`;
      return `${title}\n\n${workloads(results.filter((it) => it.clients === clients))}`;
    })
    .join('\n\n');
}

/** @param {Measured['ownClock']} results */
const ownClock = (results) =>
  results &&
  `## ${whole(results[0].clients)} clients, tierlimit by the clock that it has by default (ns a request)\n\n${workloads(results)}`;

/** @param {Measured['lengths']} results */
const lengths = (results) =>
  results &&
  `## Fresh names of other lengths, ${whole(results[0].clients)} clients (ns a request)\n\n${table(
    ['', 'allow', 'Map', 'allow against Map'],
    results.map(({ names, ns }) => [
      names,
      spread(ns.allow),
      spread(ns.Map),
      ratio(ns.allow, ns.Map).median.toFixed(2),
    ]),
  )}`;

/** @param {Result[]} results of one number of clients */
function workloads(results) {
  const subjects = [...new Set(results.flatMap(({ ns }) => Object.keys(ns)))];
  return table(
    ['', ...results.map(({ names, order, outcome }) => `${names}, ${order}, ${outcome}`)],
    subjects.map((name) => [
      name,
      ...results.map(({ ns }) => (ns[name] === undefined ? '' : spread(ns[name]))),
    ]),
  );
}

/** @param {Measured['native']} native */
function native(native) {
  if (native === undefined) return undefined;
  const missing = native.missing.map((text) => `Not measured: ${text}.`).join('\n');
  const counts = [...new Set(native.results.map(({ clients }) => clients))];
  const tables = counts.map(
    (clients) =>
      `${whole(clients)} clients:\n\n${workloads(native.results.filter((it) => it.clients === clients))}`,
  );
  const go =
    native.compilers.Go &&
    'Go runs in a process of its own, after the others, and draws its requests by its own random numbers.';
  return ['## Native (ns a request)', ...tables, go, missing].filter(Boolean).join('\n\n');
}

/** @param {Measured} measured */
function reached(measured) {
  const rows = figures(measured).map(({ what, against, most, reached: all }) => [
    what,
    against,
    most,
    all
      .map(({ name, text, holds }) => `${name ? `${name} ` : ''}${text} ${holds ? '✓' : '✗'}`)
      .join('; ') || 'not measured',
    all.length === 0 ? '' : all.every(({ holds }) => holds) ? '✓' : '✗',
  ]);
  const all = table(['', 'against', 'at most', 'reached', 'holds'], rows, '---');
  return ['## Figures to reach', all, covered(measured)].filter(Boolean).join('\n\n');
}

/**
 * Which outcomes of requests the figures are of.
 * @param {Measured} measured
 */
function covered({ throughput = [], ownClock = [], native }) {
  const parts = [
    { where: 'in JavaScript', results: [...throughput, ...ownClock] },
    { where: 'natively', results: native?.results ?? [] },
  ]
    .filter(({ results }) => results.length > 0)
    .map(({ where, results }) => {
      const outcomes = new Set(results.map(({ outcome }) => outcome));
      return `; ${where}: ${[...outcomes].join(', ')}`;
    });
  return parts.length === 0 ? '' : `Each is the worst of what was measured${parts.join('')}.`;
}
