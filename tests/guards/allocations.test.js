// What calls allocate on JavaScript's heap: a limiter that sees millions of requests must not keep the collector busy.
//
// Where one of these fails, look for an object, an array, a closure, a string or a boxed number that the call makes. (A
// number is boxed where one that is no small integer is handed to a function too large for the engine to inline, or comes
// back from one.) The limits are what calls have to return; they do not move with the code.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/**
 * Bytes per call. Whatever is allocated takes eight at the least: a fraction of a byte is what the compilers left behind
 * in the midst of a million calls, and the test's own.
 */
const nothing = 0.1;
/**
 * Names of more than 48 characters go through TextEncoder.encodeInto. The object in which it says what it has done is
 * left out by the compiler mostly, and not always: since Node.js 24 seldom, and in Node.js 20 for some order of the calls
 * before.
 */
const encoded = 40 + nothing;
/** Those of more than 4,096 do so in pieces of that length, each of them a string that is a view into the name. */
const piece = 32 + encoded;
/** The decision and its one limit; of the numbers in them those that are not small and whole are boxed. */
const decision = 295;

/** @type {Record<string, number>} */
const limits = {
  'allow, 24 characters': nothing,
  'allow, 0 characters': nothing,
  'allow, 8 characters': nothing,
  'allow, 15 characters': nothing,
  'allow, 36 characters': nothing,
  'allow, 64 characters': encoded,
  'allow, 256 characters': encoded,
  'allow, 5,000 characters': 2 * piece,
  'allow, Latin-1': nothing,
  'allow, Unicode': nothing,
  'allow, a lone surrogate': nothing,
  'allow, 48 characters, Unicode': nothing,
  'allow, 64 characters, Unicode': encoded,
  'allow, denied': nothing,
  'allow, for clients that are all new': nothing,
  'allow, refused as there is no room': nothing,
  'allow, the clock held': nothing,
  'allow, with a cost': nothing,
  'allow, with a tier': nothing,
  'allow, with a tier assigned': nothing,
  'handle, allow': nothing,
  'handle, allow with a tier': nothing,
  'handle, allow denied': nothing,
  check: decision,
  'check, denied': decision,
  peek: decision,
  'handle, check': decision,
  'handle, peek': decision,
};

const script = fileURLToPath(new URL('support/allocations.js', import.meta.url));
// In MiB: more than any loop of the script allocates.
const youngGeneration = 64;
const flags = [
  '--expose-gc',
  `--min-semi-space-size=${youngGeneration}`,
  `--max-semi-space-size=${youngGeneration}`,
];

for (const readings of ['whole', 'fractional']) {
  test(`allow allocates nothing, check its decision: ${readings} readings of the clock`, (t) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, script, readings], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    /** @type {{ name: string, bytes: number, collected: number }[]} */
    const [control, ...results] = JSON.parse(stdout);
    // What a heap that was collected in between grew by is not what was allocated.
    const collected = [control, ...results].filter((result) => result.collected > 0);
    assert.deepEqual(collected, []);
    assert.ok(control.bytes >= 24 && control.bytes <= 64, `an object takes ${control.bytes} bytes`);
    assert.deepEqual(results.map(({ name }) => name).sort(), Object.keys(limits).sort());
    const problems = results
      .filter(({ name, bytes }) => !(bytes <= limits[name]))
      .map(({ name, bytes }) => `${name}: ${bytes} bytes a call; allowed are ${limits[name]}`);
    assert.deepEqual(problems, []);
    const most = Math.max(...results.map(({ bytes }) => bytes));
    t.diagnostic(
      `${readings} readings: allow allocates nothing, check ${Math.ceil(most)} bytes at most`,
    );
  });
}
