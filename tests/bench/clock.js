// The clock that is injected wherever a subject takes one: whole milliseconds, as Date.now() gives them, moved by the
// benchmark alone. Reading it costs next to nothing.

const start = 1_700_000_000_000;
let nowMs = start;

export const now = () => nowMs;

/** @param {number} elapsedMs since the start */
export function setClock(elapsedMs) {
  nowMs = start + elapsedMs;
}
