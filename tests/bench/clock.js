// The clock that is injected wherever a subject takes one: whole milliseconds since the start, moved by the benchmark
// alone. Reading it costs next to nothing. They do not count from 1970, as Date.now() does, because the Map is better off
// so: what it remembers of them are small integers, which need no number on the heap.

let nowMs = 0;

export const now = () => nowMs;

/** @param {number} elapsedMs since the start */
export function setClock(elapsedMs) {
  nowMs = elapsedMs;
}
