// The package as users import it: the WebAssembly module behind its wrapper.
import { ClockError, PolicyError, TierLimiter } from 'tierlimit';
import { MAX_MS } from './time.js';
import { answerLine, withEvicted } from './transcript.js';

const seed = Uint8Array.from({ length: 16 }, (_, index) => index);

export const name = 'wasm';

/** @param {import('./scenario.js').Operation[]} operations */
export async function perform(operations) {
  /** @type {Subject | null} */
  let subject = null;
  try {
    return operations.map((operation) => {
      if (operation.kind !== 'open') return subject.answer(operation);
      subject?.dispose();
      subject = operation.table ? new Watched(operation) : new Subject(operation);
      return subject.answer(operation);
    });
  } finally {
    subject?.dispose();
  }
}

/** A limiter that is asked in all the ways there are. */
class Subject {
  nowMs = 0;
  limiter = null;
  #handles = new Map();
  #options;

  /** @param {import('./scenario.js').Operation} operation */
  constructor({ strict, table }) {
    this.#options = { strict, ...table, now: () => this.nowMs, sweep: false, seed };
  }

  /** @param {import('./scenario.js').Operation} operation */
  answer(operation) {
    try {
      return answerLine(this.perform(operation));
    } catch (error) {
      return answerLine(failure(error));
    }
  }

  /** @param {import('./scenario.js').Operation} operation */
  perform(operation) {
    const { kind, text, client, clients, cost, tier, byHandle } = operation;
    const isPlain = cost === 1 && tier === undefined; // leave to the wrapper what it has defaults for
    this.nowMs = operation.nowMs ?? this.nowMs;
    switch (kind) {
      case 'open':
        this.limiter = new TierLimiter({ ...this.#options, policies: text });
        return report(this.limiter);
      case 'policies':
        return report(this.limiter.setPolicies(text));
      case 'setTier':
        this.limiter.setTier(client, tier);
        return { kind: 'done' };
      case 'stats':
        return { kind, ...this.limiter.stats() };
      case 'allowMany':
        return {
          kind,
          allowed: this.limiter.allowMany(...(isPlain ? [clients] : [clients, cost, tier])),
        };
      case 'allow': {
        if (byHandle)
          return { kind, allowed: this.#handle(client, tier).allow(...(isPlain ? [] : [cost])) };
        return {
          kind,
          allowed: this.limiter.allow(...(isPlain ? [client] : [client, cost, tier])),
        };
      }
      default: {
        if (byHandle) {
          const handle = this.#handle(client, tier);
          return { kind: 'decision', ...handle[kind](isPlain ? undefined : { cost }) };
        }
        const options = isPlain ? undefined : { cost, tier };
        return { kind: 'decision', ...this.limiter[kind](client, options) };
      }
    }
  }

  /** A client's handle, kept as long as the limiter. */
  #handle(client, tier) {
    const key = JSON.stringify([client, tier]);
    if (!this.#handles.has(key)) this.#handles.set(key, this.limiter.client(client, tier));
    return this.#handles.get(key);
  }

  dispose() {
    this.limiter?.dispose();
  }
}

/**
 * One whose table is small, and beside it its twin: a limiter with the same secret that is asked for one client at a
 * time, by name. They have to agree, and the twin can be asked in between who has lost his bucket.
 */
class Watched extends Subject {
  #twin;
  #present = new Set(); // those with a bucket
  #evictions = 0;

  /** @param {import('./scenario.js').Operation} operation */
  constructor(operation) {
    super(operation);
    this.#twin = new Subject(operation);
  }

  answer(operation) {
    const line = super.answer(operation);
    const { kind, clients, ...rest } = operation;
    if (kind === 'allowMany' && !line.startsWith('allow-many')) return line; // nobody is charged
    const evicted = [];
    const ask = (single) => {
      const twinLine = this.#twin.answer({ ...single, byHandle: false });
      if (single.client !== undefined) evicted.push(...this.#missing(single.client));
      return twinLine;
    };
    let twinLine;
    if (kind === 'allowMany') {
      const flags = clients.map((client) =>
        ask({ ...rest, kind: 'allow', client }).slice('allow '.length),
      );
      twinLine = `allow-many ${flags.join('')}`;
    } else twinLine = ask(operation);
    if (line !== twinLine) return `${line} (asked one by one: ${twinLine})`;
    return withEvicted(line, evicted);
  }

  /** Who has been evicted since this was asked last, now that `client` may have got a bucket. */
  #missing(client) {
    const { evictions } = this.#twin.limiter.stats();
    const missing =
      evictions === this.#evictions ? [] : [...this.#present].filter((each) => !this.#has(each));
    this.#evictions = evictions;
    for (const each of missing) this.#present.delete(each);
    if (this.#has(client)) this.#present.add(client);
    return missing;
  }

  /** Whether a client has a bucket: only then a time can be too early for it. */
  #has(client) {
    this.#twin.nowMs = -MAX_MS;
    try {
      this.#twin.limiter.peek(client);
      return false;
    } catch (error) {
      if (error instanceof ClockError) return true;
      throw error;
    }
  }

  dispose() {
    super.dispose();
    this.#twin.dispose();
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
