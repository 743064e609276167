// Random policies and policy documents: sound, awkward and broken ones.
import { Digits } from './json.js';

/**
 * A policy before it is spelled out.
 * @typedef {{ capacity: string, refill: string | [tokens: string, seconds: string] }} Quota
 */

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

/** A policy as a document has it. */
export function policyOf(random, { capacity, refill }) {
  const members = [['capacity', new Digits(capacity)]];
  if (Array.isArray(refill)) {
    const [tokens, seconds] = refill.map((text) => new Digits(text));
    members.push(['refill', new Map(shuffled(random, Object.entries({ tokens, seconds })))]);
  } else members.push(['refillPerSecond', new Digits(refill)]);
  if (random.chance(0.1)) members.push(['algorithm', 'token-bucket']);
  if (random.chance(0.05)) members.push(['onRaise', 'keep']);
  if (random.chance(0.05)) members.push(['accrual', 'at-next']);
  return new Map(shuffled(random, members));
}

/** What a policy must not be. */
export function brokenPolicy(random, quota) {
  const policy = policyOf(random, quota);
  const change = (name, value) => policy.set(name, value);
  const refill = (tokens, seconds) => {
    policy.delete('refillPerSecond');
    change('refill', new Map(Object.entries({ tokens, seconds })));
  };
  const digits = (...texts) => new Digits(random.pick(texts));
  const notNumber = () => random.pick(['10', true, null, [], new Map()]);
  const faults = [
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
    () =>
      change(
        random.pick(['capcity', '__proto__', 'a/b~c', '', 'é', 'limit', 'windowSeconds']),
        new Digits('1'),
      ),
    () => policy.get('refill')?.set?.('second', digits('1')) ?? policy.delete('capacity'),
    () =>
      change('onRaise', random.pick(['fill', 'proportional', 'add', 'double', new Digits('1')])),
    () => change('accrual', random.pick(['prorated', 'never', false])),
    () => change('onStoreError', 'deny'),
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
  ];
  if (random.chance(0.08)) return random.pick([null, 'free', true, [], new Digits('5')]);
  if (random.chance(0.25)) return otherKind(random);
  random.pick(faults)();
  if (random.chance(0.2)) random.pick(faults)();
  return policy;
}

/** A policy that counts in another way; which of its members are judged is left open, so nothing else is wrong. */
function otherKind(random) {
  const bucket = policyOf(random, { capacity: '5', refill: '1' });
  const algorithm = random.pick(['sliding-window', 'fixed-window', 'leaky', '', null]);
  const window = {
    algorithm: 'sliding-window',
    limit: new Digits('9'),
    windowSeconds: new Digits('60'),
  };
  return random.pick([
    new Map([...bucket, ['algorithm', algorithm]]),
    new Map([...bucket, ['limits', [bucket]]]),
    new Map([['limits', [bucket, new Map([['name', 'daily']])]]]),
    new Map(shuffled(random, Object.entries(window))),
  ]);
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
