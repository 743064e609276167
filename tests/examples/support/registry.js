// A registry of one package, so that the commands of package managers can be run as users run them.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { tarball } from '../../../js/scripts/builds.js';
import { at } from '../../../js/scripts/project.js';

/**
 * Serves the tarball as npm's registry would serve the package once it is published.
 * @returns {Promise<{ env: Record<string, string>, close: () => void }>} `env` is what package managers need to know
 */
export async function serveRegistry() {
  const bytes = readFileSync(tarball);
  const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const { name, version } = manifest;
  const hash = (/** @type {string} */ algorithm) => createHash(algorithm).update(bytes);

  const server = createServer((request, response) => {
    if (request.url === `/${name}`) {
      const dist = {
        tarball: `${url}${name}.tgz`,
        integrity: `sha512-${hash('sha512').digest('base64')}`,
        shasum: hash('sha1').digest('hex'),
      };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { ...manifest, dist } },
        }),
      );
    } else if (request.url === `/${name}.tgz`) {
      response.end(bytes);
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}/`;
  return {
    // npm takes either, and sets one of them for what it runs.
    env: { NPM_CONFIG_REGISTRY: url, npm_config_registry: url },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
