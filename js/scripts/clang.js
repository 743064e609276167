// clang-format and clang-tidy. Another version formats and finds other things, so one version decides: Debian 12's.
import { run, which } from './run.js';

const version = '14';

/**
 * The path of the tool in the version that decides; null when this machine has no such version.
 * @param {'clang-format' | 'clang-tidy'} tool
 */
export async function findClangTool(tool) {
  for (const name of [`${tool}-${version}`, tool]) {
    const path = which(name);
    if (path === null) continue;
    const { output } = await run(path, ['--version']);
    if (/version (\d+)\./.exec(output)?.[1] === version) return path;
  }
  return null;
}
