// By which compiler the module was made: what is counted of its code differs a little from one to the next.
import { readFileSync } from 'node:fs';

// js/scripts/build-wasm.js leaves there what it built with.
const mark = readFileSync(new URL('../../../.build/wasm/emscripten.txt', import.meta.url), 'utf8');

/** Whether it is the Emscripten that the limits are for, that of Debian 12. */
const usual = / 3\.1\.6 /.test(mark);

/**
 * A limit as it holds for the compiler at hand.
 * @param {number} limit
 * @param {number} slack how much more, as a part of it, the code of another compiler may come to
 */
export const limitHere = (limit, slack) => (usual ? limit : limit * (1 + slack));
