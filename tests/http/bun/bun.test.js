// The fetch adapter and Hono's in Bun, behind Bun.serve.
import { bun } from '../../runtime/bun/binary.js';
import { contractServed } from '../served.js';

contractServed(
  'Bun.serve',
  bun,
  ['run', '--no-install'],
  `
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  console.log('listens at ' + server.port);`,
);
