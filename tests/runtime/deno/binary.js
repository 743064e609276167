// The Deno that npm brings.
import { binaryOf, machine } from '../../package/support/binary.js';

export const deno = binaryOf({
  manifest: 'tests/runtime/deno/node_modules/deno/package.json',
  modules: 'tests/runtime/deno/node_modules',
  prefix: `@deno/${machine}`,
  program: 'deno',
});

/**
 * What Deno is told by its environment: its cache is a folder of the test's, it looks for no newer Deno.
 * @param {string} cache
 */
export const denoEnvironment = (cache) => ({ DENO_DIR: cache, DENO_NO_UPDATE_CHECK: '1' });
