// npm run format: writes every source the way the checks of `npm test` want it.
import { findClangTool } from './clang.js';
import { at } from './project.js';
import { run } from './run.js';
import { setUp } from './setup.js';
import { StepError, prepared, step } from './step.js';
import { cppSources } from './suites.js';

await prepared(async () => {
  await setUp('format');
  await step('prettier', () =>
    write(at('tests/tools/node_modules/.bin/prettier'), ['--write', '.']),
  );
  const clangFormat = await findClangTool('clang-format');
  if (clangFormat === null)
    throw new StepError('clang-format 14 is not installed: C++ was left as it is.');
  await step('clang-format', () => write(clangFormat, ['-i', ...cppSources()]));
});

/**
 * @param {string} formatter
 * @param {string[]} args
 */
async function write(formatter, args) {
  const { status, output } = await run(formatter, args);
  if (status !== 0) throw new StepError(output);
}
