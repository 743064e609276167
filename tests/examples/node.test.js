import { loadingBySignal } from './support/signal.js';
import { testUuidService } from './support/uuid-service.js';

testUuidService('node', {
  onAnyPort: (command) => [...command, '--', '0'],
  loading: loadingBySignal,
});
