// Measurements that need a process of their own: one that has just begun, whose heap and linear memory are empty.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs children/<name>.js to its end.
 * @param {string} name
 * @param {...(string | number)} args
 * @returns {any} what it printed, read as JSON
 */
export function child(name, ...args) {
  const file = fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--max-old-space-size=4096', file, ...args.map(String)],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${name} ${args.join(' ')} failed: ${stderr}`);
  return JSON.parse(stdout);
}
