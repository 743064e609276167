// A long comparison with the model: node tests/model/run.js --operations 1000000 --seed 1 --target wasm
// With --small there are more clients than there is room for, and the model is told who is evicted. --coverage counts
// how often each rule was used; --features limits,windows leaves out all the other features (FEATURES of scenario.js).
import { parseArgs } from 'node:util';
import { compare } from './differential.js';
import { FEATURES } from './scenario.js';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
    coverage: { type: 'boolean', default: false },
    features: { type: 'string', default: [...FEATURES].join() },
    target: { type: 'string', multiple: true, default: ['native', 'wasm'] },
  },
});
const operations = Number(values.operations);
const firstSeed = Number(values.seed);
const perSeed = 20_000;
const options = {
  isSmall: values.small,
  features: new Set(values.features.split(',')),
};

for (const target of values.target) {
  const implementation = await import(`./${target}.js`);
  const start = performance.now();
  const coverage = new Map();
  let seed = firstSeed;
  let differences = 0;
  let explained = 0;
  for (let left = operations; left > 0; left -= perSeed, seed += 1) {
    const result = await compare(implementation, seed, Math.min(perSeed, left), options);
    differences += result.differences;
    for (const [event, count] of result.coverage) {
      coverage.set(event, (coverage.get(event) ?? 0) + count);
    }
    if (result.differences > 0 && explained < 5) {
      explained += 1;
      console.log(result.explanation + '\n');
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (values.coverage) {
    for (const [event, count] of [...coverage].sort()) console.log(`${count}\t${event}`);
  }
  console.log(
    `${target}: ${operations} operations, seeds ${firstSeed} to ${seed - 1}, ` +
      `${coverage.get('evicted') ?? 0} evictions, ${differences} differences, ${seconds} s`,
  );
  if (differences > 0) process.exitCode = 1;
}
