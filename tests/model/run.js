// A long comparison with the model: node tests/model/run.js --operations 1000000 --seed 1 --target wasm
// With --small there are more clients than there is room for, and the model is told who is evicted.
import { parseArgs } from 'node:util';
import { compare } from './differential.js';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
    target: { type: 'string', multiple: true, default: ['native', 'wasm'] },
  },
});
const operations = Number(values.operations);
const firstSeed = Number(values.seed);
const perSeed = 20_000;

for (const target of values.target) {
  const implementation = await import(`./${target}.js`);
  const start = performance.now();
  let seed = firstSeed;
  let differences = 0;
  let explained = 0;
  let evictions = 0;
  for (let left = operations; left > 0; left -= perSeed, seed += 1) {
    const isSmall = values.small;
    const result = await compare(implementation, seed, Math.min(perSeed, left), { isSmall });
    differences += result.differences;
    evictions += result.coverage.get('evicted') ?? 0;
    if (result.differences > 0 && explained < 5) {
      explained += 1;
      console.log(result.explanation + '\n');
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `${target}: ${operations} operations, seeds ${firstSeed} to ${seed - 1}, ` +
      `${evictions} evictions, ${differences} differences, ${seconds} s`,
  );
  if (differences > 0) process.exitCode = 1;
}
