/**
 * The WebAssembly module: made here, for whichever limiters use it.
 * @module
 */

import create, { build } from '../dist/glue.js';
import { check, kindOf } from './errors.js';
import { HotPath } from './hot-path.js';

/** @import { CoreModule } from './core-types.js' */

/**
 * An instance of its own, from what a runtime or a caller gives.
 *
 * @param {unknown} wasm a WebAssembly.Module, or the bytes of one where compiling is allowed
 */
export function coreFrom(wasm) {
  const isModule = kindOf(wasm) === 'WebAssembly.Module';
  const module = /** @type {WebAssembly.Module} */ (isModule ? wasm : compile(bytesOf(wasm)));
  return new HotPath(instantiate(module));
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
    const [Kind, advice] = WebAssembly.validate(bytes)
      ? [
          Error,
          "; a Content-Security-Policy needs 'wasm-unsafe-eval' in its script-src, and where nothing can be compiled " +
            'tierlimit/core.wasm is for tierlimit/slim',
        ]
      : [TypeError, ''];
    throw new Kind(`WebAssembly cannot be compiled: ${error.message}${advice}`, { cause: error });
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
  check(found === build, 'module', `core.wasm of this copy of tierlimit, build ${build}`, found);
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
  return name && String.fromCharCode(...new Uint8Array(name));
}

/**
 * @param {unknown} value
 * @returns {BufferSource}
 */
function bytesOf(value) {
  if (kindOf(value) === 'ArrayBuffer') return /** @type {ArrayBuffer} */ (value);
  const rule = 'a WebAssembly.Module (await WebAssembly.compileStreaming(response)) or its bytes';
  check(ArrayBuffer.isView(value), 'module', rule, value);
  // V8 compiles no DataView.
  const { buffer, byteOffset, byteLength } = value;
  return new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength);
}
