// The examples as their readers run them: copied out of the repository, the package installed, by the commands that
// their README.md names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { at } from '../../../js/scripts/project.js';
import { makeProject } from '../../package/support/project.js';

/**
 * A project with an example in it. The first of its two commands is done: by npm, with the tarball in place of the
 * registry's package.
 * @param {string} name
 * @returns {Promise<{ project: import('../../package/support/project.js').Project, command: string[] }>} with the
 *   second, which starts it
 */
export async function exampleProject(name) {
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
  // Fails where what is installed is not what that asks for.
  await project.run('npm', ['ls', 'tierlimit']);
  return { project, command: start.trim().split(' ') };
}
