// Random policies and policy documents: sound, awkward and broken ones.
import { Digits } from './json.js';

/**
 * What a token bucket or a window allows, before it is spelled out.
 * @typedef {{ capacity: string, refill: string | [tokens: string, seconds: string] }} Quota
 * @typedef {{ limit: string, windowSeconds: string }} WindowQuota
 */
/**
 * A limit before it is spelled out. What is undefined is left to the default.
 * @typedef {object} LimitPlan
 * @property {string} name
 * @property {'token-bucket' | 'sliding-window' | 'fixed-window'} algorithm
 * @property {Quota | WindowQuota} quota
 * @property {string} [onRaise]
 * @property {string} [accrual]
 */
/**
 * Which parts of a policy may be made.
 * @typedef {{ has(feature: string): boolean }} Features
 */

export const LIMIT_NAMES = ['main', 'burst', 'daily', 'hourly'];
export const ALGORITHMS = ['token-bucket', 'sliding-window', 'fixed-window'];
const MANY_NAMES = [...LIMIT_NAMES, ' ', 'a/b~c', '__proto__', '~'.repeat(64)];
const RAISES = ['keep', 'fill', 'proportional', 'add'];
const ACCRUALS = ['at-next', 'prorated'];

const SMALL_RATES = ['0.1', '0.5', '1', '2', '3', '10', '0.25', '1e0', '12.5E-1', '7e+0'];
const FRACTION_RATES = [
  ['10', '13'],
  ['625', '3600'],
  ['7', '604800'],
  ['1', '3'],
  ['2', '0.5'],
  ['100', '60'],
  ['0.1', '0.3'],
  ['1.5e0', '7E-1'],
  ['1000', '86400.25'],
];
const ROUNDED = [
  { capacity: '1e6', refill: '11.57407407' },
  { capacity: '1e9', refill: '11574.074074' },
  { capacity: '1000000', refill: '0.3333333333333333' },
  { capacity: '1e11', refill: '3.14159265358979323846264338327950288' },
  { capacity: '1e14', refill: '314159265.358979' },
  { capacity: '250000000000', refill: ['2.718281828459045', '7.389056098930650'] },
  { capacity: '1e12', refill: ['1e12', '2592000'] },
  { capacity: '5e15', refill: '0.1234567890123' },
];
const EXTREME_CAPACITIES = [
  '9223372036854775807',
  '9223372036854775808',
  '4611686018427387904',
  '9007199254740993',
  '1e18',
  '123456789012345678.5',
  '1e300',
];
const EXTREME_RATES = [
  '0',
  '1',
  '1e-11',
  '5e-324',
  '1e-400',
  '1e30',
  '9223372036854775807e6',
  '9223372036854775807000001',
  ['1', '9007199254740993'],
];

/** @type {Record<string, (random: import('./random.js').Random) => Quota>} */
const families = {
  ordinary: (random) => ({
    capacity: String(random.whole(1, 200)),
    refill: random.chance(0.5) ? random.pick(SMALL_RATES) : String(random.whole(1, 1000)),
  }),
  fractionalCapacity: (random) => ({
    capacity: `${random.whole(1, 50)}.${random.digits(random.whole(1, 6))}`,
    refill: random.chance(0.5) ? random.pick(SMALL_RATES) : random.pick(FRACTION_RATES),
  }),
  fractionalRate: (random) => ({
    capacity: String(random.whole(1, 100)),
    refill: random.pick(FRACTION_RATES),
  }),
  frozen: (random) => ({
    capacity: random.pick(['3', '10', '2.5', '1e2']),
    refill: random.pick(['0', '-0', '0.000', ['0', '60'], ['0e5', '1']]),
  }),
  glacial: (random) => ({ capacity: random.pick(['1', '2', '5', '1.5']), refill: '1e-11' }),
  torrential: (random) => ({
    capacity: random.pick(['1', '100', '1e6', '4e9']),
    refill: random.pick(['2e9', '1e6', '999999.5']),
  }),
  rounded: (random) => random.pick(ROUNDED),
  longRate: (random) => ({
    capacity: `${random.whole(1, 999)}e${random.whole(3, 15)}`,
    refill: `${random.whole(0, 1000)}.${random.digits(random.whole(8, 25))}`,
  }),
  tightFit: (random) => ({
    capacity: `${random.whole(1, 9)}${random.digits(random.whole(4, 10))}.${random.digits(2)}`,
    refill: [`${random.whole(1, 999)}.${random.digits(12)}`, `${random.whole(1, 99)}.7`],
  }),
  longCapacity: (random) => ({
    capacity: `${random.whole(1, 99)}.${random.digits(random.whole(9, 30))}`,
    refill: random.chance(0.6)
      ? random.pick(SMALL_RATES)
      : `${random.whole(0, 9)}.${random.digits(random.whole(1, 12))}`,
  }),
  shortFractionCapacity: (random) => ({
    // Nearly a fraction of small terms, so that the capacity's own simplest fraction is what fits.
    capacity: random.pick(['1.3333333333333333', '3.142857142857143', '10.428571428571429']),
    refill: random.pick(['0.3333333333333333', '1', '0.14285714285714285', ['10', '13']]),
  }),
  extreme: (random) => ({
    capacity: random.chance(0.5) ? random.pick(EXTREME_CAPACITIES) : String(random.whole(1, 9)),
    refill: random.pick(EXTREME_RATES),
  }),
};

const WEIGHTS = Object.entries({
  ordinary: 10,
  fractionalCapacity: 5,
  fractionalRate: 5,
  frozen: 3,
  glacial: 2,
  torrential: 3,
  rounded: 4,
  longRate: 4,
  tightFit: 4,
  longCapacity: 3,
  shortFractionCapacity: 2,
  extreme: 2,
}).map(([family, weight]) => [weight, families[family]]);

/** @returns {Quota} */
export function randomQuota(random) {
  return random.weighted(WEIGHTS)(random);
}

/** @returns {WindowQuota} */
function randomWindow(random, algorithm) {
  const most = algorithm === 'sliding-window' ? 10_000 : 2 ** 53 - 1;
  const limit = random.weighted([
    [8, () => random.whole(1, 10)],
    [6, () => random.whole(1, 50)],
    [2, () => random.whole(50, 10_000)],
    [0.5, () => most],
  ])();
  const windowSeconds = random.weighted([
    [1, '0.000001'],
    [2, '0.00002'],
    [3, random.pick(['0.001', '1e-2', '0.1'])],
    [4, random.pick(['1', '2.5', '1.0e0', '0.75'])],
    [6, random.pick(['10', '60', '61.000001', '100'])],
    [3, random.pick(['3600', '86400', '8.64e4'])],
    [1, random.pick(['2592000', '500000000'])],
  ]);
  const spelled = random.chance(0.1) ? `${limit}.0` : String(limit);
  return { limit: spelled, windowSeconds };
}

/**
 * @param {Features} features
 * @returns {LimitPlan[]} one named main, half of the time
 */
export function randomPlan(random, features) {
  const count = features.has('limits')
    ? random.weighted([
        [30, 1],
        [9, 2],
        [6, 3],
        [2, 4],
        [features.has('many names') ? 0.5 : 0, 8],
      ])
    : 1;
  const names = count === 8 ? MANY_NAMES : LIMIT_NAMES;
  const isPlain = count === 1 && random.chance(0.9);
  const chosen = isPlain || !features.has('limits') ? ['main'] : shuffled(random, names);
  return chosen.slice(0, count).map((name) => randomLimit(random, features, name));
}

/** @returns {LimitPlan} */
function randomLimit(random, features, name) {
  const algorithm =
    features.has('windows') && random.chance(0.3) ? random.pick(ALGORITHMS) : 'token-bucket';
  const isBucket = algorithm === 'token-bucket';
  const quota = isBucket ? randomQuota(random) : randomWindow(random, algorithm);
  return { name, algorithm, quota, ...(isBucket ? randomSettings(random, features) : {}) };
}

function randomSettings(random, features) {
  const settings = {};
  if (features.has('limits') && random.chance(0.7)) settings.onRaise = random.pick(RAISES);
  if (features.has('prorated') && random.chance(0.6)) settings.accrual = random.pick(ACCRUALS);
  return settings;
}

/**
 * The same with something larger, smaller, or of another kind.
 * @param {LimitPlan[]} plan
 * @param {Features} features
 */
export function changedPlan(random, features, plan) {
  const changed = plan.map((limit) => {
    if (random.chance(0.3)) return limit;
    if (random.chance(0.08)) return randomLimit(random, features, limit.name);
    const isBucket = limit.algorithm === 'token-bucket';
    const quota = isBucket
      ? changedQuota(random, limit.quota)
      : changedWindow(random, limit.algorithm, limit.quota);
    const settings = isBucket && random.chance(0.15) ? randomSettings(random, features) : {};
    return { ...limit, quota, ...settings };
  });
  if (changed.length > 1 && random.chance(0.15)) changed.splice(random.whole(0, 1), 1);
  if (features.has('limits') && changed.length < 4 && random.chance(0.08)) {
    const name = random.pick(LIMIT_NAMES);
    if (!changed.some((limit) => limit.name === name)) {
      changed.push(randomLimit(random, features, name));
    }
  }
  return random.chance(0.2) ? shuffled(random, changed) : changed;
}

/** Another quota whose capacity or rate is larger or smaller. */
export function changedQuota(random, { capacity, refill }) {
  const scaled = (text) => String(Number(text) * random.pick([0.1, 0.5, 0.75, 1.5, 2, 3, 10]));
  return random.weighted([
    [3, { capacity: scaled(capacity), refill }],
    [
      2,
      { capacity, refill: Array.isArray(refill) ? [scaled(refill[0]), refill[1]] : scaled(refill) },
    ],
    [2, { capacity, refill: random.pick(FRACTION_RATES) }],
    [1, { capacity, refill: randomQuota(random).refill }],
  ]);
}

function changedWindow(random, algorithm, { limit, windowSeconds }) {
  const scaled = Math.ceil(Number(limit) * random.pick([0.1, 0.5, 0.75, 1.5, 2, 3]));
  const most = algorithm === 'sliding-window' ? 10_000 : 2 ** 53 - 1;
  const other = randomWindow(random, algorithm);
  return {
    limit: random.chance(0.6) ? String(Math.min(scaled, most)) : limit,
    windowSeconds: random.chance(0.4) ? other.windowSeconds : windowSeconds,
  };
}

/**
 * A policy as a document has it.
 * @param {LimitPlan[]} plan
 */
export function policyOf(random, plan) {
  const [first] = plan;
  const isDirect = plan.length === 1 && first.name === 'main' && random.chance(0.95);
  if (isDirect) {
    const saysAlgorithm = first.algorithm !== 'token-bucket' || random.chance(0.1);
    return new Map(shuffled(random, membersOf(random, first, saysAlgorithm)));
  }
  // What is set beside the limits is the default of those that have none of their own.
  const beside = new Map();
  if (random.chance(0.3)) beside.set('algorithm', first.algorithm);
  const areBuckets = plan.every(({ algorithm }) => algorithm === 'token-bucket');
  for (const setting of ['onRaise', 'accrual']) {
    const isSet = areBuckets && first[setting] !== undefined && random.chance(0.4);
    if (isSet) beside.set(setting, first[setting]);
  }
  const limits = plan.map((limit) => {
    const own = { ...limit };
    for (const [setting, value] of beside) {
      if (setting === 'algorithm') continue;
      if (own[setting] === value && random.chance(0.8)) own[setting] = undefined;
      else own[setting] ??= BY_DEFAULT[setting];
    }
    const given = beside.get('algorithm') ?? 'token-bucket';
    const saysAlgorithm = limit.algorithm !== given || random.chance(0.1);
    const members = [['name', limit.name], ...membersOf(random, own, saysAlgorithm)];
    return new Map(shuffled(random, members));
  });
  return new Map(shuffled(random, [['limits', limits], ...beside]));
}

const BY_DEFAULT = { onRaise: 'keep', accrual: 'at-next' };

/** The members of a limit. */
function membersOf(random, { algorithm, quota, onRaise, accrual }, saysAlgorithm) {
  const members = [];
  if (saysAlgorithm) members.push(['algorithm', algorithm]);
  if (onRaise !== undefined) members.push(['onRaise', onRaise]);
  if (accrual !== undefined) members.push(['accrual', accrual]);
  if (algorithm !== 'token-bucket') {
    members.push(['limit', new Digits(quota.limit)]);
    members.push(['windowSeconds', new Digits(quota.windowSeconds)]);
    return members;
  }
  members.push(['capacity', new Digits(quota.capacity)]);
  if (Array.isArray(quota.refill)) {
    const [tokens, seconds] = quota.refill.map((text) => new Digits(text));
    members.push(['refill', new Map(shuffled(random, Object.entries({ tokens, seconds })))]);
  } else members.push(['refillPerSecond', new Digits(quota.refill)]);
  return members;
}

/**
 * What a policy must not be.
 * @param {LimitPlan[]} plan
 */
export function brokenPolicy(random, plan) {
  if (random.chance(0.08)) return random.pick([null, 'free', true, [], new Digits('5')]);
  const policy = policyOf(random, plan);
  breakOnce(random, policy);
  if (random.chance(0.2)) breakOnce(random, policy);
  return policy;
}

function breakOnce(random, policy) {
  const limits = policy.get('limits');
  if (!Array.isArray(limits) || limits.length === 0) breakLimit(random, policy);
  else if (random.chance(0.5)) breakLimits(random, policy, limits);
  else {
    const limit = random.pick(limits);
    if (limit instanceof Map) breakLimit(random, limit);
  }
}

/** A fault of a policy that has several limits. */
function breakLimits(random, policy, limits) {
  const last = limits.at(-1);
  const one = () => new Map([['name', 'one'], ...new Map(last)]);
  const faults = [
    () => policy.set('limits', random.pick([null, 'main', true, new Map(), new Digits('2')])),
    () => policy.set('limits', []),
    () => policy.set('limits', Array.from({ length: random.whole(9, 12) }, one)),
    () => policy.set('limits', [random.pick([null, 'main', [], new Digits('1')]), ...limits]),
    () => policy.set('limits', [...limits, last]),
    () => policy.set('name', 'main'),
    () => policy.set(random.pick(QUOTA_MEMBERS), random.pick([new Digits('5'), null, 'x'])),
    () => policy.set('algorithm', random.pick(WRONG_ALGORITHMS)),
    () => policy.set(random.pick(['onRaise', 'accrual']), random.pick(WRONG_SETTINGS)),
    () => policy.set('onStoreError', random.pick(['deny', 'allow', 'never', null])),
    () => policy.set(random.pick(['limit ', '__proto__', 'é']), new Digits('1')),
    () => {
      // A window has no settings, whether they stand in it or beside it.
      policy.set(random.pick(['onRaise', 'accrual']), random.pick(['keep', 'at-next', 'x', null]));
      policy.set('limits', [...limits, aWindow(random, 'window')]);
    },
    () => last.delete?.('name'),
    () => last.set?.('name', random.pick([null, new Digits('1'), '', 'é', '\n', 'a'.repeat(65)])),
    () => last.set?.('onStoreError', 'deny'),
  ];
  random.pick(faults)();
}

const QUOTA_MEMBERS = ['capacity', 'refillPerSecond', 'refill', 'limit', 'windowSeconds'];
const WRONG_ALGORITHMS = ['leaky-bucket', '', 'constructor', null, new Digits('1'), []];
const WRONG_SETTINGS = ['Keep', 'fill ', '', null, true, new Digits('1')];

function aWindow(random, name) {
  const algorithm = random.pick(['sliding-window', 'fixed-window']);
  const limit = new Digits('9');
  const windowSeconds = new Digits('60');
  return new Map(Object.entries({ name, algorithm, limit, windowSeconds }));
}

/** A fault of a limit, or of a policy that is one. */
function breakLimit(random, policy) {
  const change = (name, value) => policy.set(name, value);
  const refill = (tokens, seconds) => {
    policy.delete('refillPerSecond');
    change('refill', new Map(Object.entries({ tokens, seconds })));
  };
  const digits = (...texts) => new Digits(random.pick(texts));
  const notNumber = () => random.pick(['10', true, null, [], new Map()]);
  const bucketFaults = [
    () => change('capacity', digits('0', '-0', '-1', '0.99999999999999999999', '5e-324', '-1e300')),
    () => change('capacity', notNumber()),
    () => policy.delete('capacity'),
    () => refill(digits('-1', '-5e-324'), new Digits('1')),
    () => refill(new Digits('1'), digits('0', '-0.0', '-60')),
    () => refill(notNumber(), new Digits('1')),
    () => refill(new Digits('1'), notNumber()),
    () => {
      policy.delete('refillPerSecond');
      change('refill', random.pick(['1/s', null, [], new Digits('1')]));
    },
    () => policy.get('refill')?.set?.('second', digits('1')) ?? policy.delete('capacity'),
    () => {
      policy.delete('refill');
      policy.delete('refillPerSecond');
    },
    () => {
      policy.set('refill', new Map(Object.entries({ tokens: digits('1'), seconds: digits('1') })));
      policy.set('refillPerSecond', digits('1'));
    },
    () => {
      policy.delete('refill');
      change('refillPerSecond', random.chance(0.5) ? digits('-1', '-1e-9') : notNumber());
    },
    () => change(random.pick(['limit', 'windowSeconds']), new Digits('1')),
    () => change('onRaise', random.pick(WRONG_SETTINGS)),
    () => change('accrual', random.pick(WRONG_SETTINGS)),
  ];
  const windowFaults = [
    () => change('limit', digits('0', '-0', '-1', '1.5', '9007199254740992', '1e300', '5e-324')),
    () => change('limit', digits('10001', '10000.0000001')),
    () => change('limit', notNumber()),
    () => policy.delete('limit'),
    () => change('windowSeconds', digits('0', '-0', '-60', '500000000.000001', '0.0000001', '1e9')),
    () => change('windowSeconds', digits('1.0000005', '5e-324', '3.3333333')),
    () => change('windowSeconds', notNumber()),
    () => policy.delete('windowSeconds'),
    () => {
      policy.delete('limit');
      policy.delete('windowSeconds');
    },
    () => change(random.pick(['capacity', 'refillPerSecond', 'refill']), digits('5', '-1')),
    () => change('onRaise', random.pick(['keep', 'fill', ...WRONG_SETTINGS])),
    () => change('accrual', random.pick(['at-next', 'prorated', ...WRONG_SETTINGS])),
  ];
  const faults = [
    () => change(random.pick(['capcity', '__proto__', 'a/b~c', '', 'é', 'limits ']), digits('1')),
    () => change('onStoreError', random.pick(['deny', 'local', 'never', new Digits('1')])),
    () => {
      // Whose limit it was to be is not clear then: what is there is judged, and nothing is missed.
      change('algorithm', random.pick(WRONG_ALGORITHMS));
      if (random.chance(0.3)) policy.delete(random.pick(QUOTA_MEMBERS));
      if (random.chance(0.3)) change('limit', digits('1', '10001', '0'));
      if (random.chance(0.3)) change('capacity', digits('1', '0'));
      if (random.chance(0.3)) change('onRaise', random.pick(['fill', 'x']));
    },
  ];
  const isWindow = ['sliding-window', 'fixed-window'].includes(policy.get('algorithm'));
  const own = isWindow ? windowFaults : bucketFaults;
  random.pick(random.chance(0.8) ? own : faults)();
}

/** The same items in another order. */
export function shuffled(random, items) {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = random.whole(0, last);
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}
