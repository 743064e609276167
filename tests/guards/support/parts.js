// What each part of core.wasm costs: node tests/guards/support/parts.js, after a build.
//
// Links the module once more, with the names of its functions and without the optimizer that merges them afterwards, and
// puts them into groups. Gzipped is what the module gets smaller by without the group, so that the groups add up to a
// little less than the whole; the percentages are good for the shipped module too, which is some 10% smaller.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const tree = fileURLToPath(new URL('../../../.build/wasm/', import.meta.url));

/** The first that fits counts. @type {[group: string, name: RegExp][]} */
const groups = [
  ['reading JSON (RapidJSON and the document made of it)', /rapidjson|\bjson::|sift_down|utf8::/],
  [
    'exact arithmetic of limits',
    /Decimal|Natural|Fraction|make_limit|fit|nearest_double|simplest|closest|__multi3/,
  ],
  [
    'checking what a document says, and errors with places',
    /Reader|read_policies|Report|PolicySet|advance\(|Excerpt|Error/,
  ],
  ['hot path', /^tierlimit_|client_of|bindings::ask|SipHash|Fingerprint::of|wait_ms|in_ms/],
  ['embind: class, methods and their results', /bindings::|emscripten::/],
  [
    'deciding, sweeping, evicting; the table',
    /FingerprintTable|::(decide|admit|sweep|earliest|foresee|room_for_new|first_to_go|time_to_full|balance_under|use|forget|forget_full|state_under|given_away)\(|move_balance|time_until/,
  ],
  ['putting policies and assignments in force', /TierLimiter|TierDirectory|Assignments/],
  ['memory', /alloc|^free$|Heap|memory_available/],
  ['strings and vectors', /std::|^mem|^str/],
];

/** @param {Uint8Array} bytes */
const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

/**
 * @typedef {object} Part a function, or the data
 * @property {string} name
 * @property {number} begin
 * @property {number} end
 */

/**
 * @param {Buffer} wasm
 * @returns {{ module: Buffer, parts: Part[] }} the module without its names
 */
function read(wasm) {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const text = () => {
    const size = number();
    at += size;
    return wasm.toString('latin1', at - size, at);
  };
  /** @type {Part[]} */
  const parts = [];
  /** @type {Map<number, string>} */
  const names = new Map();
  let imports = 0;
  const kept = [wasm.subarray(0, 8)];
  let removed = 0;
  while (at < wasm.length) {
    const start = at;
    const id = wasm[at++];
    const size = number();
    const end = at + size;
    if (id === 0) {
      if (text() === 'name') {
        while (at < end) {
          const kind = wasm[at++];
          const next = number() + at;
          if (kind === 1)
            for (let left = number(); left > 0; left -= 1) names.set(number(), text());
          at = next;
        }
      }
      removed += end - start;
    } else {
      kept.push(wasm.subarray(start, end));
      if (id === 2) {
        for (imports = number(); at < end; number()) {
          text();
          text();
          at += 1;
        }
      } else if (id === 10) {
        for (let left = number(); left > 0; left -= 1) {
          const bodySize = number();
          parts.push({ name: '', begin: at - removed, end: at - removed + bodySize });
          at += bodySize;
        }
      } else if (id === 11) {
        parts.push({ name: 'data', begin: at - removed, end: end - removed });
      }
    }
    at = end;
  }
  parts.forEach((part, i) => (part.name ||= names.get(i + imports) ?? 'unnamed'));
  return { module: Buffer.concat(kept), parts };
}

/** Links as the build does, to another place. */
function linked() {
  const folder = mkdtempSync(join(tmpdir(), 'tierlimit-parts-'));
  try {
    const commands = execFileSync('ninja', ['-C', tree, '-t', 'commands', 'tierlimit_module'], {
      encoding: 'utf8',
    });
    const link = commands.trim().split('\n').at(-1) ?? '';
    const named = link
      .replace('-o bindings/core.mjs', `-o ${join(folder, 'core.mjs')} --profiling-funcs`)
      .replaceAll(' -Oz -flto', ' -O1 -flto -Wl,--lto-O2,-mllvm,-inline-threshold=-20000');
    execFileSync('sh', ['-c', named], { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] });
    return readFileSync(join(folder, 'core.wasm'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { module, parts } = read(linked());
const whole = gzipped(module);

/** @param {Part[]} some */
function cost(some) {
  let at = 0;
  const rest = [];
  for (const { begin, end } of some) {
    rest.push(module.subarray(at, begin));
    at = end;
  }
  rest.push(module.subarray(at));
  return whole - gzipped(Buffer.concat(rest));
}

/** @type {Map<string, Part[]>} */
const grouped = new Map();
for (const part of parts) {
  const group =
    part.name === 'data'
      ? 'texts and tables'
      : (groups.find(([, name]) => name.test(part.name))?.[0] ?? 'rest');
  grouped.set(group, [...(grouped.get(group) ?? []), part]);
}
const rows = [...grouped].map(([group, members]) => ({
  group,
  bytes: members.reduce((sum, { begin, end }) => sum + end - begin, 0),
  gzipped: cost(members),
}));
const sum = rows.reduce((total, row) => total + row.gzipped, 0);
console.log(`core.wasm with names, not optimized: ${module.length} bytes, ${whole} gzipped\n`);
for (const { group, bytes, gzipped: own } of rows.sort((a, b) => b.gzipped - a.gzipped)) {
  console.log(
    `${String(bytes).padStart(6)}  ${String(own).padStart(6)}  ${((100 * own) / sum).toFixed(0).padStart(3)}%  ${group}`,
  );
}
if (process.argv.includes('--functions')) {
  console.log();
  for (const part of parts.sort((a, b) => b.end - b.begin - (a.end - a.begin))) {
    console.log(
      `${String(part.end - part.begin).padStart(6)}  ${String(cost([part])).padStart(6)}  ${part.name}`,
    );
  }
}
