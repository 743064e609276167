// The benchmark: measures what the options say and prints it.
import { StepError } from '../../js/scripts/step.js';
import { figures } from './figures.js';
import { child } from './child.js';
import { flood } from './flood.js';
import { growth } from './growth.js';
import { machine } from './machine.js';
import { memory } from './memory.js';
import { native } from './native.js';
import { help, options } from './options.js';
import { report } from './report.js';
import { sizes } from './sizes.js';
import { startup } from './startup.js';
import { byOwnClock, sideBySide } from './subjects/all.js';
import { throughput } from './throughput.js';

/**
 * @typedef {object} Measured
 * @property {import('./machine.js').Machine} machine
 * @property {string} command
 * @property {import('./sizes.js').Size[]} [sizes]
 * @property {Record<string, import('./startup.js').Startup>} [startup]
 * @property {import('./memory.js').Memory[]} [memory]
 * @property {import('./growth.js').Growth} [growth]
 * @property {ReturnType<typeof flood>} [flood]
 * @property {import('./throughput.js').Result[]} [throughput]
 * @property {import('./throughput.js').Result[]} [ownClock]
 * @property {{ names: string, clients: number, ns: Record<string, number[]> }[]} [lengths] names of several shapes
 * @property {import('./native.js').Native} [native]
 */

const say = (/** @type {string} */ text) => process.stderr.write(`${text}\n`);

/** @param {import('./options.js').Options} options */
async function measure({ quick, rounds, counts, parts }) {
  const million = 1_000_000;
  /** @type {import('./throughput.js').Result['outcome'][]} */
  const outcomes = quick ? ['admitted'] : ['admitted', 'denied'];
  const does = {
    sizes,
    startup: () => startup({ rounds: quick ? 7 : 21 }),
    memory: () =>
      memory({
        clients: million,
        makers: quick
          ? ['allow', 'map']
          : ['allow', 'map', 'limiter', 'rateLimiterFlexible', 'expressRateLimit'],
      }),
    growth: () => growth({ clients: million, runs: quick ? 3 : 7 }),
    flood: () => flood({ names: (quick ? 2.5 : 5) * million, bounds: [10_000, million] }),
    throughput: () =>
      throughput({
        makers: sideBySide,
        counts,
        rounds,
        outcomes,
        names: quick ? ['fresh'] : ['fresh', 'interned'],
        say,
      }),
    ownClock: () =>
      child(
        'throughput',
        byOwnClock.map(({ name }) => name).join(','),
        100_000,
        rounds,
        outcomes.join(','),
      ),
    lengths: () => child('lengths', rounds),
    native: () => native({ counts, rounds, turns: quick ? 1 : 3 }),
  };
  const command = [
    'npm run bench',
    ...process.argv.slice(2, 3).map(() => '--'),
    ...process.argv.slice(2),
  ].join(' ');
  /** @type {any} */
  const measured = { machine: await machine(), command };
  for (const part of parts) {
    const start = performance.now();
    measured[part] = await does[part]();
    say(`${part}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  }
  return /** @type {Measured} */ (measured);
}

try {
  const chosen = options(process.argv.slice(2));
  if (chosen.help) {
    process.stdout.write(help);
  } else {
    const measured = await measure(chosen);
    const text = chosen.json
      ? JSON.stringify({ ...measured, figures: figures(measured) }, null, 1)
      : report(measured);
    process.stdout.write(`${text}\n`);
  }
} catch (error) {
  say(error instanceof StepError ? error.message : error.stack);
  process.exitCode = 1;
}
