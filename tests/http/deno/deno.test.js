// The fetch adapter and Hono's in Deno, behind Deno.serve.
import { deno } from '../../runtime/deno/binary.js';
import { contractServed } from '../served.js';

contractServed(
  'Deno.serve',
  deno,
  ['run', '--no-prompt', '--allow-net=127.0.0.1'],
  `
  const onListen = ({ port }) => console.log('listens at ' + port);
  Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, fetch);`,
);
