// Scripts in a Node process of their own.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const top = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Runs an ES module, given as text, to its end; it can import the package by its name.
 *
 * @param {string} script
 * @param {string[]} [flags]
 * @returns {Promise<{ status: number | null, stdout: string, stderr: string }>}
 */
export function runScript(script, flags = []) {
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', script], {
    cwd: top,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}
