import { environment } from './support/environment.js';
import { testVersions } from './support/framework.js';
import { testUuidService } from './support/uuid-service.js';
import { loadingByWatching } from './support/watched.js';

testVersions('hono');

testUuidService('hono', {
  onAnyPort: (command) => [...command, '--', '0'],
  env: environment(),
  loading: loadingByWatching,
});
