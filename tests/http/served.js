// The adapters behind the server that a runtime brings, in a process of its own, through all of the contract.
import { after, before, describe } from 'node:test';

import { makeProject } from '../package/support/project.js';
import { Server } from '../runtime/workerd/server.js';
import { contract } from './contract.js';
import { startAt } from './remote.js';

/** The app by what it is made with: `fetch`, as the server takes it. */
const apps = {
  'the fetch adapter': `
    import { fetchApp } from './app/fetch-app.js';
    const fetch = controlled(fetchApp);`,
  'Hono 4': `
    import { Hono } from 'hono';
    import { honoApp } from './app/hono-app.js';
    const fetch = controlled((world) => honoApp(Hono, world).fetch);`,
};

/**
 * @param {string} name of the server
 * @param {{ path: string, skip: string | false }} binary of the runtime
 * @param {string[]} args for it, before the program's name
 * @param {string} serve serves `fetch` and says at which port it listens
 */
export function contractServed(name, binary, args, serve) {
  for (const [what, app] of Object.entries(apps)) {
    describe(name, { skip: binary.skip }, () => {
      let project, server;
      before(async () => {
        project = await makeProject();
        project.copy('tests/http/app', 'app');
        project.copy('tests/http/packages/node_modules/hono', 'node_modules/hono');
        const program = `import { controlled } from './app/controlled.js';\n${app}\n${serve}`;
        project.write({ 'server.js': program });
        server = new Server(binary.path, [...args, 'server.js'], { cwd: project.folder });
        await server.started(/listens at (\d+)/);
      });
      after(async () => {
        await server?.stop();
        project?.remove();
      });

      contract({ name: what, start: (setup) => startAt(server, setup) });
    });
  }
}
