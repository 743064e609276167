// What Vercel's bundlers make of `import module from './x.wasm?module'`: a variable of the worker's scope that its
// runtime puts there, compiled. Next.js does it in its next-middleware-wasm-loader.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @returns {{ plugin: import('esbuild').Plugin, modules: Record<string, WebAssembly.Module> }} `modules` are what the
 *   bundle needs to find among its globals, once it is built
 */
export function wasmModules() {
  /** @type {Record<string, WebAssembly.Module>} */
  const modules = {};
  /** @type {import('esbuild').Plugin} */
  const plugin = {
    name: 'wasm-module',
    setup(build) {
      build.onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.replace(/\?module$/, '')),
        namespace: 'wasm-module',
      }));
      build.onLoad({ filter: /.*/, namespace: 'wasm-module' }, ({ path }) => {
        const bytes = readFileSync(path);
        const name = `wasm_${createHash('sha1').update(bytes).digest('hex')}`;
        modules[name] = new WebAssembly.Module(bytes);
        return { contents: `module.exports = ${name};` };
      });
    },
  };
  return { plugin, modules };
}
