/** `tierlimit check`: says whether a policy document is what its author meant. */

import { UsageError } from './errors.js';
import { parseOptions } from './options.js';
import { print } from './output.js';
import { describe, loadPolicies, readPolicies } from './policy-file.js';
import { summarize } from './policy-summary.js';
import { counted, displayName, json, printable, table } from './text.js';

/** @import { Verdict } from './policy-file.js' */

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit status: 0 valid, 1 not
 */
export async function check(args) {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      strict: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (positionals.length !== 1) {
    throw new UsageError(`one policy file is needed, not ${positionals.length}`);
  }
  const [path] = positionals;
  const bytes = await readPolicies(path);
  const verdict = loadPolicies(bytes, { strict: values.strict });
  verdict.limiter?.dispose();
  print(values.json ? toJson(path, bytes, verdict) : toText(path, bytes, verdict));
  return verdict.problems.length === 0 ? 0 : 1;
}

/**
 * @param {string} path
 * @param {Buffer} bytes
 * @param {Verdict} verdict
 */
function toJson(path, bytes, { limiter, problems, warnings }) {
  const tiers = limiter === null ? [] : summarize(bytes, problems).slice(1);
  const report = {
    format: 1,
    file: path,
    valid: problems.length === 0,
    loads: limiter !== null,
    problems,
    warnings,
    tiers: tiers.map(({ name, rejected, clients }) => ({ name, rejected, clients })),
  };
  return json(report);
}

/**
 * @param {string} path
 * @param {Buffer} bytes
 * @param {Verdict} verdict
 */
function toText(path, bytes, { limiter, problems, warnings }) {
  const name = displayName(path);
  const lines = [
    ...problems.map((problem) => describe(path, 'error', problem)),
    ...warnings.map((warning) => describe(path, 'warning', warning)),
  ];
  if (limiter === null) {
    return [...lines, `${name}: refused, ${counted(problems.length, 'problem')}`].join('\n');
  }
  const outcome =
    problems.length === 0
      ? 'valid'
      : `loads, but with ${counted(problems.length, 'problem')}: there the default judges`;
  const rows = summarize(bytes, problems).map(({ name, limits, clients }) => [
    `  ${printable(name, 40)}`,
    limits,
    clients === 0 ? '' : counted(clients, 'client'),
  ]);
  return [...lines, `${name}: ${outcome}`, ...table(['  tier', 'limit', ''], rows, 3)].join('\n');
}
