// The native library, through the executable that tests/core/replay.cpp becomes.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { answerLine, operationLine } from './transcript.js';

const executable =
  process.env.TIERLIMIT_REPLAY ??
  fileURLToPath(new URL('../../.build/native/tests/core/tierlimit_replay', import.meta.url));

export const name = 'native';

/** @param {import('./scenario.js').Operation[]} operations */
export async function perform(operations) {
  if (!existsSync(executable)) {
    throw new Error(`${executable} is missing: build the native tests, or set TIERLIMIT_REPLAY`);
  }
  const replay = spawn(executable, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise((resolve, reject) => {
    replay.on('error', reject);
    replay.on('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`${executable} ended with ${code ?? signal}`)),
    );
  });
  replay.stdin.on('error', () => {}); // it ended early: `closed` tells why
  replay.stdin.end(operations.map((operation) => operationLine(operation) + '\n').join(''));
  const chunks = [];
  for await (const chunk of replay.stdout) chunks.push(chunk);
  await closed;
  return Buffer.concat(chunks).toString().split('\n').slice(0, -1);
}

/** The model's answer as the native library gives it. */
export const expectedLine = answerLine;
