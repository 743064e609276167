// A registry of this package and of what is installed for tests, so that the commands of package managers can be run as
// users run them, and no other registry is asked.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tarball } from '../../../js/scripts/builds.js';
import { at } from '../../../js/scripts/project.js';
import { run } from '../../../js/scripts/run.js';

/** Where packages are installed that examples may depend on. */
const installed = ['.', 'tests/http/packages'];

const readJson = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8'));

/** Versions of packages by their name, each with what makes its tarball. */
class Packages {
  /** @type {Map<string, Map<string, { manifest: object, pack: () => Promise<Buffer> }>>} */
  #versions = new Map();

  constructor() {
    for (const folder of installed) {
      const { packages } = readJson(at(folder, 'package-lock.json'));
      for (const path of Object.keys(packages)) {
        const there = at(folder, path);
        if (path === '' || !existsSync(there)) continue;
        this.#add(readJson(join(there, 'package.json')), () => packed(there));
      }
    }
    this.#add(readJson(at('package.json')), async () => readFileSync(tarball));
  }

  /**
   * @param {{ name: string, version: string }} manifest
   * @param {() => Promise<Buffer>} pack
   */
  #add(manifest, pack) {
    const { name, version } = manifest;
    /** @type {Promise<Buffer> | undefined} */
    let bytes;
    const versions = this.#versions.get(name) ?? new Map();
    versions.set(version, { manifest, pack: () => (bytes ??= pack()) });
    this.#versions.set(name, versions);
  }

  /**
   * What a registry says of a package; undefined where there is none.
   * @param {string} name
   * @param {string} url of the registry
   */
  async about(name, url) {
    const versions = this.#versions.get(name);
    if (versions === undefined) return undefined;
    const entries = [...versions].map(async ([version, { manifest, pack }]) => {
      const bytes = await pack();
      const hash = (/** @type {string} */ algorithm) => createHash(algorithm).update(bytes);
      const dist = {
        tarball: `${url}-/${encodeURIComponent(`${name}@${version}`)}.tgz`,
        integrity: `sha512-${hash('sha512').digest('base64')}`,
        shasum: hash('sha1').digest('hex'),
      };
      return [version, { ...manifest, dist }];
    });
    const latest = [...versions.keys()].at(-1);
    const all = Object.fromEntries(await Promise.all(entries));
    return { name, 'dist-tags': { latest }, versions: all };
  }

  /** @param {string} file as in the address of a tarball, decoded: `@scope/name@1.2.3` */
  tarball(file) {
    const [, name = '', version = ''] = /^(.+)@([^@]+)$/.exec(file) ?? [];
    return this.#versions.get(name)?.get(version)?.pack();
  }
}

/**
 * An installed package as a tarball, without what is installed in it.
 * @param {string} folder
 */
async function packed(folder) {
  const out = mkdtempSync(join(tmpdir(), 'tierlimit-pack-'));
  try {
    symlinkSync(folder, join(out, 'package'));
    const args = ['-czhf', 'package.tgz', '--exclude=node_modules', 'package'];
    const { status, output } = await run('tar', args, { cwd: out });
    if (status !== 0) throw new Error(`tar of ${folder} failed:\n${output}`);
    return readFileSync(join(out, 'package.tgz'));
  } finally {
    rmSync(out, { recursive: true });
  }
}

/**
 * Serves this package as npm's registry would serve it once it is published, and those that are installed.
 * @returns {Promise<{ env: Record<string, string>, close: () => void }>} `env` is what package managers need to know
 */
export async function serveRegistry() {
  const packages = new Packages();

  /**
   * @param {string} path
   * @returns {Promise<[type: string, content: string | Buffer] | undefined>}
   */
  async function answer(path) {
    const [, file] = /^\/-\/(.+)\.tgz$/.exec(path) ?? [];
    if (file !== undefined) {
      const bytes = await packages.tarball(file);
      return bytes && ['application/octet-stream', bytes];
    }
    const about = await packages.about(path.slice(1), url);
    return about && ['application/json', JSON.stringify(about)];
  }

  const server = createServer(async (request, response) => {
    try {
      const found = await answer(decodeURIComponent(request.url ?? ''));
      if (found === undefined) return response.writeHead(404).end();
      const [type, content] = found;
      return response.setHeader('content-type', type).end(content);
    } catch (error) {
      return response.writeHead(500).end(error.message);
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
