// node tests/bench/paired.js <folder> [rounds]: `allow` by name and of a handle, of this build against another one: that
// of a checkout, or of an installed package, in that folder. After a build of both (npm run build). Both do the same
// requests in one process, by turns, and what counts is the quotient of each round: what slows the machine down for a
// while slows both of them down.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { orders } from './orders.js';
import { measure, meetAll } from './rounds.js';
import { outcomes } from './settings.js';
import { median, medianInterval, ratio } from './statistics.js';

const [folder, roundsGiven = '61'] = process.argv.slice(2);
const rounds = Number(roundsGiven);
/** Of a round, of which the median counts. */
const turns = 4;
if (folder === undefined || !Number.isInteger(rounds) || rounds < 41) {
  console.error('node tests/bench/paired.js <folder of another build> [rounds, at least 41]');
  process.exit(2);
}

/** @param {string} root its folder */
async function limiterOf(root) {
  const { main } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (!existsSync(join(root, 'js/dist/glue.js'))) {
    throw new Error(`${root} is not built: npm run build there`);
  }
  const { TierLimiter } = await import(pathToFileURL(resolve(root, main)).href);
  return TierLimiter;
}

const builds = await Promise.all(
  Object.entries({ here: join(import.meta.dirname, '../..'), there: folder }).map(
    async ([name, root]) => ({
      name,
      TierLimiter: await limiterOf(root),
      // The loops once for each: one that has seen limiters of two kinds is slower.
      /** @type {typeof import('./subjects/tierlimit.js')} */
      subjects: await import(`./subjects/tierlimit.js?${name}`),
    }),
  ),
);

console.log(
  `${rounds} rounds of admitted requests, in nanoseconds, by median; the ratio is here / there, in`,
);
console.log('parentheses its interval of 95% by order statistics');
const { limit, first } = outcomes.admitted;
for (const kind of /** @type {const} */ (['allow', 'handle'])) {
  for (const clients of [1000, 100_000]) {
    const order = orders.uniform(clients);
    /** @type {Record<string, number[]>} */
    const ns = { here: [], there: [] };
    for (let round = 0; round < rounds; round += 1) {
      // With limiters of its own each: where they and their handles happen to be in memory makes more of a difference
      // than most changes do. And each build is the first in every other round.
      const pair = (round % 2 === 0 ? builds : builds.toReversed()).map(
        ({ name, TierLimiter, subjects }) => ({
          ...subjects[kind]({ clients, limit, TierLimiter }),
          name,
        }),
      );
      await meetAll(pair, clients, first);
      const measured = await measure(pair, { order, interned: null, outcome: 'admitted' }, turns);
      for (const [name, each] of measured) ns[name].push(median(each));
      for (const subject of pair) subject.dispose?.();
    }
    const { here, there } = ns;
    const { low, high } = medianInterval(here.map((each, i) => each / there[i]));
    console.log(
      kind.padEnd(7),
      `${clients.toLocaleString('en')} clients:`.padEnd(17),
      `here ${median(here).toFixed(1)}, there ${median(there).toFixed(1)},`,
      `ratio ${ratio(here, there).median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    );
  }
}
