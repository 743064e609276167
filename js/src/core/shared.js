/**
 * The one core that all limiters of this copy of the package share, made when the first of them is.
 * @module
 */

import { compiled } from '#core';

import { instantiate } from '../core.js';
import { HotPath } from '../hot-path.js';

/** @type {HotPath | undefined} */
let core;

/** @returns {HotPath} */
export function sharedCore() {
  if (core === undefined || core.module.broken) core = new HotPath(instantiate(compiled()));
  return core;
}
