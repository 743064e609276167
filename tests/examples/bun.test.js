import { dirname, delimiter } from 'node:path';

import { bun } from '../runtime/bun/binary.js';
import { loadingBySignal } from './support/signal.js';
import { testUuidService } from './support/uuid-service.js';

testUuidService('bun', {
  onAnyPort: (command) => [...command, '0'],
  env: { PATH: `${dirname(bun.path)}${delimiter}${process.env.PATH}` },
  skip: bun.skip,
  loading: loadingBySignal,
});
