/** A full collection, twice: what the first finds unreachable may hold on to more. Needs --expose-gc. */
export function collectGarbage() {
  if (globalThis.gc === undefined) throw new Error('run node with --expose-gc');
  globalThis.gc();
  globalThis.gc();
}
