// What package managers are told: their caches are in a folder of the test's own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after } from 'node:test';

/**
 * @param {string} [program] found on PATH before any other of its name
 * @returns {Record<string, string>}
 */
export function environment(program) {
  const cache = mkdtempSync(join(tmpdir(), 'tierlimit-cache-'));
  after(() => rmSync(cache, { recursive: true, force: true }));
  const PATH = process.env.PATH ?? '';
  return {
    npm_config_cache: cache,
    BUN_INSTALL_CACHE_DIR: cache,
    DENO_DIR: cache,
    PATH: !program ? PATH : `${dirname(program)}${delimiter}${PATH}`,
  };
}
