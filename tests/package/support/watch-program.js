// A program that watches a file of policies, for every runtime with Node's API: it changes the file in all the ways that there
// are, says what the source told, and has to end by itself.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { TierLimiter } from 'tierlimit';
import { watchFile } from 'tierlimit/policies/file';

const text = (capacity) => JSON.stringify({ default: { capacity, refillPerSecond: 0 } });
const folder = mkdtempSync(join(tmpdir(), 'tierlimit-policies-'));
const path = join(folder, 'conf', 'policies.json');
const limiter = new TierLimiter({ policies: text(1) });
const said = [];

/** Resolves when the source tells of this; what it tells meanwhile is not waited for. */
let expected = () => {};
const until = (what) =>
  new Promise((resolve) => {
    expected = (told) => {
      if (told !== what) return;
      said.push(told);
      resolve();
    };
  });
const source = watchFile({
  limiter,
  path,
  persistent: true,
  settleMs: 1,
  pollMs: 20,
  onApplied: () => expected(`applied ${limiter.peek('nobody').limit}`),
  onRefused: (error) => expected(`refused ${error.code}`),
});

/** Makes a change, and waits for what is told of it. */
async function change(what, make) {
  const told = until(what);
  make();
  await told;
}

await until('refused ENOENT');
await change('applied 5', () => {
  mkdirSync(join(folder, 'conf'));
  writeFileSync(path, text(5));
});
await change('applied 6', () => {
  writeFileSync(`${path}.new`, text(6));
  renameSync(`${path}.new`, path);
});
const file = openSync(path, 'w');
await change('refused syntax', () => writeSync(file, text(7).slice(0, 10)));
await change('applied 7', () => {
  writeSync(file, text(7).slice(10));
  closeSync(file);
});
await change('refused ENOENT', () => unlinkSync(path));
await change('applied 8', () => writeFileSync(path, text(8)));
source.close();

// Without `persistent` it is not what keeps the program.
const other = watchFile({ limiter, path });
said.push(await other.refresh(), other.status().state);
process.on('exit', () => rmSync(folder, { recursive: true }));
console.log(said.join(', '));
