/**
 * The WebAssembly module: made here, for whichever limiters use it.
 * @module
 */

import create, { build } from '../dist/glue.js';
import { HotPath } from './hot-path.js';

/**
 * What the core says about a document, or about one problem of it. Line and column are 0 where there is none.
 *
 * @typedef {{ code: import('./types.js').PolicyProblem['code'], message: string, path: string, line: number,
 *   column: number }} RawProblem
 * @typedef {{ revision: number, errors: RawProblem[], rejected: RawProblem[], warnings: RawProblem[] }} RawReport
 */

/**
 * A limiter of the module's embind surface, which bindings/README.md documents.
 *
 * @typedef {object} BoundLimiter
 * @property {() => number} handle
 * @property {() => RawReport} report
 * @property {(policies: string) => RawReport} setPolicies
 * @property {(a: number, b: number, c: number, d: number) => boolean} seed
 * @property {(client: string, tier: string) => RawProblem | null} setTier
 * @property {(client: string) => RawProblem | null} clearTier
 * @property {(name: string) => number} tier
 * @property {(tier: number) => string | null} tierName
 * @property {() => Omit<import('./types.js').LimiterStats, 'maxClients' | 'clockRegressions' | 'revision'>} stats
 * @property {() => void} delete
 */

/**
 * An instance of the module.
 *
 * @typedef {object} CoreModule
 * @property {new (policies: string, maxClients: number, maxBytes: number, denyWhenFull: boolean, strict: boolean,
 *   sweep: boolean) => BoundLimiter} TierLimiter
 * @property {Uint8Array<ArrayBuffer>} HEAPU8 linear memory as it is now; another one after it has grown
 * @property {unknown} broken what ended a call by an exception: a trap, or the caller's stack running over in the
 *   midst of it. Then every further call throws.
 * @property {(bytes: number) => boolean} _tierlimit_memory
 * @property {() => number} _tierlimit_buffer
 * @property {() => number} _tierlimit_answer
 * @property {(limiter: number, a: number, b: number, c: number, d: number, e: number, f: number) => void}
 *   _tierlimit_begin
 * @property {(limiter: number, bytes: number, first: number, last: number) => number} _tierlimit_text
 * @property {(...client: Client) => number} _tierlimit_fingerprint
 * @property {(...client: Client) => number} _tierlimit_batch
 * @property {(limiter: number, tier: number, cost: number, nowMs: number) => number} _tierlimit_allow_many
 * @property {() => void} _tierlimit_batch_end
 * @property {Ask} _tierlimit_allow
 * @property {(limiter: number, a: number, b: number, c: number, tier: number, cost: number, nowMs: number) => number}
 *   _tierlimit_allow_known
 * @property {Ask} _tierlimit_check
 * @property {Ask} _tierlimit_peek
 */

/**
 * A limiter and a client of it.
 *
 * @typedef {[limiter: number, length: number, a: number, b: number, c: number, d: number, e: number, f: number]} Client
 */

/** @typedef {(...request: [...client: Client, tier: number, cost: number, nowMs: number]) => number} Ask */

/** An instance with its buffers, for any number of limiters. */
export class Core {
  /** @param {CoreModule} module */
  constructor(module) {
    this.module = module;
    this.hotPath = new HotPath(this);
  }
}

/**
 * A core of its own, from what a runtime or a caller gives.
 *
 * @param {unknown} wasm a WebAssembly.Module, or the bytes of one where compiling is allowed
 */
export function coreFrom(wasm) {
  return new Core(instantiate(isModule(wasm) ? wasm : compile(bytesOf(wasm))));
}

/**
 * Compiles, synchronously.
 *
 * @param {BufferSource} bytes
 * @throws {Error} where that is forbidden; it says what to do
 */
export function compile(bytes) {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!WebAssembly.validate(bytes)) {
      throw new TypeError(`the bytes are no WebAssembly module: ${error.message}`, {
        cause: error,
      });
    }
    throw new Error(
      `WebAssembly cannot be compiled here (${error.message}). A Content-Security-Policy must have 'wasm-unsafe-eval' ` +
        'in its script-src. Where a runtime compiles no WebAssembly at run time, import tierlimit/core.wasm and pass ' +
        'it to tierlimit/slim.',
      { cause: error },
    );
  }
}

/**
 * A new instance, synchronously. Nothing is fetched.
 *
 * @param {WebAssembly.Module} wasm
 * @returns {CoreModule}
 */
export function instantiate(wasm) {
  const found = buildOf(wasm);
  if (found !== build) {
    throw new TypeError(
      `the WebAssembly.Module must be the core.wasm of this copy of tierlimit, build ${build}; got build ${found}`,
    );
  }
  // Emscripten makes of this object the module, so it is made anew each time.
  return /** @type {CoreModule} */ (create({ wasm }));
}

/**
 * The build that a module says it is of: the glue calls the module of another by wrong names.
 * @param {WebAssembly.Module} wasm
 */
function buildOf(wasm) {
  // Tests of workers replace WebAssembly.Module by what cannot compile, and by little more.
  if (WebAssembly.Module.customSections === undefined) return build;
  const [name] = WebAssembly.Module.customSections(wasm, 'tierlimit');
  return name === undefined ? 'none' : String.fromCharCode(...new Uint8Array(name));
}

/**
 * By its tag, since a module of another realm (an iframe, a test runner's context) is no instance of this one's class.
 * @param {unknown} value
 * @returns {value is WebAssembly.Module}
 */
const isModule = (value) => tag(value) === 'WebAssembly.Module';

/**
 * @param {unknown} value
 * @returns {BufferSource}
 */
function bytesOf(value) {
  if (tag(value) === 'ArrayBuffer') return /** @type {ArrayBuffer} */ (value);
  if (ArrayBuffer.isView(value)) {
    // V8 compiles no DataView.
    const { buffer, byteOffset, byteLength } = value;
    return new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength);
  }
  throw new TypeError(
    `a WebAssembly.Module or its bytes are needed; got ${tag(value)}. A Response or a promise is to be compiled first: ` +
      'await WebAssembly.compileStreaming(response)',
  );
}

/** @param {unknown} value */
const tag = (value) => Object.prototype.toString.call(value).slice(8, -1);
