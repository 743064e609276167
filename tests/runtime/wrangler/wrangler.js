/**
 * wrangler as it runs in tests: it asks nobody anything, on this machine or elsewhere.
 * @module
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('node_modules/', import.meta.url));

/** The program, for Node.js. */
export const wrangler = join(packages, 'wrangler/bin/wrangler.js');

/** @type {string} */
export const wranglerVersion = JSON.parse(
  readFileSync(join(packages, 'wrangler/package.json'), 'utf8'),
).version;

/** Options of `wrangler dev`: any free ports, on this machine alone. */
export const onAnyPort = ['--ip=127.0.0.1', '--port=0', '--inspector-port=0'];

/**
 * What it finds in the environment.
 * @param {string} home a folder for what it keeps
 */
export function wranglerEnvironment(home) {
  mkdirSync(home, { recursive: true });
  return {
    HOME: home,
    // What miniflare leaves there when it is ended goes with the rest.
    TMPDIR: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    // As below npm, which is how it is started mostly.
    PATH: `${join(packages, '.bin')}${delimiter}${process.env.PATH}`,
    CI: 'true',
    FORCE_COLOR: '0',
    // It would look for newer versions of itself.
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_SEND_ERROR_REPORTS: 'false',
    // It would ask Cloudflare where this machine is.
    NODE_ENV: 'test',
  };
}
