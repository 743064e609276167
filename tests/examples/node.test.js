import { environment } from './support/environment.js';
import { loadingBySignal } from './support/signal.js';
import { testUuidService } from './support/uuid-service.js';

testUuidService('node', {
  onAnyPort: (command) => [...command, '--', '0'],
  env: environment(),
  loading: loadingBySignal,
});
