// The examples as their readers run them: copied out of the repository, the package installed, by the commands that
// their README.md names.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';

import { at } from '../../../js/scripts/project.js';
import { makeProject } from '../../package/support/project.js';
import { serveRegistry } from './registry.js';

/**
 * A project with an example in it, and with the package as it is packed here.
 * @param {string} name
 * @param {object} [options]
 * @param {Record<string, string | undefined>} [options.env] with it the first command of the example is carried out, by
 *   a registry that has this package and those of tests alone; else the package is installed by npm, and nothing else
 * @returns {Promise<{ project: import('../../package/support/project.js').Project, command: string[] }>} with the
 *   second command, which starts it
 */
export async function exampleProject(name, { env } = {}) {
  const folder = `js/examples/${name}`;
  const readme = readFileSync(at(folder, 'README.md'), 'utf8');
  const [commands = ''] = /^(?: {4}.*\n)+/m.exec(readme) ?? [];
  const [install, start, ...more] = commands.trimEnd().split('\n');
  assert.match(install, /^ {4}\w+ install$/, `the first command of ${folder}/README.md`);
  assert.match(start ?? '', /^ {4}\w+ .*start$/, `the second command of ${folder}/README.md`);
  assert.deepEqual(more, [], `${folder}/README.md has two commands`);

  const project = await makeProject({ name });
  // Its package.json comes too.
  project.copy(folder, '.');
  if (env === undefined) {
    // Fails where what is installed is not what that asks for.
    await project.run('npm', ['ls', 'tierlimit']);
  } else {
    for (const path of ['node_modules', 'package-lock.json']) {
      rmSync(project.at(path), { recursive: true });
    }
    const registry = await serveRegistry();
    try {
      const [command, ...args] = install.trim().split(' ');
      await project.run(command, args, { env: { ...env, ...registry.env } });
    } finally {
      registry.close();
    }
  }
  return { project, command: start.trim().split(' ') };
}
