// The module as it is shipped, with every load, store, call and turn of a loop counted: Binaryen's wasm-opt, which comes
// with Emscripten, rewrites it so that it tells of them by calls of functions that it imports.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { withModule } from 'tierlimit/slim';

import { findEmscripten } from '../../../js/scripts/emscripten.js';
import { run, which } from '../../../js/scripts/run.js';

/** Of what WebAssembly had no part at first, what compilers have come to use. */
const features = [
  '--enable-sign-ext',
  '--enable-mutable-globals',
  '--enable-nontrapping-float-to-int',
  '--enable-bulk-memory',
  '--enable-multivalue',
  '--enable-reference-types',
];

/**
 * The wasm-opt of the Emscripten that builds the module, or another one.
 * @returns {Promise<string | null>}
 */
async function findWasmOpt() {
  const emscripten = await findEmscripten();
  if (typeof emscripten !== 'string') {
    const { folder, env } = emscripten;
    const { status, output } = await run(join(folder, 'em-config'), ['BINARYEN_ROOT'], { env });
    const path = join(output.trim(), 'bin/wasm-opt');
    if (status === 0 && existsSync(path)) return path;
  }
  return which('wasm-opt');
}

/**
 * What the module has done.
 * @typedef {object} Counts
 * @property {number} accesses loads from memory and stores to it
 * @property {number} steps calls of functions and returns from them, and turns of loops
 */

/**
 * The limiter over an instance that counts.
 *
 * @typedef {object} Instrumented
 * @property {import('../../../js/src/slim.js').LimiterClass} TierLimiter
 * @property {Readonly<Counts>} counts up to now
 */

/**
 * @returns {Promise<Instrumented | null>} null where there is no wasm-opt
 * @throws {Error} when it does not work
 */
export async function instrumented() {
  const wasmOpt = await findWasmOpt();
  if (wasmOpt === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'tierlimit-instrumented-'));
  try {
    const shipped = fileURLToPath(import.meta.resolve('tierlimit/core.wasm'));
    const output = join(folder, 'core.wasm');
    const args = [...features, '--instrument-memory', '--log-execution', shipped, '-o', output];
    const { status, stderr, error } = spawnSync(wasmOpt, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${wasmOpt} failed: ${error ?? ''}\n${stderr}`);
    return counting(new WebAssembly.Module(readFileSync(output)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {WebAssembly.Module} module
 * @returns {Instrumented}
 */
function counting(module) {
  const counts = { accesses: 0, steps: 0 };
  /**
   * What the module calls before it accesses memory; the last argument is the address, which it goes on with.
   * @param {unknown} _id
   * @param {number} _bytes
   * @param {number} _offset
   * @param {unknown} address
   */
  const access = (_id, _bytes, _offset, address) => {
    counts.accesses += 1;
    return address;
  };
  const step = () => {
    counts.steps += 1;
  };
  /** Told of each value that it loads or stores, which it goes on with. */
  const value = (/** @type {unknown} */ _id, /** @type {unknown} */ value) => value;

  /** @type {Record<string, Record<string, Function>>} */
  const added = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    const call = { load_ptr: access, store_ptr: access, log_execution: step }[name];
    if (call !== undefined || /^(load|store)_val_/.test(name)) {
      (added[from] ??= {})[name] = call ?? value;
    }
  }
  // The imports are handed in by generated code, which knows nothing of these.
  const { Instance } = WebAssembly;
  WebAssembly.Instance = /** @type {any} */ (
    function (/** @type {WebAssembly.Module} */ module, /** @type {any} */ imports) {
      const all = { ...imports };
      for (const [from, functions] of Object.entries(added)) {
        all[from] = { ...all[from], ...functions };
      }
      return new Instance(module, all);
    }
  );
  try {
    return { ...withModule(module), counts };
  } finally {
    WebAssembly.Instance = Instance;
  }
}
