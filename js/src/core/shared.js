/**
 * The one core that all limiters of this copy of the package share, made when the first of them is.
 * @module
 */

import { compiled } from '#core';

import { Core, instantiate } from '../core.js';

/** @type {Core | undefined} */
let core;

/** @returns {Core} */
export function sharedCore() {
  if (core === undefined || core.module.broken) core = new Core(instantiate(compiled()));
  return core;
}
