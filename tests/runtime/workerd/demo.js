/**
 * The demo server as a user starts it, for tests.
 * @module
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../../js/src/demo/serve.js', import.meta.url));

/**
 * Runs the launcher with these options.
 *
 * @param {string[]} args
 * @returns its process id, what it has printed so far, a promise of the address it says it serves
 *   (null if it ends without), one of its exit status, and a way to signal it
 */
export function launch(args) {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { ...process.env, PORT: '', HOST: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise((resolve) => {
    child.once('close', (status, signal) => resolve(signal ?? status));
  });
  const url = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        const address = /serving (\S+)/.exec(output);
        if (address) resolve(address[1]);
      });
    }
    ended.then(() => resolve(null));
  });
  return { pid: child.pid, output: () => output, url, ended, signal: (name) => child.kill(name) };
}

/** Starts the demo on a free port. Its end is part of the test: after(demo.stop). */
export async function startDemo() {
  const demo = launch(['--port', '0']);
  const url = await demo.url;
  if (url === null) throw new Error(`the demo did not start:\n${demo.output()}`);
  const stop = () => {
    demo.signal('SIGTERM');
    return demo.ended;
  };
  return { ...demo, url, stop };
}
