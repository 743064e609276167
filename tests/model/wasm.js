// The package as users import it: the WebAssembly module behind its wrapper.
import { ClockError, PolicyError, TierLimiter } from 'tierlimit';
import { answerLine } from './transcript.js';

const seed = Uint8Array.from({ length: 16 }, (_, index) => index);

export const name = 'wasm';

/** @param {import('./scenario.js').Operation[]} operations */
export async function perform(operations) {
  let limiter = null;
  let nowMs = 0;
  const now = () => nowMs;

  const answer = (operation) => {
    const { kind, text, strict, client, cost, tier } = operation;
    const isPlain = cost === 1 && tier === undefined; // leave to the wrapper what it has defaults for
    nowMs = operation.nowMs ?? nowMs;
    switch (kind) {
      case 'open':
        limiter?.dispose();
        limiter = null;
        limiter = new TierLimiter({ policies: text, strict, now, sweep: false, seed });
        return report(limiter);
      case 'policies':
        return report(limiter.setPolicies(text));
      case 'setTier':
        limiter.setTier(client, tier);
        return { kind: 'done' };
      case 'stats':
        return { kind, ...limiter.stats() };
      case 'allow':
        return { kind, allowed: limiter.allow(...(isPlain ? [client] : [client, cost, tier])) };
      default:
        return { kind: 'decision', ...limiter[kind](client, isPlain ? undefined : { cost, tier }) };
    }
  };

  try {
    return operations.map((operation) => {
      try {
        return answerLine(answer(operation));
      } catch (error) {
        return answerLine(failure(error));
      }
    });
  } finally {
    limiter?.dispose();
  }
}

function report({ revision, rejected, warnings }) {
  return { kind: 'report', revision, rejected, warnings };
}

function failure(error) {
  if (error instanceof PolicyError) return { kind: 'refused', problems: error.problems };
  if (error instanceof ClockError) {
    return { kind: 'clock', nowMs: error.nowMs, touchedMs: error.touchedMs };
  }
  if (error instanceof RangeError && /\bcost\b/.test(error.message))
    return { kind: 'invalid-cost' };
  if (error instanceof RangeError && /\bnow\b/.test(error.message)) return { kind: 'invalid-time' };
  throw error;
}

/** The model's answer as JavaScript callers get it: tokens are doubles. */
export function expectedLine(answer) {
  return answerLine(
    answer.kind === 'decision' ? { ...answer, remaining: Number(answer.remaining) } : answer,
  );
}
