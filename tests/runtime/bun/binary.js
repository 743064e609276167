// The Bun that npm brings.
import { binaryOf } from '../../package/support/binary.js';

const architecture = { x64: 'x64', arm64: 'aarch64' }[process.arch] ?? process.arch;

export const bun = binaryOf({
  manifest: 'tests/runtime/bun/node_modules/bun/package.json',
  modules: 'tests/runtime/bun/node_modules',
  prefix: `@oven/bun-${process.platform}-${architecture}`,
  program: 'bin/bun',
});
