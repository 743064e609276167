// What a user's bundle gets larger by.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build, transform } from 'esbuild';

const file = (/** @type {string} */ path) =>
  fileURLToPath(new URL(`../../js/${path}`, import.meta.url));

/** @typedef {{ what: string, raw: number, gzipped: number }} Size */

/**
 * @param {string} what
 * @param {Uint8Array | string} content
 * @returns {Size}
 */
const size = (what, content) => ({
  what,
  raw: Buffer.byteLength(content),
  gzipped: gzipSync(content, { level: 9 }).length,
});

/**
 * @param {string} entry
 * @param {string[]} external
 */
async function bundled(entry, external) {
  const { outputFiles } = await build({
    entryPoints: [file(entry)],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    external,
  });
  return outputFiles[0].contents;
}

/** @returns {Promise<Size[]>} */
export async function sizes() {
  const glue = readFileSync(file('dist/glue.js'), 'utf8');
  const { code } = await transform(glue, { minify: true, format: 'esm' });
  return [
    size('core.wasm', readFileSync(file('dist/core.wasm'))),
    size('glue.js', glue),
    size('glue.js, minified', code),
    size('wrapper, minified', await bundled('src/slim.js', ['*/dist/glue.js'])),
    size('tierlimit/slim, bundled and minified', await bundled('src/slim.js', [])),
    size('tierlimit, bundled and minified', await bundled('src/index.js', [])),
  ];
}
