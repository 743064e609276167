#!/usr/bin/env node
/**
 * Serves the demo on workerd, the runtime of Cloudflare Workers: bundles the worker and its page
 * below .build/demo, starts workerd there, and says where it answers.
 *
 * Exit status: 0 when it was told to stop, 1 when it failed, 2 for options it does not know.
 */
import { spawn } from 'node:child_process';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { build, stop as stopEsbuild } from 'esbuild';

const workerd = createRequire(import.meta.url)('workerd').default;
const DEMO = new URL('./', import.meta.url);
/** A folder for each process: several may run, and none reads what another is writing. */
const OUT = new URL(`../../../.build/demo/${process.pid}/`, import.meta.url);
const DRAIN_MS = 2000;

const USAGE = `Usage: npm start -- [--port <port>] [--host <address>]

  --port <port>      port to listen on, 0 for any free one  [default: PORT, else 8787]
  --host <address>   address to listen on                   [default: HOST, else 127.0.0.1]
  --help             show this text`;

/** A message for the person at the terminal; a stack trace would add nothing. */
class LaunchError extends Error {}

/** @typedef {{ host: string, port: number }} Address */

process.exitCode = await main();

async function main() {
  let options;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  try {
    await checkAddress(options);
    await bundle();
    await run(options);
    return 0;
  } catch (error) {
    console.error(error instanceof LaunchError ? error.message : error);
    return 1;
  } finally {
    await rm(OUT, { recursive: true, force: true });
  }
}

function readOptions() {
  const { env } = process;
  const { values } = parseArgs({
    options: { port: { type: 'string' }, host: { type: 'string' }, help: { type: 'boolean' } },
  });
  const port = values.port ?? (env.PORT || '8787');
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) {
    throw new LaunchError(`The port is a whole number from 0 to 65535, not "${port}".`);
  }
  return { port: Number(port), host: values.host ?? (env.HOST || '127.0.0.1'), help: values.help };
}

/**
 * Tries the address before anything is built, so that a taken port is one clear line.
 * @param {Address} address
 */
async function checkAddress({ host, port }) {
  const probe = createServer();
  try {
    await new Promise((resolve, reject) => {
      probe.once('error', reject).listen({ host, port }, () => resolve(null));
    });
  } catch (error) {
    throw new LaunchError(addressProblem(error, { host, port }));
  }
  await new Promise((resolve) => probe.close(resolve));
}

/**
 * @param {NodeJS.ErrnoException} error
 * @param {Address} address
 */
function addressProblem({ code, message }, { host, port }) {
  switch (code) {
    case 'EADDRINUSE': {
      const other = port < 65535 ? port + 1 : 8787;
      return `Port ${port} on ${host} is taken. Choose another one: npm start -- --port ${other}`;
    }
    case 'EACCES':
      return `Port ${port} needs more rights than this user has. Choose one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `"${host}" is not an address of this machine. 0.0.0.0 stands for all that are.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${message}`;
  }
}

/** Makes the folder: the files that workerd.capnp names, the Wasm module one of them. */
async function bundle() {
  /** @param {string} name */
  const from = (name) => fileURLToPath(new URL(name, DEMO));
  const outdir = fileURLToPath(OUT);
  /** @type {import('esbuild').BuildOptions} */
  const shared = { bundle: true, format: 'esm', target: 'es2022', outdir, logLevel: 'warning' };
  await mkdir(OUT, { recursive: true });
  await Promise.all([
    build({
      ...shared,
      entryPoints: [from('worker.js')],
      conditions: ['workerd', 'worker'],
      loader: { '.wasm': 'copy' },
      assetNames: '[name]',
    }),
    build({ ...shared, entryPoints: [from('page/page.js'), from('page/page.css')] }),
    copyFile(new URL('page/page.html', DEMO), new URL('page.html', OUT)),
    copyFile(new URL('policies.json', DEMO), new URL('policies.json', OUT)),
    copyFile(new URL('workerd.capnp', DEMO), new URL('workerd.capnp', OUT)),
  ]);
  // Its process would stay as long as this one.
  await stopEsbuild();
}

/**
 * Starts workerd, says where it answers, and resolves when it was told to stop and has ended.
 * @param {Address} address
 */
async function run({ host, port }) {
  const name = host.includes(':') ? `[${host}]` : host;
  if (!URL.canParse(`http://${name}`)) throw new LaunchError(`"${host}" cannot be in a URL.`);
  const { hostname } = new URL(`http://${name}`);
  const child = spawn(
    workerd,
    ['serve', 'workerd.capnp', `--socket-addr=http=${name}:${port}`, '--control-fd=3'],
    {
      cwd: OUT,
      // The worker answers under this name, see workerd.capnp.
      env: { ...process.env, DEMO_HOST: hostname },
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    },
  );

  let stopping = false;
  const stop = () => {
    // workerd waits for open requests; a second signal, or too long a wait, ends them.
    child.kill(stopping ? 'SIGKILL' : 'SIGTERM');
    stopping = true;
    setTimeout(() => child.kill('SIGKILL'), DRAIN_MS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

  // workerd reports there which port it listens on.
  const control = /** @type {import('node:stream').Readable} */ (child.stdio[3]);
  createInterface({ input: control }).once('line', async (line) => {
    const url = `http://${visitable(hostname)}:${JSON.parse(line).port}`;
    const answered = await fetch(`${url}/api/stats`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) {
      console.log(`tierlimit is serving ${url}   (Ctrl-C ends it)`);
    } else if (!stopping) {
      console.error(`The worker does not answer at ${url}.`);
      child.kill();
    }
  });

  /** @type {[number | null, NodeJS.Signals | null]} */
  const [status, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (...how) => resolve(how));
  });
  if (!stopping) throw new LaunchError(`workerd has ended (${signal ?? `status ${status}`}).`);
}

/**
 * The host for a URL: an address that stands for all of them cannot be visited.
 * @param {string} hostname
 */
function visitable(hostname) {
  if (hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '[::]' ? '[::1]' : hostname;
}
