/**
 * `#core` where nothing else is known to work: the bytes are in the code and are compiled at first use.
 * @module
 */

import { bytes } from '../../dist/bytes.js';
import { compile } from '../core.js';

/** @type {WebAssembly.Module | undefined} */
let module;

export function compiled() {
  // A failure is not kept: what forbade it may be gone the next time.
  module ??= compile(bytes());
  return module;
}
