// The build puts the functions of the module into an order that compresses well. That the module it makes works is what
// all other tests say; these are about what it may meet.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { reordered } from '../../js/scripts/function-order.js';

const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** @param {number} id @param {number[]} bytes */
const section = (id, bytes) => [id, bytes.length, ...bytes];
/** @param {string} name @param {number} number */
const exported = (name, number) => [name.length, ...Buffer.from(name), 0, number];
/** @param {number[]} code */
const body = (code) => [code.length + 2, 0, ...code, 0x0b];

/**
 * Four functions without parameters that return an i32; the third and the fourth are in a table, which `by` calls.
 * @param {number[][]} bodies
 */
const moduleOf = (bodies) =>
  Buffer.from([
    ...header,
    ...section(1, [2, 0x60, 0, 1, 0x7f, 0x60, 1, 0x7f, 1, 0x7f]),
    ...section(2, [1, 1, 97, 1, 98, 0, 0]),
    ...section(3, [5, 0, 0, 0, 0, 1]),
    ...section(4, [1, 0x70, 0, 2]),
    ...section(7, [3, ...exported('one', 1), ...exported('two', 2), ...exported('by', 5)]),
    ...section(9, [1, 0, 0x41, 0, 0x0b, 2, 3, 4]),
    ...section(10, [bodies.length, ...bodies.flatMap(body)]),
  ]);
const seven = [0x41, 7];
const bodies = [
  [0x10, 0, 0x10, 3, 0x6a], // one: imported() + three()
  [0x10, 1], // two: one()
  seven,
  [0x41, 0x80, 0x10, 0x41, 3, 0x6a, 0x0f], // 2048 + 3
  [0x20, 0, 0x11, 0, 0],
];

/** @param {Uint8Array<ArrayBuffer>} wasm */
function answers(wasm) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), {
    a: { b: () => 100 },
  });
  const { one, two, by } = /** @type {Record<string, (at?: number) => number>} */ (exports);
  return [one(), two(), by(0), by(1)];
}

test('functions in another order call each other as before: by number, from a table and when exported', () => {
  const wasm = moduleOf(bodies);
  const made = reordered(wasm);
  assert.deepEqual(answers(wasm), [107, 107, 7, 2051]);
  assert.deepEqual(answers(Uint8Array.from(made)), [107, 107, 7, 2051]);
  assert.notDeepEqual(made, wasm);
  assert.deepEqual(reordered(wasm), made, 'the same one each time');
});

test('a module that has an instruction which is not known stays as it is', (t) => {
  const told = [];
  t.mock.method(process.stderr, 'write', (/** @type {string} */ text) => told.push(text) > 0);
  const wasm = moduleOf([...bodies.slice(0, 2), [0xfd, 0x0f, 0x41, 7], ...bodies.slice(3)]);
  assert.equal(reordered(wasm), wasm);
  assert.deepEqual(told, ['The functions stay in their order: opcode fd.\n']);
});
