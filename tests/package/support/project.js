// Projects that use the package as users do: the tarball, installed into a folder of its own.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { buildModule, buildTarball, buildTypes, tarball } from '../../../js/scripts/builds.js';
import { at } from '../../../js/scripts/project.js';
import { run } from '../../../js/scripts/run.js';
import { alone } from '../../../js/scripts/step.js';

/** A folder outside of the repository with the package installed in it. */
export class Project {
  #outer;

  /**
   * @param {string} outer a temporary folder of its own
   * @param {string} name of the project's folder in there
   */
  constructor(outer, name) {
    this.#outer = outer;
    this.folder = join(outer, name);
  }

  /**
   * A path in it.
   * @param {...string} parts
   */
  at(...parts) {
    return join(this.folder, ...parts);
  }

  /**
   * Writes files, whose folders are made.
   * @param {Record<string, string>} files contents by path
   */
  write(files) {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(this.at(path)), { recursive: true });
      writeFileSync(this.at(path), content);
    }
  }

  /**
   * Copies a file or a folder of the repository.
   * @param {string} from from the repository's top folder
   * @param {string} to
   */
  copy(from, to) {
    cpSync(at(from), this.at(to), { recursive: true });
  }

  /**
   * Runs a program in it; fails with its output unless its exit status is 0.
   * @param {string} command
   * @param {string[]} args
   * @param {{ cwd?: string, env?: Record<string, string | undefined>, seconds?: number }} [options]
   * @returns {Promise<string>} what it wrote
   */
  async run(command, args, { cwd = this.folder, env = {}, seconds = 120 } = {}) {
    const { status, output } = await run(command, args, { cwd, env, seconds });
    assert.equal(status, 0, `${command} ${args.join(' ')}: exit status ${status}\n${output}`);
    return output;
  }

  remove() {
    rmSync(this.#outer, { recursive: true, force: true });
  }
}

/**
 * An empty folder, the tarball of the sources as they are installed in it.
 * @param {object} [options]
 * @param {string} [options.name] of its folder
 * @param {object} [options.manifest] what else its package.json says
 * @returns {Promise<Project>}
 */
export async function makeProject({ name = 'project', manifest = { type: 'module' } } = {}) {
  // In `npm test` that was done before the suites, and is up to date.
  await alone(async () => {
    await buildModule();
    await buildTypes();
    await buildTarball();
  });
  const project = new Project(mkdtempSync(join(tmpdir(), 'tierlimit-')), name);
  project.write({ 'package.json': JSON.stringify({ private: true, ...manifest }) });
  const options = ['--prefer-offline', '--no-audit', '--no-fund', `--prefix=${project.folder}`];
  await project.run('npm', ['install', ...options, tarball]);
  return project;
}
