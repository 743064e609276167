// Random operations on a limiter, each with the answer that the model gives.
//
// The next operation may depend on the last answer (to come back exactly when it said, say), so the model is asked as
// the operations are made. A seed repeats all of it.
import { Digits, jsonText } from './json.js';
import { ModelLimiter } from './limiter.js';
import { Random } from './random.js';
import {
  ALGORITHMS,
  brokenPolicy,
  changedPlan,
  LIMIT_NAMES,
  policyOf,
  randomPlan,
  shuffled,
} from './random-policy.js';
import { MAX_MS, toMicros } from './time.js';
import { probeTier } from './transcript.js';

/**
 * @typedef {object} Operation
 * @property {'open' | 'policies' | 'setTier' | 'allow' | 'check' | 'peek' | 'allowMany' | 'stats' | 'refund' | 'reserve'
 *   | 'settle' | 'cancel' | 'shadow' | 'promote' | 'shadowStats' | 'restore'} kind `open` starts a new limiter, `restore`
 *   goes on with one made of its snapshot
 * @property {string | null} [text] policy JSON; of a shadow null ends it
 * @property {unknown} [document] the same as json.js has it
 * @property {boolean} [strict]
 * @property {{ maxClients: number, onFull: 'evict' | 'deny' }} [table]
 * @property {string[]} [probes] tiers by which to ask whether there is a bucket
 * @property {number} [nowMs]
 * @property {string} [client]
 * @property {string[]} [clients]
 * @property {boolean} [byHandle] asked of the client's handle, where there are handles
 * @property {number} [cost]
 * @property {string | null} [tier]
 * @property {string} [onRaise] of setTier
 * @property {number} [ttlMs] of a reservation
 * @property {number} [reservation] its number: how many there were before it of this limiter
 * @property {number} [actual] what it cost
 * @property {number} [restoredMs] what the clock reads of a limiter that is restored
 */
/**
 * @typedef {object} Options
 * @property {boolean} [isSmall] more clients than there is room for
 * @property {Set<string>} [features] what may be used: for finding out what a difference depends on
 */

/** Everything that a limiter may be asked and told beyond the plain token bucket. */
export const FEATURES = new Set([
  'limits', // several, and onRaise
  'windows',
  'prorated',
  'setTier', // with onRaise
  'refund',
  'reserve',
  'shadow',
  'restore',
]);

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
  #plans = { default: null, tiers: new Map(), clients: new Map() }; // of the document in force
  #candidate = null; // the same of the shadow's
  #planned = []; // operations that have to come next
  #reservations = []; // those that may be settled
  #reserved = 0; // how many there were
  #table;
  #isSmall;
  #features;

  constructor(seed, observe, { isSmall = false, features = FEATURES } = {}) {
    this.#random = new Random(seed);
    this.#observe = observe;
    this.#isSmall = isSmall;
    this.#features = new Set(features);
    if (isSmall) {
      // A shadow has a table of its own, of which nobody tells who is evicted.
      for (const feature of ['shadow', 'restore']) this.#features.delete(feature);
    } else this.#features.add('many names');
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
    const random = this.#random;
    const has = (feature, weight) => (this.#features.has(feature) ? weight : 0);
    const kind = random.weighted([
      [50, 'check'],
      [20, 'allow'],
      [5, 'allowMany'],
      [10, 'peek'],
      [6, 'policies'],
      [6, 'setTier'],
      [1, 'stats'],
      [has('refund', 5), 'refund'],
      [has('reserve', 6), 'reserve'],
      [this.#reservations.length > 0 ? 8 : 0, 'settle'],
      [has('shadow', 0.8), 'shadow'],
      [this.#model.hasShadow ? 0.5 : 0, 'promote'],
      [has('shadow', 0.8), 'shadowStats'],
      [has('restore', 0.4), 'restore'],
      [has('prorated', 0.08), 'manyPolicies'],
    ]);
    const client = random.pick(this.#names.clients);
    switch (kind) {
      case 'stats':
      case 'shadowStats':
        return { kind };
      case 'policies':
        return { kind, nowMs: this.#reading(), ...this.#document() };
      case 'setTier':
        return this.#tierChange(client);
      case 'settle':
        return this.#settlement();
      case 'shadow':
        if (random.chance(0.2)) return { kind, text: null };
        return { kind, ...this.#document() };
      case 'promote':
        return { kind, nowMs: this.#reading() };
      case 'restore': {
        const restoredMs = starts[random.pick(Object.keys(starts))](random);
        return { kind, nowMs: this.#now, restoredMs };
      }
      case 'manyPolicies':
        return this.#manyPolicies(client);
      default:
        return this.#request(kind, client);
    }
  }

  #request(kind, client) {
    const random = this.#random;
    const tier = random.chance(0.15) ? this.#tierName() : undefined;
    const nowMs = this.#clock();
    const cost = this.#cost(client, tier, nowMs);
    if (kind === 'refund') return { kind, nowMs, client, tier, cost };
    if (kind === 'reserve') {
      const ttlMs = random.pick([60_000, 60_000, 1000, 3_600_000, 3_600_000, 1, 0.001]);
      return { kind, nowMs, client, tier, cost, ttlMs };
    }
    if (kind !== 'allowMany') {
      const byHandle = random.chance(0.25);
      if (byHandle) this.#observe('by handle');
      return { kind, nowMs, client, tier, cost, byHandle };
    }
    // Some of them more than once.
    const count = random.pick([0, 1, 2, 2, 3, 3, 5, 20]);
    const clients = Array.from({ length: count }, () => random.pick(this.#names.clients));
    return { kind, nowMs, clients, tier, cost };
  }

  #tierChange(client) {
    const random = this.#random;
    const operation = { kind: 'setTier', nowMs: this.#reading(), client };
    const onRaise =
      this.#features.has('setTier') && random.chance(0.5)
        ? random.pick(['keep', 'fill', 'proportional', 'add'])
        : undefined;
    return { ...operation, tier: this.#tierName() ?? null, onRaise };
  }

  /** Ends a reservation, most often one that is still open. */
  #settlement() {
    const random = this.#random;
    const last = this.#reservations.length - 1;
    const index = random.chance(0.7) ? last : random.whole(0, last); // there is still time for the last one
    const reservation = this.#reservations[index];
    if (random.chance(0.8)) this.#reservations.splice(index, 1);
    const { number, client, cost, at, ttlMs } = reservation;
    const actual = random.weighted([
      [4, () => Math.floor(random.fraction() * cost)],
      [1, () => cost],
      [3, () => cost + random.whole(1, 5)],
      [3, () => Math.floor(cost * (1 + random.fraction()))],
      [1, () => 0],
      [0.2, () => 2 ** 53 - 1],
    ])();
    let nowMs = this.#reading();
    // The last microsecond and the first that is too late, where doubles tell them apart.
    const end = at + ttlMs;
    const isExact = Math.abs(end) < 2 ** 41 && toMicros(end) === toMicros(at) + toMicros(ttlMs);
    if (isExact && Number(toMicros(at)) / 1000 === at && end > this.#now && random.chance(0.4)) {
      const isLate = random.chance(0.5);
      this.#observe(isLate ? 'settled as it ends' : 'settled just before it ends');
      nowMs = isLate ? end : (Math.round(end * 1000) - 1) / 1000;
      this.#now = Math.max(this.#now, nowMs);
    }
    const operation = { nowMs, client, reservation: number };
    if (random.chance(0.25)) return { kind: 'cancel', ...operation };
    return { kind: 'settle', ...operation, actual: Math.min(actual, 2 ** 53 - 1) };
  }

  /** More policies than are remembered while a client is idle. */
  #manyPolicies(client) {
    const random = this.#random;
    const change = () => {
      this.#now = Math.min(this.#now + random.pick([0, 0.001, 1, 1, 250, 1000]), MAX_MS);
      const limits = [
        { name: 'main', algorithm: 'token-bucket', accrual: 'prorated', onRaise: 'keep' },
      ];
      limits[0].quota = {
        capacity: String(random.whole(10, 60)),
        refill: random.pick(['0.5', '1', '2', '3', '1000', '0']),
      };
      if (random.chance(0.2)) limits[0].onRaise = random.pick(['fill', 'add', 'proportional']);
      const plans = { default: limits, tiers: new Map(), clients: new Map() };
      const document = new Map([['default', policyOf(random, limits)]]);
      if (this.#isSmall) document.set('tiers', this.#probePolicies());
      return { kind: 'policies', nowMs: this.#now, document, plans, text: jsonText(document) };
    };
    const first = change();
    const spent = { kind: 'check', nowMs: this.#now, client, cost: 5 };
    this.#planned.push(spent);
    const count = random.pick([3, 30, 63, 64, 65, 70]);
    for (let i = 0; i < count; i += 1) this.#planned.push(change());
    this.#planned.push({ kind: 'peek', nowMs: this.#now, client, cost: 1 });
    this.#planned.push({ kind: 'check', nowMs: this.#now, client, cost: 1 });
    return first;
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
    const { kind, client, tier, cost, nowMs, ttlMs } = operation;
    if (kind === 'open' && answer.kind === 'refused') this.#left = 0;
    if (kind === 'open' || kind === 'restore') {
      this.#reservations = [];
      this.#reserved = 0;
    }
    if (kind === 'shadow' && answer.kind === 'shadow') this.#candidate = operation.plans;
    else if (answer.kind === 'report') {
      if (kind === 'promote') this.#plans = this.#candidate;
      else if (operation.plans) this.#plans = operation.plans;
      else this.#now = operation.restoredMs;
    }

    if (cost === undefined || kind === 'allowMany') return;
    for (const limit of this.#model.lookUp(client, tier).limits) {
      if (limit.algorithm !== 'token-bucket') continue;
      this.#observe(
        limit.capacityRounded
          ? 'judged by a rounded capacity'
          : `judged by rate: ${limit.rateStep}`,
      );
    }
    if (kind === 'reserve') {
      const isKept = answer.allowed || (answer.kind === 'decision' && this.#random.chance(0.2));
      if (isKept)
        this.#reservations.push({ number: this.#reserved, client, cost, at: nowMs, ttlMs });
      this.#reserved += 1;
    }
    if (answer.reason === 'exhausted' && kind === 'check' && this.#random.chance(0.3)) {
      this.#planToObey(operation, answer);
    }
  }

  /** S9: who comes back when the answer said is admitted, and one microsecond earlier is not. */
  #planToObey({ nowMs, client, tier, cost }, { retryAfterMs, limits }) {
    const then = nowMs + retryAfterMs;
    if (toMicros(then) === null) return;
    if (this.#planned.length > 0 || then > this.#now + 1e11) return;
    // By then there may be no room for a bucket that is not there yet.
    if (this.#table?.onFull === 'deny' && limits.length > 1) return;
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
    if (limits.length > 1) this.#observe('obeyed: several limits');
    const { algorithm } = this.#model
      .lookUp(client, tier)
      .limits.reduce((a, b, i) => (limits[i].retryAfterMs === retryAfterMs ? b : a));
    this.#observe(`obeyed: ${algorithm}`);
  }

  #open() {
    const random = this.#random;
    this.#left = random.whole(100, 1500);
    this.#now = starts[random.pick(Object.keys(starts))](random);
    let names = [...CLIENTS, ...LONE_CLIENTS];
    let count = random.whole(3, 10);
    this.#table = undefined;
    if (this.#isSmall) {
      // Who has no bucket is told by asking at the earliest time there is: it must not be anybody's.
      this.#now = Math.max(this.#now, 1 - MAX_MS);
      const maxClients = random.pick([8, 8, 8, 9, 13, 14, 20, 40, 80]);
      this.#table = { maxClients, onFull: random.chance(0.8) ? 'evict' : 'deny' };
      names = [...names, ...Array.from({ length: 200 }, (_, i) => `client ${i}`)];
      count = random.whole(maxClients + 1, 3 * maxClients);
    }
    this.#names = {
      clients: shuffled(random, names).slice(0, count),
      tiers: shuffled(random, TIERS).slice(0, random.whole(1, 5)),
    };
    this.#plans = { default: this.#randomPlan(), tiers: new Map(), clients: new Map() };
    const table = this.#table;
    const probes = this.#isSmall ? [...this.#probePolicies().keys()] : undefined;
    return { kind: 'open', strict: random.chance(0.1), table, probes, ...this.#document() };
  }

  #randomPlan() {
    return randomPlan(this.#random, this.#features);
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
    const { limits } = this.#model.lookUp(client, tier);
    const capacity = Number(random.pick(limits).capacity.floor());
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
    return this.#reading();
  }

  /** The same, in range. */
  #reading() {
    const random = this.#random;
    if (random.chance(0.04)) {
      return Math.max(this.#now - random.fraction() * 10 ** random.whole(-3, 5), -MAX_MS);
    }
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
    const plans = random.chance(0.15) ? this.#plans : this.#changedPlans();
    const tiers = new Map();
    for (const [name, plan] of plans.tiers) {
      const broken = random.chance(0.12);
      tiers.set(name, broken ? brokenPolicy(random, plan) : policyOf(random, plan));
    }
    if (this.#isSmall) for (const [name, probe] of this.#probePolicies()) tiers.set(name, probe);
    const members = [['default', policyOf(random, plans.default)]];
    if (tiers.size > 0 || random.chance(0.5)) members.push(['tiers', tiers]);
    if (plans.clients.size > 0 || random.chance(0.5)) members.push(['clients', plans.clients]);
    let document = new Map(shuffled(random, members));
    if (random.chance(0.08)) document = this.#spoiled(document, plans);

    const space = random.chance(0.7)
      ? undefined
      : () => random.pick(['', '', ' ', '\n', '\r\n', '\t']);
    const quote = random.chance(0.8) ? undefined : (text) => spelled(random, text);
    return { document, plans, text: jsonText(document, { space, quote }) };
  }

  /** Tiers of one limit each, by which to ask whether there is a bucket. */
  #probePolicies() {
    const names = this.#features.has('limits') ? LIMIT_NAMES : ['main'];
    const algorithms = this.#features.has('windows') ? ALGORITHMS : ['token-bucket'];
    const one = new Digits('1');
    return new Map(
      names.flatMap((name) =>
        algorithms.map((algorithm) => {
          const quota =
            algorithm === 'token-bucket'
              ? { capacity: one, refillPerSecond: one }
              : { algorithm, limit: one, windowSeconds: one };
          const members = Object.entries(quota);
          const policy =
            name === 'main'
              ? new Map(members)
              : new Map([['limits', [new Map([['name', name], ...members])]]]);
          return [probeTier({ name, algorithm }), policy];
        }),
      ),
    );
  }

  #changedPlans() {
    const random = this.#random;
    const old = this.#plans;
    const changed = (plan) =>
      random.weighted([
        [5, () => plan],
        [3, () => changedPlan(random, this.#features, plan)],
        [2, () => this.#randomPlan()],
      ])();
    const tiers = new Map();
    for (const name of this.#names.tiers) {
      if (random.chance(0.15)) continue;
      tiers.set(name, old.tiers.has(name) ? changed(old.tiers.get(name)) : this.#randomPlan());
    }
    const clients = new Map();
    for (const client of this.#names.clients) {
      if (LONE_CLIENTS.includes(client) || random.chance(0.6)) continue;
      clients.set(client, random.chance(0.9) ? random.pick(this.#names.tiers) : 'gone');
    }
    return { default: changed(old.default), tiers, clients };
  }

  /** A document that is to be refused whole. */
  #spoiled(document, plans) {
    const random = this.#random;
    const spoiled = new Map(document);
    const tooLarge = {
      name: 'main',
      algorithm: 'token-bucket',
      quota: { capacity: random.pick(['1e309', '1.8e308']), refill: '1' },
    };
    const faults = [
      () => spoiled.delete('default'),
      () => spoiled.set('default', brokenPolicy(random, plans.default)),
      () => spoiled.set(random.pick(['version', '__proto__', '']), 'x'),
      () => spoiled.set('tiers', random.pick([null, [], 'free', new Digits('1')])),
      () => spoiled.set('clients', random.pick([null, [], 'acme', true])),
      () => spoiled.set('clients', new Map([['alice', random.pick([null, new Digits('1'), []])]])),
      () => spoiled.set('default', policyOf(random, [tooLarge])),
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
  const { kind, client, tier, document, nowMs } = operation;
  switch (kind) {
    case 'open':
      return model.setPolicies(document);
    case 'policies':
      return model.setPolicies(document, nowMs);
    case 'setTier':
      return model.setTier(client, tier, operation);
    case 'shadow':
      return operation.text === null ? model.endShadow() : model.setShadowPolicies(document);
    case 'promote':
      return model.promoteShadow(nowMs);
    case 'stats':
    case 'shadowStats':
      return model[kind]();
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
  if (answer.kind === 'settlement') observe(`settlement: ${answer.outcome}`);
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
 * @param {Options} [options]
 * @returns {{ operations: Operation[], answers: object[], coverage: Map<string, number> }} `coverage` counts the rules
 *   that were used
 */
export function makeScenario(seed, length, options) {
  const { coverage, observe } = counter();
  const scenario = new Scenario(seed, observe, options);
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
