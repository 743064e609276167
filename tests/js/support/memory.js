// Linear memory: watched from outside, and cores that can have only so much of it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pageBytes = 2 ** 16;

/** The bytes of the module as it is shipped. */
export const coreBytes = () =>
  readFileSync(fileURLToPath(import.meta.resolve('tierlimit/core.wasm')));

/**
 * Remembers the memory of every instance that is made from now on, the latest last.
 *
 * @returns {WebAssembly.Memory[]}
 */
export function watchMemories() {
  const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (module, imports) {
    const instance = new Instance(module, imports);
    memories.push(Object.values(instance.exports).find((it) => it instanceof WebAssembly.Memory));
    return instance;
  };
  return memories;
}

/**
 * The module, but with memory that grows to so many bytes and no further: its memory section says so.
 *
 * @param {number} bytes
 */
export function coreWithin(bytes) {
  const wasm = Uint8Array.from(coreBytes());
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < wasm.length) {
    const section = wasm[at++];
    const end = number() + at;
    if (section === 5) {
      const [memories, flags, initial] = [number(), number(), number()];
      const first = at;
      number();
      if (memories !== 1 || flags !== 1 || at !== end || initial * pageBytes > bytes) {
        throw new Error('the memory section is not as expected');
      }
      // As long as it was: a number may have leading zeros.
      let pages = Math.floor(bytes / pageBytes);
      for (let i = first; i < end; i += 1, pages >>>= 7) {
        wasm[i] = (pages & 0x7f) | (i + 1 < end ? 0x80 : 0);
      }
      return new WebAssembly.Module(wasm);
    }
    at = end;
  }
  throw new Error('the module has no memory of its own');
}
