// The bundlers, each told no more than what is asked for: an ES module or a classic script, in UTF-8 or in ASCII, for a page
// or for workerd. Everything is minified.
import { copyFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import nodeResolve from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import * as esbuild from 'esbuild';
import { VERSION, rollup } from 'rollup';
import * as vite from 'vite';
import webpack from 'webpack';

/**
 * @typedef {object} Task
 * @property {string} root the folder of the project
 * @property {string} entry a file of it, `NAME.js`
 * @property {string} folder of the project, for the bundle, which has the name of the entry
 * @property {'module' | 'script'} kind
 * @property {'utf8' | 'ascii'} charset
 * @property {boolean} [worker] for workerd: WebAssembly stays a file that is imported
 */

/** What a package means by its conditions, for a worker. */
const workerConditions = ['workerd', 'worker', 'browser'];

/**
 * For Rollup, and for Vite, which has the same plugins: the .wasm file goes beside the bundle, which imports it.
 * @returns {import('rollup').Plugin & { enforce: 'pre' }}
 */
function wasmAsModule() {
  let path;
  return {
    name: 'wasm-as-module',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (!source.endsWith('.wasm')) return null;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      // Other plugins ask this one in turn.
      if (!resolved.external) path = resolved.id;
      return { id: './core.wasm', external: true };
    },
    generateBundle() {
      if (path === undefined) this.error('no .wasm file is imported');
      this.emitFile({ type: 'asset', fileName: 'core.wasm', source: readFileSync(path) });
    },
  };
}

/** @type {Record<string, { version: string, bundle: (task: Task) => Promise<void> }>} */
export const bundlers = {
  esbuild: {
    version: esbuild.version,
    async bundle({ root, entry, folder, kind, charset, worker = false }) {
      await esbuild.build({
        absWorkingDir: root,
        entryPoints: [entry],
        outdir: folder,
        bundle: true,
        minify: true,
        format: kind === 'module' ? 'esm' : 'iife',
        charset,
        logLevel: 'error',
        ...(worker && {
          conditions: workerConditions,
          loader: { '.wasm': 'copy' },
          assetNames: '[name]',
        }),
      });
    },
  },

  Rollup: {
    version: VERSION,
    async bundle({ root, entry, folder, kind, charset, worker = false }) {
      const bundle = await rollup({
        input: join(root, entry),
        plugins: worker
          ? [wasmAsModule(), nodeResolve({ exportConditions: workerConditions })]
          : [nodeResolve({ browser: true })],
        onwarn: ({ message }) => {
          throw new Error(message);
        },
      });
      await bundle.write({
        dir: join(root, folder),
        format: kind === 'module' ? 'es' : 'iife',
        plugins: [terser({ format: { ascii_only: charset === 'ascii' } })],
      });
      await bundle.close();
    },
  },

  webpack: {
    version: webpack.version,
    async bundle({ root, entry, folder, kind, charset, worker = false }) {
      const compiler = webpack({
        context: root,
        mode: 'production',
        entry: `./${entry}`,
        target: 'web',
        output: {
          path: join(root, folder),
          filename: entry,
          ...(kind === 'module' && { module: true, library: { type: 'module' } }),
        },
        experiments: { outputModule: kind === 'module' },
        performance: { hints: false },
        optimization: { minimize: { javascript: { format: { asciiOnly: charset === 'ascii' } } } },
        ...(worker && {
          resolve: { conditionNames: [...workerConditions, 'import'] },
          externals: [
            ({ request }, done) =>
              request.endsWith('.wasm') ? done(null, 'module ./core.wasm') : done(),
          ],
        }),
      });
      const stats = await new Promise((resolve, reject) => {
        compiler.run((error, stats) => (error ? reject(error) : resolve(stats)));
      });
      await new Promise((resolve) => compiler.close(resolve));
      if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString());
      if (worker) {
        const path = createRequire(join(root, 'package.json')).resolve('tierlimit/core.wasm');
        copyFileSync(path, join(root, folder, 'core.wasm'));
      }
    },
  },

  Vite: {
    version: vite.version,
    async bundle({ root, entry, folder, kind, charset, worker = false }) {
      await vite.build({
        root,
        configFile: false,
        logLevel: 'error',
        plugins: worker ? [wasmAsModule()] : [],
        ...(worker && { resolve: { conditions: workerConditions } }),
        build: {
          outDir: folder,
          emptyOutDir: false,
          copyPublicDir: false,
          // A page's module is an application. What exports something or is no module is a library to Vite.
          ...((worker || kind === 'script') && {
            lib: {
              entry,
              name: 'page',
              formats: [kind === 'module' ? 'es' : 'iife'],
              fileName: () => entry,
            },
          }),
          minify: true,
          rolldownOptions: {
            input: join(root, entry),
            output: { charset, entryFileNames: entry },
          },
        },
      });
    },
  },
};
