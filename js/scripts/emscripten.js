// Which Emscripten builds the module.
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';

import { run, which } from './run.js';

const oldest = '3.1.6';

/**
 * @typedef {object} Emscripten
 * @property {string} folder where emcc, emcmake and the rest are
 * @property {string} version
 * @property {Record<string, string>} env what its programs need in their environment beside what is there
 */

/**
 * The first Emscripten on PATH (an emsdk that was activated goes before a system's package), tried out.
 * @returns {Promise<Emscripten | string>} the reason when there is none to build with
 */
export async function findEmscripten() {
  const emcc = which('emcc');
  if (emcc === null) return 'emcc is not on PATH';
  const env = environment(emcc);
  const { status, output } = await run(emcc, ['--version'], { env });
  const version = /\b(\d+\.\d+\.\d+)\b/.exec(output)?.[1];
  if (status !== 0 || version === undefined) return `${emcc} --version failed: ${output.trim()}`;
  if (version.localeCompare(oldest, 'en', { numeric: true }) < 0) {
    return `${emcc} is version ${version}; ${oldest} or newer is needed`;
  }
  return { folder: dirname(emcc), version, env };
}

/**
 * Debian's emcc requires acorn, which Debian installs where only Debian's own Node.js looks. With a Node.js from
 * elsewhere (NodeSource, an image) it is found through NODE_PATH.
 * @param {string} emcc
 * @returns {Record<string, string>}
 */
function environment(emcc) {
  const debian = realpathSync(emcc).startsWith('/usr/share/emscripten/');
  if (!debian) return {};
  return { NODE_PATH: [process.env.NODE_PATH, '/usr/share/nodejs'].filter(Boolean).join(':') };
}
