// Milliseconds of a clock, whole microseconds of a decision, and waits that a caller can obey.
import { roundToEven } from './double.js';

export const MAX_MICROS = 2n ** 53n;
export const MAX_MS = Number(MAX_MICROS) / 1000;

/** The whole microsecond nearest to a reading, or null when the reading is out of range. */
export function toMicros(nowMs) {
  const micros = nowMs * 1000;
  if (!(Math.abs(micros) <= Number(MAX_MICROS))) return null;
  return BigInt(roundToEven(micros));
}

/** The milliseconds to add to the reading `nowMs` so that a clock has certainly moved on by `wait` microseconds. */
export function waitMs(nowMs, wait) {
  const instant = toMicros(nowMs) + wait;
  if (instant > MAX_MICROS) return Number(wait) / 1000;
  for (let candidate = wait; ; candidate += 1n) {
    const ms = Number(candidate) / 1000;
    if (BigInt(roundToEven((nowMs + ms) * 1000)) >= instant) return ms;
  }
}
