// What users copy out of README.md into a new project of whatever runtime they have.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { at } from '../../../js/scripts/project.js';

const page = readFileSync(at('README.md'), 'utf8');

/**
 * The six lines that limit requests: the program below "Install". It exports `handle`, from Request to Response, and lets
 * a client that names itself by `x-api-key` have five at once.
 */
export function sixLines() {
  const [, code] = /^## Install\n.*?^```js\n(.*?)^```$/ms.exec(page) ?? [];
  assert.equal(code?.split('\n').filter(Boolean).length, 6, 'README.md has six lines that limit');
  return code;
}

/**
 * The first program with output, and the output that the page promises.
 * @returns {{ code: string, output: string }}
 */
export function firstExample() {
  const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  const at = blocks.findIndex(([, language]) => language === 'text');
  assert.equal(blocks[at - 1]?.[1], 'js', 'README.md has a program with its output behind it');
  const [code, output] = [blocks[at - 1][2], blocks[at][2]];
  assert.match(code, /from 'tierlimit'/);
  return { code, output };
}

/**
 * Fails unless two outputs are the same but for how a runtime shows an object: on one line or on several, with these
 * quotes or those, with a comma at the end or without.
 * @param {string} actual
 * @param {string} expected
 */
export function sameOutput(actual, expected) {
  const plain = (/** @type {string} */ text) =>
    text
      .replaceAll('"', "'")
      .replaceAll(/,(?=\s*[}\]])/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
  assert.equal(plain(actual), plain(expected), actual);
}
