// The fetch adapter in Deno, behind Deno.serve.
import { after, before, describe } from 'node:test';

import { makeProject } from '../../package/support/project.js';
import { deno } from '../../runtime/deno/binary.js';
import { Server } from '../../runtime/workerd/server.js';
import { contract } from '../contract.js';
import { startAt } from '../remote.js';

const program = `
  import { controlled } from './app/controlled.js';
  import { fetchApp } from './app/fetch-app.js';
  const onListen = ({ port }) => console.log('listens at ' + port);
  Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, controlled(fetchApp));`;

describe('Deno', { skip: deno.skip }, () => {
  let project, server;
  before(async () => {
    project = await makeProject();
    project.copy('tests/http/app', 'app');
    project.write({ 'server.js': program });
    const args = ['run', '--no-prompt', '--allow-net=127.0.0.1', 'server.js'];
    server = new Server(deno.path, args, { cwd: project.folder });
    await server.started(/listens at (\d+)/);
  });
  after(async () => {
    await server?.stop();
    project?.remove();
  });

  contract({ name: 'Deno.serve', start: (setup) => startAt(server, setup) });
});
