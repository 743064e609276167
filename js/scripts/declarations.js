// What tsc leaves to be done on the declarations that it makes of JSDoc comments.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const block = /^\/\*\*(?:[^*]|\*(?!\/))*\*\/\n/gm;

/**
 * tsc makes a type of each typedef tag, but leaves the comment with its description elsewhere, where an editor does not
 * look for it. It is moved to the type, and what only tsc reads is left out.
 * @param {string} text of a declaration file
 */
function tidied(text) {
  /** @type {Map<string, string>} */
  const descriptions = new Map();
  const rest = text.replace(block, (comment) => {
    if (/^\/\*\* @import\b/.test(comment)) return '';
    const tag = comment.search(/^(?:\/\*\*| \*) @typedef\b/m);
    if (tag < 0) return comment;
    const lines = comment
      .slice(0, tag)
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith(' * @template '));
    while (lines.at(-1)?.trim() === '*') lines.pop();
    const [, name] =
      /(?:\}\}|\}|^ \* \}) (\w+)(?:\n \*\/| \*\/|\n \* @property)/m.exec(comment) ?? [];
    if (lines.length > 1 && name !== undefined)
      descriptions.set(name, `${lines.join('\n')}\n */\n`);
    return '';
  });
  return rest
    .replace(/^export type (\w+)\b/gm, (start, name) => (descriptions.get(name) ?? '') + start)
    .replace(
      /^export type (\w+)(?:<.*>)? = import\('([^']+)'\)\.\1(?:<.*>)?;$/gm,
      "import type { $1 } from '$2';\nexport type { $1 };",
    );
}

/**
 * Tidies the declarations that the entries lead to, and deletes the others, which tell of what no user sees.
 * @param {string} folder
 * @param {string[]} entries paths of files in it
 */
export function tidyDeclarations(folder, entries) {
  const reached = new Set(entries);
  for (const path of reached) {
    const text = tidied(readFileSync(join(folder, path), 'utf8'));
    for (const [, from] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)) {
      reached.add(join(dirname(path), `${from}.d.ts`));
    }
    writeFileSync(join(folder, path), text);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(relative(folder, path))) rmSync(path);
  }
}
