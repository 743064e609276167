// The native core beside a hand-written limiter, and beside Go's: programs of their own, in turns.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import { at } from '../../js/scripts/project.js';
import { run, which } from '../../js/scripts/run.js';

/** @typedef {import('./throughput.js').Result} Result */

const binary = at('.build/bench/tierlimit_bench');
const goBinary = at('.build/bench/go-bench');

/**
 * Debian's packages are sources for Go's old way of finding packages, which needs no network.
 * @returns {Promise<string | null>} why there is no Go to compare with
 */
async function buildGo() {
  const how = 'apt-get install golang golang-golang-x-time-dev brings it on Debian';
  if (which('go') === null) return `go is not on PATH; ${how}`;
  if (!existsSync('/usr/share/gocode/src/golang.org/x/time/rate')) {
    return `golang.org/x/time/rate is not in /usr/share/gocode; ${how}`;
  }
  mkdirSync(dirname(goBinary), { recursive: true });
  const { status, output } = await run('go', ['build', '-o', goBinary, 'main.go'], {
    cwd: at('tests/bench/go'),
    env: { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: at('.build/bench/go-cache') },
  });
  return status === 0 ? null : `go build failed: ${output}`;
}

/**
 * @typedef {object} Native
 * @property {Result[]} results the names are always fresh
 * @property {Record<string, string>} compilers
 * @property {string[]} missing what was not measured, and why
 */

/**
 * @param {{ counts: number[], rounds: number, turns: number }} options
 * @returns {Promise<Native>}
 */
export async function native({ counts, rounds, turns }) {
  /** @type {Native} */
  const all = { results: [], compilers: {}, missing: [] };
  const programs = [];
  if (existsSync(binary)) programs.push({ language: 'C++', path: binary });
  else all.missing.push('C++: .build/bench is not built; npm run bench builds it');
  const noGo = await buildGo();
  if (noGo === null) programs.push({ language: 'Go', path: goBinary });
  else all.missing.push(`Go: ${noGo}`);

  for (let turn = 0; turn < turns; turn += 1) {
    for (const { language, path } of programs) {
      const share = String(Math.ceil(rounds / turns));
      const { status, output } = await run(path, [share, ...counts.map(String)]);
      if (status !== 0) throw new Error(`${path} failed:\n${output}`);
      for (const line of output.trim().split('\n')) {
        const { compiler, ...result } = JSON.parse(line);
        all.compilers[language] = compiler;
        merge(all.results, { ...result, names: 'fresh' });
      }
    }
  }
  return all;
}

/**
 * @param {Result[]} results
 * @param {Result} result
 */
function merge(results, result) {
  const same = results.find(
    ({ clients, outcome, order }) =>
      clients === result.clients && outcome === result.outcome && order === result.order,
  );
  if (same === undefined) results.push(result);
  else {
    for (const [name, ns] of Object.entries(result.ns)) {
      same.ns[name] = [...(same.ns[name] ?? []), ...ns];
    }
  }
}
