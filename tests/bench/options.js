// What a run measures, and how long.
import { parseArgs } from 'node:util';

import { StepError } from '../../js/scripts/step.js';

const partNames = /** @type {const} */ ([
  'sizes',
  'startup',
  'memory',
  'growth',
  'flood',
  'throughput',
  'ownClock',
  'lengths',
  'native',
]);

export const help = `npm run bench -- [options]

Builds and installs what is needed, measures tierlimit beside what else there is, and prints Markdown on standard
output; what it is doing, and how long each part took, is said on standard error. Takes minutes, and wants a machine that
does nothing else meanwhile: others slow down what computes more than what waits for memory, and so change ratios too.

  --quick            fewer rounds, fewer workloads, coarser figures, in a fraction of the time
  --rounds <n>       rounds of each workload (61; 15 with --quick)
  --clients <n,…>    how many clients (1000,100000,1000000)
  --only <part,…>    ${partNames.join(', ')}
  --json             everything that was measured, every round of it, as JSON instead of Markdown
  --help             this text

After a first run, node --expose-gc tests/bench/main.js with the same options measures what is built, and builds nothing.
`;

/**
 * @typedef {object} Options
 * @property {boolean} quick
 * @property {boolean} json
 * @property {boolean} help
 * @property {number} rounds
 * @property {number[]} counts of clients
 * @property {readonly (typeof partNames)[number][]} parts
 */

/**
 * @param {string[]} args
 * @returns {Options}
 * @throws {StepError} when an argument is not understood
 */
export function options(args) {
  const values = parsed(args);
  const { quick, json, help } = values;
  const rounds = positive('--rounds', values.rounds ?? (quick ? '15' : '61'));
  const counts = values.clients.split(',').map((text) => positive('--clients', text));
  const parts = values.only.split(',').map((text) => {
    const part = partNames.find((name) => name === text);
    if (part === undefined)
      throw new StepError(`--only ${text}: there are ${partNames.join(', ')}`);
    return part;
  });
  return { quick, json, help, rounds, counts, parts };
}

/** @param {string[]} args */
function parsed(args) {
  try {
    return parseArgs({
      args,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        clients: { type: 'string', default: '1000,100000,1000000' },
        only: { type: 'string', default: partNames.join(',') },
      },
    }).values;
  } catch (error) {
    throw new StepError(error.message);
  }
}

/**
 * @param {string} option
 * @param {string} text
 */
function positive(option, text) {
  if (!/^[1-9]\d{0,7}$/.test(text))
    throw new StepError(`${option} ${text}: not a whole number from 1`);
  return Number(text);
}
