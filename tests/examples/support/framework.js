// Examples of frameworks, which are installed for the tests of the adapters too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { at } from '../../../js/scripts/project.js';

/**
 * Fails unless an example asks for the versions that it is tried with.
 * @param {string} name of its folder
 */
export function testVersions(name) {
  test(`${name}: the example asks for what it is tried with`, () => {
    const { dependencies } = readJson(`js/examples/${name}/package.json`);
    const { tierlimit, ...others } = dependencies;
    assert.equal(tierlimit, `^${readJson('package.json').version}`);
    const { packages } = readJson('tests/http/packages/package-lock.json');
    const versions = new Map();
    for (const [path, about] of Object.entries(packages)) {
      // The last one of a name is the newest: express4, express5.
      versions.set(about.name ?? path.replace(/^.*node_modules\//, ''), about.version);
    }
    for (const [dependency, range] of Object.entries(others)) {
      assert.equal(range, `^${versions.get(dependency)}`, dependency);
    }
    assert.ok(Object.keys(others).length > 0);
  });
}

const readJson = (/** @type {string} */ path) => JSON.parse(readFileSync(at(path), 'utf8'));
