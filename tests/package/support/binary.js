// Programs that npm brings as packages, one for each kind of machine, of which it installs the one that fits.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { at } from '../../../js/scripts/project.js';

/**
 * @typedef {object} Binary
 * @property {string} path
 * @property {string | false} skip why tests that need it are left out, as an option of theirs
 */

/**
 * Where the program is. Fails when it should be there and is not: npm passes over an optional package that it could
 * not get.
 * @param {object} place
 * @param {string} place.manifest the package.json whose optional dependencies are those packages
 * @param {string} place.modules the folder they are installed in; both from the repository's top folder
 * @param {string} place.prefix of the names of those for this machine
 * @param {string} place.program its path in them
 * @returns {Binary}
 */
export function binaryOf({ manifest, modules, prefix, program }) {
  assert.ok(existsSync(at(manifest)), `npm ci was not run in ${dirname(modules)}`);
  const { optionalDependencies } = JSON.parse(readFileSync(at(manifest), 'utf8'));
  const fitting = Object.keys(optionalDependencies).filter((name) => name.startsWith(prefix));
  if (fitting.length === 0) {
    return { path: '', skip: `npm has no ${prefix}: it has no such program for this machine` };
  }
  const path = fitting.map((name) => at(join(modules, name, program))).find(existsSync);
  assert.ok(path, `none of ${fitting.join(', ')} is in ${modules}: npm ci passed over it`);
  return { path, skip: false };
}

/** How npm's packages call this kind of machine. */
export const machine = `${process.platform}-${process.arch}`;
