// The package as users import it: the WebAssembly module behind its wrapper.
import { ClockError, PolicyError, TierLimiter } from 'tierlimit';
import { MAX_MS } from './time.js';
import { answerLine, withEvicted, writtenKey } from './transcript.js';

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
  #reservations = [];

  /** @param {import('./scenario.js').Operation} operation */
  constructor({ strict, table }) {
    this.#options = { strict, ...table, now: () => this.nowMs, sweep: false };
  }

  /** @param {import('./scenario.js').Operation} operation */
  answer(operation) {
    try {
      return answerLine(this.perform(operation));
    } catch (error) {
      return answerLine(failure(error, operation.kind));
    }
  }

  /** @param {import('./scenario.js').Operation} operation */
  perform(operation) {
    const { kind, text, client, clients, cost, tier, onRaise, ttlMs } = operation;
    const { limiter } = this;
    const isPlain = cost === 1 && tier === undefined; // leave to the wrapper what it has defaults for
    this.nowMs = operation.nowMs ?? this.nowMs;
    switch (kind) {
      case 'open':
        this.limiter = new TierLimiter({ ...this.#options, policies: text, seed });
        return report(this.limiter);
      case 'policies':
        return report(limiter.setPolicies(text));
      case 'setTier':
        limiter.setTier(client, tier, ...(onRaise === undefined ? [] : [{ onRaise }]));
        return { kind: 'done' };
      case 'stats':
        return { kind, ...limiter.stats() };
      case 'allowMany':
        return {
          kind,
          allowed: limiter.allowMany(...(isPlain ? [clients] : [clients, cost, tier])),
        };
      case 'allow':
        return { kind, allowed: this.#asked(operation).allow(...this.#positional(operation)) };
      case 'refund':
        this.#asked(operation).refund(...this.#positional(operation));
        return { kind: 'done' };
      case 'reserve': {
        const number = this.#reservations.push(null) - 1;
        const options = ttlMs === 60_000 && isPlain ? undefined : { cost, ttlMs, tier };
        const reservation = limiter.reserve(client, options);
        this.#reservations[number] = reservation;
        return { kind: 'decision', ...reservation.decision };
      }
      case 'settle':
        return settlement(this.#reservations[operation.reservation].settle(operation.actual));
      case 'cancel':
        return settlement(this.#reservations[operation.reservation].cancel());
      case 'shadow': {
        const shadow = limiter.setShadowPolicies(text);
        return text === null ? { kind: 'done' } : { ...report(shadow), kind };
      }
      case 'promote':
        return report(limiter.promoteShadow());
      case 'shadowStats':
        return { kind, rows: limiter.shadowStats() };
      case 'restore': {
        const bytes = limiter.snapshot();
        this.nowMs = operation.restoredMs;
        this.limiter = TierLimiter.restore(bytes, this.#options);
        limiter.dispose();
        this.#handles.clear();
        this.#reservations = [];
        return report(this.limiter);
      }
      default: {
        const options = operation.byHandle ? { cost } : { cost, tier };
        const decision = operation.byHandle
          ? this.#handle(client, tier)[kind](isPlain ? undefined : options)
          : limiter[kind](client, isPlain ? undefined : options);
        return { kind: 'decision', ...decision };
      }
    }
  }

  /** Who is asked: the limiter, or the client's handle. */
  #asked({ client, tier, byHandle }) {
    return byHandle ? this.#handle(client, tier) : this.limiter;
  }

  /** With what `allow` and `refund` are asked; where that is the default, with as little as there has to be. */
  #positional({ client, cost, tier, byHandle }) {
    const isPlain = cost === 1 && tier === undefined;
    if (byHandle) return isPlain ? [] : [cost];
    return isPlain ? [client] : [client, cost, tier];
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
 * time, by name. They have to agree, and the twin can be asked in between which buckets are gone.
 */
class Watched extends Subject {
  #twin;
  #probes; // tiers of one limit each
  #present = new Map(); // the buckets that there are, by how they are written: a client and a probe
  #evictions = 0;

  /** @param {import('./scenario.js').Operation} operation */
  constructor(operation) {
    super(operation);
    this.#twin = new Subject(operation);
    this.#probes = operation.probes;
  }

  answer(operation) {
    const line = super.answer(operation);
    const { kind, clients, ...rest } = operation;
    if (kind === 'allowMany' && !line.startsWith('allow-many')) return line; // nobody is charged
    const evicted = [];
    const ask = (single) => {
      const twinLine = this.#twin.answer({ ...single, byHandle: false });
      if (single.client !== undefined) {
        const missing = this.#missing(single.client);
        if (missing.length > 0) evicted.push(missing);
      }
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

  /** Which buckets have been evicted since this was asked last, now that `client` may have got some. */
  #missing(client) {
    const { evictions } = this.#twin.limiter.stats();
    const missing = [];
    if (evictions !== this.#evictions) {
      for (const [text, bucket] of this.#present) if (!this.#has(bucket)) missing.push(text);
    }
    this.#evictions = evictions;
    for (const text of missing) this.#present.delete(text);
    for (const probe of this.#probes) {
      const bucket = { client, probe };
      const [name, algorithm] = probe.slice(1).split('/');
      if (this.#has(bucket)) this.#present.set(writtenKey({ client, name, algorithm }), bucket);
    }
    return missing;
  }

  /** Whether there is a bucket: only then a time can be too early for it. */
  #has({ client, probe }) {
    this.#twin.nowMs = -MAX_MS;
    try {
      this.#twin.limiter.peek(client, { tier: probe });
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

function settlement(answer) {
  return { kind: 'settlement', ...answer };
}

/** Those of which the other implementations do not tell the times. */
const CHANGES = new Set(['policies', 'setTier', 'settle', 'cancel', 'promote']);

function failure(error, kind) {
  if (error instanceof PolicyError) return { kind: 'refused', problems: error.problems };
  if (error instanceof ClockError) {
    if (CHANGES.has(kind)) return { kind: 'clock-error' };
    return { kind: 'clock', nowMs: error.nowMs, touchedMs: error.touchedMs };
  }
  if (error instanceof RangeError && /\bcost\b/.test(error.message))
    return { kind: 'invalid-cost' };
  if (error instanceof RangeError && /\bnow\b/.test(error.message)) return { kind: 'invalid-time' };
  throw error;
}

/** The model's answer as JavaScript callers get it: tokens are doubles. */
export function expectedLine(answer) {
  if (answer.kind !== 'decision') return answerLine(answer);
  const inDoubles = (of) => ({ ...of, remaining: Number(of.remaining) });
  return answerLine({ ...inDoubles(answer), limits: answer.limits.map(inDoubles) });
}
