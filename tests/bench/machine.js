// What the figures were measured on and with.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

import { findEmscripten } from '../../js/scripts/emscripten.js';
import { at } from '../../js/scripts/project.js';

const version = (/** @type {string} */ folder) =>
  JSON.parse(readFileSync(at(folder, 'package.json'), 'utf8')).version;

/** What Linux says of the first processor's caches. */
function caches() {
  const folder = '/sys/devices/system/cpu/cpu0/cache';
  if (!existsSync(folder)) return null;
  const read = (/** @type {string} */ path) => readFileSync(`${folder}/${path}`, 'utf8').trim();
  return readdirSync(folder)
    .filter((name) => /^index\d+$/.test(name))
    .map((name) => ({
      level: read(`${name}/level`),
      kind: read(`${name}/type`),
      size: read(`${name}/size`),
    }))
    .filter(({ kind }) => kind !== 'Instruction')
    .map(({ level, size }) => `L${level} ${size}`)
    .join(', ');
}

function distribution() {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** The time that one reading takes, in nanoseconds. */
function readingNs(/** @type {() => number} */ read) {
  const count = 1e6;
  let sum = 0;
  for (let i = 0; i < count; i += 1) sum += read();
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i += 1) sum += read();
  const end = process.hrtime.bigint();
  return sum > 0 ? Number(end - start) / count : NaN;
}

/** @typedef {Awaited<ReturnType<typeof machine>>} Machine */

export async function machine() {
  const emscripten = await findEmscripten();
  return {
    date: new Date().toISOString(),
    processor: cpus()[0]?.model ?? process.arch,
    cores: availableParallelism(),
    caches: caches(),
    memoryBytes: totalmem(),
    load: loadavg()[0],
    system: [distribution(), `${type()} ${release()}`, process.arch].filter(Boolean).join(', '),
    node: process.version,
    v8: process.versions.v8,
    emscripten: typeof emscripten === 'string' ? null : emscripten.version,
    packages: {
      tierlimit: version('.'),
      ...Object.fromEntries(
        ['limiter', 'rate-limiter-flexible', 'express-rate-limit', 'esbuild'].map((name) => [
          name,
          version(`tests/bench/node_modules/${name}`),
        ]),
      ),
    },
    clocks: {
      'performance.now()': readingNs(() => performance.now()),
      'Date.now()': readingNs(() => Date.now()),
    },
  };
}
