// Random operations on a limiter, each with the answer that the model gives.
//
// The next operation may depend on the last answer (to come back exactly when it said, say), so the model is asked as
// the operations are made. A seed repeats all of it.
import { Digits, jsonText } from './json.js';
import { ModelLimiter } from './limiter.js';
import { Random } from './random.js';
import { brokenPolicy, changedQuota, policyOf, randomQuota, shuffled } from './random-policy.js';
import { MAX_MS, toMicros } from './time.js';

/**
 * @typedef {object} Operation
 * @property {'open' | 'policies' | 'setTier' | 'allow' | 'check' | 'peek' | 'allowMany' | 'stats'} kind `open` starts a
 *   new limiter
 * @property {string} [text] policy JSON
 * @property {boolean} [strict]
 * @property {{ maxClients: number, onFull: 'evict' | 'deny' }} [table]
 * @property {number} [nowMs]
 * @property {string} [client]
 * @property {string[]} [clients]
 * @property {boolean} [byHandle] asked of the client's handle, where there are handles
 * @property {number} [cost]
 * @property {string | null} [tier]
 */

const TIERS = [
  'free',
  'pro',
  'enterprise',
  '',
  'constructor',
  '__proto__',
  'a/b',
  'm~n',
  'ü🚀',
  '"\\\n',
];
const UNKNOWN_TIERS = ['gone', 'toString', 'pro ', '\ud800', 'x'.repeat(300)];
const CLIENTS = [
  'alice',
  'bob',
  '192.0.2.1',
  '',
  '__proto__',
  'constructor',
  'a\u0000b',
  'żółć',
  '🚀',
  'x'.repeat(5000),
  'ü'.repeat(2000),
];
// What a document cannot name, but a caller can.
const LONE_CLIENTS = ['\ud800', '\udc00', 'a\udfff', '\udc00\ud800'];

/** Where a clock may stand when a limiter starts. */
const starts = {
  zero: () => 0,
  nearZero: (random) => (random.fraction() - 0.5) / 50,
  negative: (random) => -random.fraction() * 1e9,
  uptime: (random) => random.whole(0, 1e7) + random.whole(0, 9) / 10,
  epoch: (random) => 1.7e12 + random.whole(0, 1e9) + random.fraction(),
  last: (random) => MAX_MS - random.fraction() * 10 ** random.whole(0, 7),
  first: () => -MAX_MS,
};

class Scenario {
  #random;
  #observe;
  #model = null;
  #now = 0;
  #left = 0; // operations of this limiter still to make
  #names = { clients: [], tiers: [] };
  #quotas = { default: null, tiers: new Map(), clients: new Map() }; // of the document in force
  #planned = []; // operations that have to come next
  #isSmall;

  constructor(seed, observe, isSmall) {
    this.#random = new Random(seed);
    this.#observe = observe;
    this.#isSmall = isSmall;
  }

  /** @returns {{ operation: Operation, answer: object }} */
  next() {
    const operation = this.#planned.shift() ?? this.#invent();
    const answer = this.#ask(operation);
    this.#follow(operation, answer);
    const { expected } = operation;
    if (expected !== undefined && answer.allowed !== expected) {
      throw new Error(
        `the model broke its word: ${JSON.stringify(operation)} was to be ${expected}`,
      );
    }
    return { operation, answer };
  }

  #invent() {
    if (this.#left === 0) return this.#open();
    this.#left -= 1;
    const kind = this.#random.weighted([
      [55, 'check'],
      [22, 'allow'],
      [5, 'allowMany'],
      [10, 'peek'],
      [6, 'policies'],
      [6, 'setTier'],
      [1, 'stats'],
    ]);
    if (kind === 'stats') return { kind };
    if (kind === 'policies') return { kind, ...this.#document() };
    const client = this.#random.pick(this.#names.clients);
    if (kind === 'setTier') return { kind, client, tier: this.#tierName() ?? null };
    const tier = this.#random.chance(0.15) ? this.#tierName() : undefined;
    const nowMs = this.#clock();
    const cost = this.#cost(client, tier, nowMs);
    if (kind !== 'allowMany') {
      const byHandle = this.#random.chance(0.25);
      if (byHandle) this.#observe('by handle');
      return { kind, nowMs, client, tier, cost, byHandle };
    }
    // Some of them more than once.
    const count = this.#random.pick([0, 1, 2, 2, 3, 3, 5, 20]);
    const clients = Array.from({ length: count }, () => this.#random.pick(this.#names.clients));
    return { kind, nowMs, clients, tier, cost };
  }

  #ask(operation) {
    if (operation.kind === 'open') {
      const { strict, table } = operation;
      this.#model = new ModelLimiter({ strict, observe: this.#observe, ...table });
    }
    return ask(this.#model, operation);
  }

  /** Takes note of an answer. */
  #follow(operation, answer) {
    const { kind, client, tier } = operation;
    if (answer.kind === 'refused') {
      if (kind === 'open') this.#left = 0;
    } else if (operation.quotas) this.#quotas = operation.quotas;

    if (!('cost' in operation) || kind === 'allowMany') return;
    const { rateStep, capacityRounded } = this.#model.lookUp(client, tier).limit;
    this.#observe(capacityRounded ? 'judged by a rounded capacity' : `judged by rate: ${rateStep}`);
    if (answer.reason === 'exhausted' && kind === 'check' && this.#random.chance(0.3)) {
      this.#planToObey(operation, answer.retryAfterMs);
    }
  }

  /** S9: who comes back when the answer said is admitted, and one microsecond earlier is not. */
  #planToObey({ nowMs, client, tier, cost }, retryAfterMs) {
    const then = nowMs + retryAfterMs;
    if (toMicros(then) === null) return;
    if (this.#planned.length > 0 || then > this.#now + 1e11) return;
    const now = toMicros(nowMs);
    const isShort = Math.abs(nowMs) < 2 ** 41 && Math.abs(then) < 2 ** 41;
    const wholeMicros = isShort && Number(now) / 1000 === nowMs;
    if (wholeMicros && retryAfterMs > 0.001) {
      const before = (Math.round(then * 1000) - 1) / 1000;
      this.#planned.push({ kind: 'check', nowMs: before, client, tier, cost, expected: false });
    }
    this.#planned.push({ kind: 'check', nowMs: then, client, tier, cost, expected: true });
    this.#now = Math.max(this.#now, then);
    this.#observe('obeyed');
  }

  #open() {
    const random = this.#random;
    this.#left = random.whole(100, 1500);
    this.#now = starts[random.pick(Object.keys(starts))](random);
    let names = [...CLIENTS, ...LONE_CLIENTS];
    let count = random.whole(3, 10);
    /** @type {Operation['table']} */
    let table;
    if (this.#isSmall) {
      // Who has no bucket is told by asking at the earliest time there is: it must not be anybody's.
      this.#now = Math.max(this.#now, 1 - MAX_MS);
      const maxClients = random.pick([8, 8, 8, 9, 13, 14, 20, 40, 80]);
      table = { maxClients, onFull: random.chance(0.8) ? 'evict' : 'deny' };
      names = [...names, ...Array.from({ length: 200 }, (_, i) => `client ${i}`)];
      count = random.whole(maxClients + 1, 3 * maxClients);
    }
    this.#names = {
      clients: shuffled(random, names).slice(0, count),
      tiers: shuffled(random, TIERS).slice(0, random.whole(1, 5)),
    };
    this.#quotas = { default: randomQuota(random), tiers: new Map(), clients: new Map() };
    return { kind: 'open', strict: random.chance(0.1), table, ...this.#document() };
  }

  #tierName() {
    return this.#random.weighted([
      [8, this.#random.pick(this.#names.tiers)],
      [1, this.#random.pick(UNKNOWN_TIERS)],
      [2, undefined],
    ]);
  }

  #cost(client, tier, nowMs) {
    const random = this.#random;
    const capacity = Number(this.#model.lookUp(client, tier).limit.capacity.floor());
    const held = () => Number(this.#model.peek({ nowMs, client, tier }).remaining ?? 1n);
    const cost = random.weighted([
      [40, () => 1],
      [15, () => random.whole(1, 10)],
      [15, () => Math.floor(random.fraction() * capacity)],
      [6, () => capacity],
      [3, () => capacity + 1],
      [8, held],
      [8, () => held() + 1],
      [1, () => 2 ** 53 - 1],
    ])();
    if (random.chance(0.004) && toMicros(nowMs) !== null) return random.pick([0, 2 ** 53]);
    return Math.min(Math.max(cost, 1), 2 ** 53 - 1);
  }

  /** A reading of a clock that moves on, jumps, stands still and now and then errs. */
  #clock() {
    const random = this.#random;
    if (random.chance(0.005)) {
      return random.pick([NaN, Infinity, -Infinity, 1e300, MAX_MS + 0.01, -MAX_MS - 0.01]);
    }
    if (random.chance(0.04)) return this.#now - random.fraction() * 10 ** random.whole(-3, 5);
    const step = random.weighted([
      [40, () => 0],
      [12, () => random.whole(1, 20) / 1000],
      [12, () => random.whole(1, 1000)],
      [10, () => random.fraction() * 10 ** random.whole(-3, 2)],
      [8, () => random.whole(1, 100) * 1000],
      [4, () => random.whole(1, 100) * 3_600_000],
      [1, () => random.whole(1, 2000) * 86_400_000],
      [0.1, () => random.fraction() * 3e12],
    ])();
    this.#now = Math.min(this.#now + step, MAX_MS);
    return this.#now;
  }

  /** A policy document, most often a change of the one in force. */
  #document() {
    const random = this.#random;
    const quotas = random.chance(0.15) ? this.#quotas : this.#changedQuotas();
    const tiers = new Map();
    for (const [name, quota] of quotas.tiers) {
      const broken = random.chance(0.12);
      tiers.set(name, broken ? brokenPolicy(random, quota) : policyOf(random, quota));
    }
    const members = [['default', policyOf(random, quotas.default)]];
    if (tiers.size > 0 || random.chance(0.5)) members.push(['tiers', tiers]);
    if (quotas.clients.size > 0 || random.chance(0.5)) members.push(['clients', quotas.clients]);
    let document = new Map(shuffled(random, members));
    if (random.chance(0.08)) document = this.#spoiled(document, quotas);

    const space = random.chance(0.7)
      ? undefined
      : () => random.pick(['', '', ' ', '\n', '\r\n', '\t']);
    const quote = random.chance(0.8) ? undefined : (text) => spelled(random, text);
    return { document, quotas, text: jsonText(document, { space, quote }) };
  }

  #changedQuotas() {
    const random = this.#random;
    const old = this.#quotas;
    const changed = (quota) =>
      random.weighted([
        [5, () => quota],
        [3, () => changedQuota(random, quota)],
        [2, () => randomQuota(random)],
      ])();
    const tiers = new Map();
    for (const name of this.#names.tiers) {
      if (random.chance(0.15)) continue;
      tiers.set(name, old.tiers.has(name) ? changed(old.tiers.get(name)) : randomQuota(random));
    }
    const clients = new Map();
    for (const client of this.#names.clients) {
      if (LONE_CLIENTS.includes(client) || random.chance(0.6)) continue;
      clients.set(client, random.chance(0.9) ? random.pick(this.#names.tiers) : 'gone');
    }
    return { default: changed(old.default), tiers, clients };
  }

  /** A document that is to be refused whole. */
  #spoiled(document, quotas) {
    const random = this.#random;
    const spoiled = new Map(document);
    const faults = [
      () => spoiled.delete('default'),
      () => spoiled.set('default', brokenPolicy(random, quotas.default)),
      () => spoiled.set(random.pick(['version', '__proto__', '']), 'x'),
      () => spoiled.set('tiers', random.pick([null, [], 'free', new Digits('1')])),
      () => spoiled.set('clients', random.pick([null, [], 'acme', true])),
      () => spoiled.set('clients', new Map([['alice', random.pick([null, new Digits('1'), []])]])),
      () =>
        spoiled.set(
          'default',
          policyOf(random, { capacity: random.pick(['1e309', '1.8e308']), refill: '1' }),
        ),
    ];
    if (random.chance(0.1)) return random.pick([null, [], 'free', new Digits('1')]);
    random.pick(faults)();
    return spoiled;
  }
}

/** A string as JSON with every character escaped that is not plain ASCII, and some that need not be. */
function spelled(random, text) {
  const spell = (_, index) => {
    const unit = text.charCodeAt(index);
    const isPlain = unit >= 0x20 && unit <= 0x7e && text[index] !== '"' && text[index] !== '\\';
    if (isPlain && random.chance(0.7)) return text[index];
    return '\\u' + unit.toString(16).padStart(4, '0');
  };
  return `"${Array.from({ length: text.length }, spell).join('')}"`;
}

/**
 * What a model answers to an operation; `open` needs none.
 * @param {ModelLimiter} model
 * @param {Operation} operation
 */
export function ask(model, operation) {
  const { kind, client, tier } = operation;
  switch (kind) {
    case 'open':
    case 'policies':
      return model.setPolicies(operation.document);
    case 'setTier':
      return model.setTier(client, tier);
    case 'stats':
      return model.stats();
    default:
      return model[kind](operation);
  }
}

/** Counts what an answer says. */
export function count(answer, observe) {
  observe(`answer: ${answer.kind}`);
  if (answer.kind === 'decision') {
    observe(`reason: ${answer.reason}`);
    observe(`fallback: ${answer.fallback}`);
    if (answer.resetMs === null) observe('never full');
  }
  for (const { code } of [...(answer.rejected ?? []), ...(answer.warnings ?? [])]) {
    observe(`tier: ${code}`);
  }
  for (const { code } of answer.problems ?? []) observe(`document: ${code}`);
}

/** Counts events: how often each rule was used. */
export function counter() {
  const coverage = new Map();
  const observe = (event) => coverage.set(event, (coverage.get(event) ?? 0) + 1);
  return { coverage, observe };
}

/**
 * @param {number} seed
 * @param {number} length
 * @param {{ isSmall?: boolean }} [options] `isSmall`: more clients than there is room for
 * @returns {{ operations: Operation[], answers: object[], coverage: Map<string, number> }} `coverage` counts the rules
 *   that were used
 */
export function makeScenario(seed, length, { isSmall = false } = {}) {
  const { coverage, observe } = counter();
  const scenario = new Scenario(seed, observe, isSmall);
  const operations = [];
  const answers = [];
  while (operations.length < length) {
    const { operation, answer } = scenario.next();
    operations.push(operation);
    answers.push(answer);
    count(answer, observe);
  }
  return { operations, answers, coverage };
}
