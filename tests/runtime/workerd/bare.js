/**
 * Workers as the bare workerd runs them: bundled by esbuild in a project that has the package installed, every file
 * listed in the configuration, since workerd reads no package.json.
 * @module
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

import { at } from '../../../js/scripts/project.js';
import { Server } from './server.js';

/** @import { Project } from '../../package/support/project.js' */

const require = createRequire(import.meta.url);

/** The binary, in the package of this platform. */
const workerd = require('workerd').default;

export const workerdVersion = require('workerd/package.json').version;

/** The day before the first change of the runtime that has a date: all older dates mean the same. */
export const oldestDate = '2021-11-02';

/** @type {[string, (project: Project) => string | Promise<string>][]} */
export const dates = [
  ['oldest', () => oldestDate],
  ['newest', newestDate],
];

/**
 * Bundles modules of the project into a folder of it.
 * @param {Project} project
 * @param {string} folder
 * @param {string[]} entries
 * @param {string[]} [options] of esbuild
 * @returns {Promise<string>} the folder
 */
export async function bundle(project, folder, entries, options = ['--conditions=workerd']) {
  await project.run(at('node_modules/.bin/esbuild'), [
    ...entries,
    '--bundle',
    '--format=esm',
    '--loader:.wasm=copy',
    '--asset-names=[name]',
    `--outdir=${folder}`,
    '--log-level=warning',
    ...options,
  ]);
  return folder;
}

/**
 * Serves the modules of a folder, all of them in one isolate.
 * @param {Project} project
 * @param {string} folder
 * @param {object} options
 * @param {string} options.main the module whose handlers are called
 * @param {string} options.date
 * @param {string[]} [options.flags]
 * @param {string} [options.upstream] the address of a server that the worker knows as the binding UPSTREAM
 * @param {string} [options.kv] the name of a binding by which that server is a KV namespace
 * @returns {Promise<Server>}
 */
export async function serve(
  project,
  folder,
  { main, date, flags = ['no_nodejs_compat'], upstream, kv },
) {
  const names = readdirSync(project.at(folder)).filter((name) => /\.(js|wasm)$/.test(name));
  const modules = [main, ...names.filter((name) => name !== main)].map((name) => {
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule';
    return `(name = "${name}", ${kind} = embed "${name}")`;
  });
  const services = ['(name = "worker", worker = .worker)'];
  const bindings = [];
  if (upstream !== undefined) {
    services.push(`(name = "upstream", external = (address = "${upstream}", http = ()))`);
    bindings.push('(name = "UPSTREAM", service = "upstream")');
    if (kv !== undefined) bindings.push(`(name = "${kv}", kvNamespace = "upstream")`);
  }
  project.write({
    [`${folder}/${main}.capnp`]: `
      using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [${services.join(', ')}],
        sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
      );
      const worker :Workerd.Worker = (
        compatibilityDate = "${date}",
        compatibilityFlags = ${JSON.stringify(flags)},
        modules = [${modules.join(', ')}],
        bindings = [${bindings.join(', ')}],
      );`,
  });
  // It says there which port it has got.
  const args = ['serve', `${main}.capnp`, '--control-fd=1'];
  const server = new Server(workerd, args, { cwd: project.at(folder) });
  await server.started(/"event":"listen".*"port":(\d+)/);
  return server;
}

/** @type {Promise<string> | undefined} */
let newest;

/**
 * The newest compatibility date that this binary takes today.
 * @param {Project} project
 */
export function newestDate(project) {
  newest ??= askNewestDate(project);
  return newest;
}

/**
 * It names its own where it is asked for more, and takes none of the future.
 * @param {Project} project
 */
async function askNewestDate(project) {
  project.write({ 'newest/worker.js': 'export default {};' });
  const refusal = await serve(project, 'newest', { main: 'worker.js', date: '2999-12-31' }).then(
    () => assert.fail('no date is too new'),
    ({ message }) => message,
  );
  const [, supported] =
    /newest date supported by this server binary is "([\d-]+)"/.exec(refusal) ?? [];
  assert.ok(supported, refusal);
  const today = new Date().toISOString().slice(0, 10);
  return supported < today ? supported : today;
}
