// npm run test:fuzz: runs the fuzz targets for long, 10 minutes each or as many as it is told: npm run test:fuzz -- 30
// What they have learnt is kept in .build/fuzz/corpus/, and the next run begins with it.
import { availableParallelism } from 'node:os';

import { buildFuzz } from './builds.js';
import { findFuzzCompiler, fuzz, fuzzTargets } from './fuzz-targets.js';
import { setUp } from './setup.js';
import { StepError, prepared } from './step.js';

const [text = '10', ...rest] = process.argv.slice(2);
const minutes = Number(text);
await prepared(async () => {
  if (!(minutes > 0 && minutes <= 1440) || rest.length > 0) {
    throw new StepError('Say for how many minutes each target runs: npm run test:fuzz -- 30');
  }
  await setUp('fuzz');
  const compiler = await findFuzzCompiler();
  if (typeof compiler === 'string')
    throw new StepError(`There is nothing to fuzz with: ${compiler}`);
  await buildFuzz();
});

const seconds = Math.ceil(minutes * 60);
const waiting = [...fuzzTargets];
let failed = 0;
console.log(`\n${waiting.length} targets, ${minutes} minutes each`);

/** One lane: takes a target after the other until none is left. */
async function work() {
  for (let target = waiting.shift(); target; target = waiting.shift()) {
    const result = await fuzz(target, {
      corpus: 'corpus',
      fresh: false,
      options: [`-max_total_time=${seconds}`],
      seconds: seconds + 600,
    });
    console.log(`${result.passed ? 'ok' : 'FAILED'}  ${target.name}: ${result.figures}`);
    if (!result.passed) {
      failed += 1;
      console.log(result.output);
    }
  }
}

await Promise.all(
  Array.from({ length: Math.min(fuzzTargets.length, availableParallelism()) }, work),
);
process.exitCode = failed > 0 ? 1 : 0;
console.log(`\n${fuzzTargets.length - failed} passed, ${failed} failed`);
