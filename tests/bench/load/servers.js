// Servers of server.js, each a process of its own, and wrk, which asks them.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('server.js', import.meta.url));

export const connections = 32;

/** In /proc times are in these, whatever the kernel counts in. */
const ticksPerSecond = 100;

/** @typedef {Awaited<ReturnType<typeof start>>} Server */

/**
 * @param {string} framework
 * @param {string} limiter
 */
export async function start(framework, limiter) {
  const stdio = /** @type {const} */ (['ignore', 'pipe', 'inherit']);
  const child = spawn(process.execPath, [program, framework, limiter], { stdio });
  const [port] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (child.exitCode !== null)
    throw new Error(`${framework} with ${limiter} ended: ${child.exitCode}`);
  return { child, url: `http://127.0.0.1:${Number(port)}/` };
}

/** So long a process computes before its code is what it will be. */
const warmSeconds = 3;

/**
 * Asks a server until its code has been compiled for good: that takes computing, whatever the clock says.
 * @param {Server} server
 */
export async function warm(server) {
  const start = cpuSeconds(server.child.pid);
  while (cpuSeconds(server.child.pid) - start < warmSeconds) await ask(server, 1);
}

/**
 * Asks a server for some time: requests a second, and microseconds of its processor's time for each.
 * @param {Server} server
 * @param {number} seconds
 */
export async function ask({ child, url }, seconds) {
  const before = cpuSeconds(child.pid);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, url];
  const { stdout } = await promisify(execFile)('wrk', args);
  const spent = cpuSeconds(child.pid) - before;
  const wrong = /(Socket errors|Non-2xx).*/.exec(stdout);
  if (wrong) throw new Error(`${url}: ${wrong[0]}`);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  return { rate, cpuUs: (spent * 1e6) / requests };
}

/**
 * What a process has spent, in user mode and in the kernel.
 * @param {number | undefined} pid
 */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
