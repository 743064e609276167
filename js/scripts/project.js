// Where the repository is, and what is in it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's top folder. */
export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/**
 * A path in the repository.
 * @param {...string} parts
 */
export const at = (...parts) => join(root, ...parts);

const leaveOut = new Set(['node_modules', '.git', '.build', 'dist']);

/**
 * The files below `folder`, sorted, as paths from the top folder with `/` between their parts. Installed and generated
 * folders are left out. A folder that is not there holds no files.
 * @param {string} folder from the top folder
 * @returns {string[]}
 */
export function filesIn(folder) {
  if (!existsSync(at(folder))) return [];
  return readdirSync(at(folder), { withFileTypes: true })
    .filter((entry) => !leaveOut.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path) : [path.split(sep).join('/')];
    })
    .sort();
}

/**
 * A digest of what a step depends on: names and contents of files (of all files below a folder), and other facts.
 * @param {string[]} paths from the top folder
 * @param {...unknown} facts such as versions
 */
export function digest(paths, ...facts) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((p) => (isFolder(p) ? filesIn(p) : [p]))) {
    const content = existsSync(at(path)) ? readFileSync(at(path)) : '';
    hash.update(`${relative(root, at(path))}\0${content.length}\0`).update(content);
  }
  return hash.update(JSON.stringify(facts)).digest('hex');
}

/** @param {string} path */
function isFolder(path) {
  return statSync(at(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
}
