import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { runScript } from './support/child.js';

/** Programs of a page with the output that the page promises: a `js` block with a `text` block behind it. */
function examples(page) {
  const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, language, code], i) => {
    if (language !== 'js') return [];
    // What prints nothing has nothing behind it: tests/runtime/readme/ runs it.
    if (!code.includes('console.log')) return [];
    const next = blocks[i + 1];
    return [{ code, output: next?.[1] === 'text' ? next[2] : undefined }];
  });
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

test('README.md has examples', () => {
  assert.ok(examples(readme).length >= 3);
});

examples(readme).forEach(({ code, output }, i) => {
  test(`README.md, example ${i + 1}: prints what it says`, async () => {
    assert.notEqual(output, undefined, 'an example without its output');
    const { stdout } = await runScript(code);
    assert.equal(stdout, output);
  });
});
