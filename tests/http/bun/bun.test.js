// The fetch adapter in Bun, behind Bun.serve.
import { after, before, describe } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { bun } from '../../runtime/bun/binary.js';
import { Server } from '../../runtime/workerd/server.js';
import { contract } from '../contract.js';
import { startAt } from '../remote.js';

const program = `
  import { controlled } from './app/controlled.js';
  import { fetchApp } from './app/fetch-app.js';
  const fetch = controlled(fetchApp);
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  console.log('listens at ' + server.port);`;

describe('Bun', { skip: bun.skip }, () => {
  let project, server;
  before(async () => {
    project = await makeProject();
    project.copy('tests/http/app', 'app');
    project.write({ 'server.js': program });
    const args = ['run', '--no-install', 'server.js'];
    server = new Server(bun.path, args, { cwd: project.folder });
    await server.started(/listens at (\d+)/);
  });
  after(async () => {
    await server?.stop();
    project?.remove();
  });

  contract({ name: 'Bun.serve', start: (setup) => startAt(server, setup) });
});
