import { bun } from '../runtime/bun/binary.js';
import { environment } from './support/environment.js';
import { loadingBySignal } from './support/signal.js';
import { testUuidService } from './support/uuid-service.js';

testUuidService('bun', {
  onAnyPort: (command) => [...command, '0'],
  env: environment(bun.path),
  skip: bun.skip,
  loading: loadingBySignal,
});
