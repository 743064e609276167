// The Deno that npm brings.
import { binaryOf, machine } from '../../package/support/binary.js';

export const deno = binaryOf({
  manifest: 'tests/runtime/deno/node_modules/deno/package.json',
  modules: 'tests/runtime/deno/node_modules',
  prefix: `@deno/${machine}`,
  program: 'deno',
});
