// An adapter in a worker, which the bare workerd runs, through all of the contract.
import { after, before, describe } from 'node:test';

import { makeProject } from '../package/support/project.js';
import { bundle, newestDate, serve } from '../runtime/workerd/bare.js';
import { contract } from './contract.js';
import { startAt } from './remote.js';

/**
 * @param {string} name
 * @param {string} program a module with the app; tests/http/app/ is its folder `app`
 * @param {string[]} [options] of esbuild
 */
export function contractInWorker(name, program, options = []) {
  describe('workerd', () => {
    let project, server;
    before(async () => {
      project = await makeProject();
      project.copy('tests/http/app', 'app');
      project.write({ 'worker.js': program });
      const conditions = ['--conditions=workerd', ...options];
      const folder = await bundle(project, 'bundle', ['worker.js'], conditions);
      const date = await newestDate(project);
      const flags = ['no_nodejs_compat', 'enable_request_signal'];
      server = await serve(project, folder, { main: 'worker.js', date, flags });
    });
    after(async () => {
      await server?.stop();
      project?.remove();
    });

    contract({
      name,
      start: (setup) => startAt(server, setup),
      without: {
        abort: 'workerd finds out that a client is gone when it has something to send',
        address: 'a worker is not told who is at the other end',
      },
    });
  });
}
