// The frameworks, which are installed here: a package.json beside the tests would end the scope in which they can import
// tierlimit by its name.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** `require` of a package that is installed here. */
export const packages = createRequire(import.meta.url);

/**
 * `import` of one.
 * @param {string} name
 * @returns {Promise<any>}
 */
export const load = (name) => import(name);

/**
 * Where a package's file is, for programs that import it by its address.
 * @param {string} name
 */
export const addressOf = (name) => pathToFileURL(packages.resolve(name)).href;
