// Builds the app of this folder by each bundler of Next.js, starts it, and asks both of its runtimes. `npm run test:next`
// has copied it, with its packages, into the folder that is given.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { tarball } from '../../../js/scripts/builds.js';
import { contractTable } from '../../../js/scripts/contract-table.js';
import { run } from '../../../js/scripts/run.js';
import { clauseNames } from '../../contract/limiter.js';
import { Program } from '../../examples/support/program.js';

const [folder] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const next = require.resolve('next/dist/bin/next');
const { version } = require('next/package.json');
const versions = {
  webpack: require('next/dist/compiled/webpack/bundle5.js')().webpack.version,
  // It is a part of Next.js.
  turbopack: version,
};
/** What the routes' runtimes call themselves. */
const runtimes = { node: 'nodejs', edge: 'edge' };

/**
 * Runs a program in the app.
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
async function runThere(command, args, env) {
  const { status, output } = await run(command, args, { cwd: folder, env, seconds: 900 });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(' ')}: exit status ${status}\n${output}`);
  }
}

/**
 * What the three routes of a runtime do.
 * @param {string} url of the app
 * @param {keyof typeof runtimes} runtime
 * @returns {Promise<Record<string, string>>}
 */
async function outcomesOf(url, runtime) {
  const ask = async (path, headers = {}) => {
    const response = await fetch(`${url}/${runtime}/${path}`, {
      headers,
      signal: AbortSignal.timeout(120_000),
    });
    const fields = response.headers.get('ratelimit');
    const type = response.headers.get('content-type');
    return { status: response.status, fields, type, text: await response.text() };
  };
  const statuses = [];
  for (let i = 0; i < 5; i += 1) {
    const { status } = await ask('limited?client=acme');
    statuses.push(status);
  }
  const other = await ask('limited?client=globex');
  const answers = `${statuses.join(' ')}, and ${other.status} ${other.text}`;
  const expected = '200 200 200 429 429, and 200 {"remaining":2}';
  const adapted = [];
  for (const key of ['acme', 'acme', 'acme', 'globex']) {
    const { status, fields, type, text } = await ask('adapter', { 'x-api-key': key });
    const problem = type === 'application/problem+json' ? JSON.parse(text).status : text;
    adapted.push(`${status} ${fields} ${problem}`);
  }
  const path = `"/${runtime}/adapter"`;
  const adapts = [
    `200 "main";r=1 ${path}`,
    `200 "main";r=0 ${path}`,
    '429 "main";r=0 429',
    `200 "main";r=1 ${path}`,
  ];
  const { status, text } = await ask('contract');
  if (status !== 200) throw new Error(`${runtime}: ${status} ${text}`);
  const { runtime: name, outcomes } = JSON.parse(text);
  return {
    runtime: name === runtimes[runtime] ? 'ok' : `it runs in ${name}`,
    limits: answers === expected ? 'ok' : answers,
    adapter: `${adapted}` === `${adapts}` ? 'ok' : adapted.join(', '),
    ...Object.fromEntries(clauseNames.map((clause) => [clause, 'nothing is said of it'])),
    ...outcomes,
  };
}

/** @type {import('../../../js/scripts/contract-table.js').ContractRow[]} */
const rows = [];
/** @type {string[]} */
const failures = [];

/**
 * @param {string} bundler
 * @param {string} runtime
 * @param {Record<string, string>} outcomes
 */
function report(bundler, runtime, outcomes) {
  const name = `${bundler}, ${runtime}`;
  const node = runtime === 'node' ? `, Node ${process.versions.node}` : '';
  rows.push({ runtime: name, version: `${versions[bundler]}${node}`, outcomes });
  for (const [what, outcome] of Object.entries(outcomes)) {
    if (outcome !== 'ok') failures.push(`${name}: ${what}: ${outcome}`);
  }
}

rmSync(join(folder, 'node_modules/tierlimit'), { recursive: true, force: true });
await runThere('npm', ['install', '--no-save', '--offline', '--no-audit', '--no-fund', tarball]);

for (const bundler of Object.keys(versions)) {
  const env = { BUNDLER: bundler, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };
  console.log(`building with ${bundler} ...`);
  /** @type {Program | undefined} */
  let server;
  try {
    await runThere(process.execPath, [next, 'build', `--${bundler}`], env);
    const args = [next, 'start', '--hostname', '127.0.0.1', '--port', '0'];
    server = new Program(process.execPath, args, { cwd: folder, env });
    const [, url] = await server.says(/Local: +(http:\S+)/);
    for (const runtime of /** @type {const} */ (['node', 'edge'])) {
      report(bundler, runtime, await outcomesOf(url, runtime));
    }
  } catch (error) {
    failures.push(`${bundler}: ${error.message}`);
  } finally {
    await server?.stop();
  }
}

if (rows.length > 0) console.log(`\nNext.js ${version}\n${contractTable(rows)}`);
for (const failure of failures) console.error(`\n${failure}`);
// A bundler that did not get so far has no rows.
const passed = rows.filter(({ outcomes }) => Object.values(outcomes).every((o) => o === 'ok'));
const failed = Object.keys(versions).length * Object.keys(runtimes).length - passed.length;
process.exitCode = failed > 0 ? 1 : 0;
console.log(`\n${passed.length} passed, ${failed} failed`);
