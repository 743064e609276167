// What a policy document says, judged: which tiers are in force, what is rejected, or why it is refused whole.
import { nearestDouble } from './double.js';
import { Digits, pointerStep } from './json.js';
import { makeLimit } from './limit.js';
import { ONE, Rational, ZERO } from './rational.js';

/** @typedef {{ path: string, code: string }} Problem */
/**
 * A token bucket's limit is also what makeLimit gives; a window's has `limit` and `windowMicros`.
 * @typedef {object} NamedLimit
 * @property {string} name
 * @property {'token-bucket' | 'sliding-window' | 'fixed-window'} algorithm
 * @property {'keep' | 'fill' | 'proportional' | 'add'} onRaise
 * @property {'at-next' | 'prorated'} accrual
 * @property {Rational} capacity the most that can be admitted at once
 * @property {number} configured the capacity, or the window's limit, as configured
 * @property {string | null} tier whose limit it is; null: the default's
 * @property {bigint} [limit]
 * @property {bigint} [windowMicros]
 */
/**
 * @typedef {object} Policies
 * @property {NamedLimit[]} defaultLimits
 * @property {Map<string, NamedLimit[] | null>} tiers null: invalid
 * @property {Map<string, string>} clients
 * @property {Problem[]} rejected
 * @property {Problem[]} warnings
 */

const TOP_LEVEL = new Set(['default', 'tiers', 'clients']);
const QUOTA = new Set(['capacity', 'refillPerSecond', 'refill']);
const WINDOW = new Set(['limit', 'windowSeconds']); // the quota of the other algorithms
const WINDOWS = ['sliding-window', 'fixed-window'];
const ALGORITHMS = ['token-bucket', ...WINDOWS];
const SETTINGS = new Map([
  ['algorithm', ALGORITHMS],
  ['onRaise', ['keep', 'fill', 'proportional', 'add']],
  ['accrual', ['at-next', 'prorated']],
]);
const MOST_LIMITS = 8;
const NAME = /^[ -~]{1,64}$/;
const MOST_LOGGED = new Rational(10_000n);
const MOST_COUNTED = new Rational(2n ** 53n - 1n);
const MICROS_PER_SECOND = new Rational(1_000_000n);
const LONGEST_WINDOW = new Rational(500_000_000n);

/**
 * @param {unknown} document as json.js has it
 * @param {boolean} strict
 * @returns {{ policies: Policies, refused: null } | { policies: null, refused: Problem[] }}
 */
export function judgeDocument(document, strict) {
  const tooLarge = numbersOutOfRange(document, '');
  if (tooLarge.length > 0) return refuse(tooLarge.slice(0, 1)); // reading stops there
  if (!(document instanceof Map)) return refuse([{ path: '', code: 'wrong-type' }]);

  const policies = { defaultLimits: null, tiers: new Map(), clients: new Map(), warnings: [] };
  const problems = []; // in the order of the document
  const fatal = (path, code) => problems.push({ path, code, isFatal: true });
  const tolerated = (path, code) => problems.push({ path, code, isFatal: strict });
  const judge = (value, path, tier, problem) => {
    const { limits, warnings } = judgePolicy(value, path, problem);
    if (limits === null) return null;
    policies.warnings.push(...warnings);
    return limits.map((limit) => ({ ...limit, tier }));
  };

  if (!document.has('default')) fatal('', 'missing-member');
  for (const [name, value] of document) {
    const path = pointerStep(name);
    if (!TOP_LEVEL.has(name)) {
      fatal(path, 'unknown-member');
    } else if (name === 'default') {
      policies.defaultLimits = judge(value, path, null, fatal);
    } else if (!(value instanceof Map)) {
      fatal(path, 'wrong-type');
    } else if (name === 'tiers') {
      for (const [tier, policy] of value) {
        policies.tiers.set(tier, judge(policy, path + pointerStep(tier), tier, tolerated));
      }
    } else {
      for (const [client, tier] of value) {
        policies.clients.set(client, tier);
        const where = path + pointerStep(client);
        if (typeof tier !== 'string') fatal(where, 'wrong-type');
        else if (!document.get('tiers')?.has?.(tier)) tolerated(where, 'unknown-tier');
      }
    }
  }
  const listed = (list) => list.map(({ path, code }) => ({ path, code }));
  const refused = problems.filter(({ isFatal }) => isFatal);
  if (refused.length > 0) return refuse(listed(refused));
  return { policies: { ...policies, rejected: listed(problems) }, refused: null };
}

function refuse(problems) {
  return { policies: null, refused: problems };
}

/** The limits of one tier or the default; null, and its problems reported, when any of it is invalid. */
function judgePolicy(value, path, problem) {
  let isValid = true;
  const warnings = [];
  const reportAt = (where) => (inner, code) => {
    isValid = false;
    problem(path + where + inner, code);
  };
  const warnAt = (where) => (inner) =>
    warnings.push({ path: path + where + inner, code: 'rate-rounded' });
  const at = (where) => ({ report: reportAt(where), warn: warnAt(where) });

  let limits;
  if (!(value instanceof Map)) {
    reportAt('')('', 'wrong-type');
  } else if (value.has('limits')) {
    limits = judgeLimits(value, at);
  } else {
    const members = new Map([...value].filter(([name]) => name !== 'onStoreError'));
    if (value.has('onStoreError')) judgeOnStoreError(value.get('onStoreError'), reportAt(''));
    limits = [judgeLimit(members, new Map(), at(''), isValid)];
    if (limits[0]) limits[0].name = 'main';
  }
  return isValid ? { limits, warnings } : { limits: null, warnings: [] };
}

/** A policy of several limits, with what is set beside them for all. */
function judgeLimits(value, at) {
  const { report } = at('');
  const list = value.get('limits');
  const isCounted = Array.isArray(list) && list.length >= 1 && list.length <= MOST_LIMITS;
  const elements = isCounted ? list : [];
  const hasWindow = elements.some(
    (element) => element instanceof Map && isWindow(settingOf('algorithm', element, value)),
  );

  const limits = [];
  for (const [name, child] of value) {
    const where = pointerStep(name);
    if (name === 'limits') {
      if (!Array.isArray(list)) report(where, 'wrong-type');
      else if (!isCounted) report(where, 'invalid-value');
      const names = new Set();
      for (const [index, element] of elements.entries()) {
        limits.push(judgeElement(element, value, at(`${where}/${index}`), names));
      }
    } else if (name === 'onStoreError') {
      judgeOnStoreError(child, report);
    } else if (SETTINGS.has(name)) {
      if (name !== 'algorithm' && hasWindow) report(where, 'unknown-member');
      else judgeSetting(name, child, report);
    } else if (QUOTA.has(name) || WINDOW.has(name)) {
      report(where, 'conflicting-members');
    } else report(where, 'unknown-member');
  }
  return limits;
}

/** One of several limits. `names` are those of the ones before it. */
function judgeElement(element, beside, { report, warn }, names) {
  if (!(element instanceof Map)) {
    report('', 'wrong-type');
    return null;
  }
  let isNamed = false;
  const name = element.get('name');
  if (!element.has('name')) report('', 'missing-member');
  else if (typeof name !== 'string') report('/name', 'wrong-type');
  else if (!NAME.test(name) || names.has(name)) report('/name', 'invalid-value');
  else isNamed = true;
  if (typeof name === 'string') names.add(name);

  const members = new Map([...element].filter(([member]) => member !== 'name'));
  const limit = judgeLimit(members, beside, { report, warn }, isNamed);
  return limit && { ...limit, name };
}

/**
 * A limit by its own members and by what is set beside it.
 * @param {Map<string, unknown>} members
 * @param {Map<string, unknown>} beside
 * @returns {NamedLimit | null} null, and its problems reported, when it is invalid
 */
function judgeLimit(members, beside, { report: tell, warn }, isSound = true) {
  let isValid = isSound;
  const report = (where, code) => {
    isValid = false;
    tell(where, code);
  };
  const algorithm = settingOf('algorithm', members, beside);
  const isClear = ALGORITHMS.includes(algorithm);
  const mayBeBucket = !isWindow(algorithm);
  const mayBeWindow = algorithm !== 'token-bucket';

  for (const [name, child] of members) {
    const where = pointerStep(name);
    if (name === 'algorithm') judgeSetting(name, child, report);
    else if (SETTINGS.has(name) && mayBeBucket) judgeSetting(name, child, report);
    else if (QUOTA.has(name) && mayBeBucket) continue;
    else if (WINDOW.has(name) && mayBeWindow) continue;
    else report(where, 'unknown-member');
  }

  const number = (parent, name, where, isAllowed, isOwn = true) => {
    if (!parent.has(name)) {
      // Of a limit whose shape is not clear nothing is missed.
      const isMissed = isClear || !isOwn;
      if (isMissed) report(where.slice(0, where.lastIndexOf('/')), 'missing-member');
      return undefined;
    }
    const child = parent.get(name);
    if (!(child instanceof Digits)) return report(where, 'wrong-type');
    const exact = Rational.fromDecimal(child.text);
    if (!isAllowed(exact)) return report(where, 'invalid-value');
    return exact;
  };
  const notNegative = (exact) => !exact.isLess(ZERO);

  let limit;
  let windowSeconds;
  if (mayBeWindow) {
    const most = algorithm === 'sliding-window' ? MOST_LOGGED : MOST_COUNTED;
    const isCount = (exact) => exact.den === 1n && !exact.isLess(ONE) && !exact.isMore(most);
    const isTime = (exact) =>
      exact.times(MICROS_PER_SECOND).den === 1n &&
      exact.isMore(ZERO) &&
      !exact.isMore(LONGEST_WINDOW);
    limit = number(members, 'limit', '/limit', isCount);
    windowSeconds = number(members, 'windowSeconds', '/windowSeconds', isTime);
  }

  let capacity;
  let tokens;
  let seconds = ONE;
  if (mayBeBucket) {
    const [, second] = [...members.keys()].filter((name) => /^refill(PerSecond)?$/.test(name));
    if (second) {
      report(pointerStep(second), 'conflicting-members');
      members = new Map([...members].filter(([name]) => name !== second)); // the first is judged
    }
    capacity = number(members, 'capacity', '/capacity', (exact) => !exact.isLess(ONE));
    const refill = members.get('refill');
    if (refill instanceof Map) {
      tokens = number(refill, 'tokens', '/refill/tokens', notNegative, false);
      const isTime = (exact) => exact.isMore(ZERO);
      seconds = number(refill, 'seconds', '/refill/seconds', isTime, false);
      for (const name of refill.keys()) {
        if (name === 'tokens' || name === 'seconds') continue;
        report('/refill' + pointerStep(name), 'unknown-member');
      }
    } else if (members.has('refill')) report('/refill', 'wrong-type');
    if (members.has('refillPerSecond') || !members.has('refill')) {
      tokens = number(members, 'refillPerSecond', '/refillPerSecond', notNegative);
    }
  }
  if (!isValid || !isClear) return null;

  const settings = {
    algorithm,
    onRaise: settingOf('onRaise', members, beside),
    accrual: settingOf('accrual', members, beside),
  };
  if (isWindow(algorithm)) {
    const windowMicros = windowSeconds.times(MICROS_PER_SECOND).num;
    return {
      ...settings,
      limit: limit.num,
      windowMicros,
      capacity: limit,
      configured: Number(limit.num),
    };
  }
  const bucket = makeLimit(capacity, tokens.over(seconds));
  if (!bucket) {
    report('', 'not-representable');
    return null;
  }
  if (bucket.capacityRounded) warn('/capacity');
  if (bucket.rateStep !== 'exact') warn(members.has('refill') ? '/refill' : '/refillPerSecond');
  return { ...settings, ...bucket };
}

/** What a limit has for a setting: of its own, by what stands beside it, or else the first there is. */
function settingOf(name, members, beside) {
  if (members.has(name)) return members.get(name);
  return beside.has(name) ? beside.get(name) : SETTINGS.get(name)[0];
}

function isWindow(algorithm) {
  return WINDOWS.includes(algorithm);
}

function judgeSetting(name, value, report) {
  if (typeof value !== 'string') report(pointerStep(name), 'wrong-type');
  else if (!SETTINGS.get(name).includes(value)) report(pointerStep(name), 'invalid-value');
}

/** It belongs to a part of tierlimit that is not built yet. */
function judgeOnStoreError(value, report) {
  if (typeof value !== 'string') report('/onStoreError', 'wrong-type');
  else if (['deny', 'allow', 'local'].includes(value)) report('/onStoreError', 'unsupported');
  else report('/onStoreError', 'invalid-value');
}

/** Numbers anywhere in a document that no double is near. */
function numbersOutOfRange(value, path) {
  if (value instanceof Digits) {
    const magnitude = Rational.fromDecimal(value.text.replace(/^-/, ''));
    return nearestDouble(magnitude) === Infinity ? [{ path, code: 'number-out-of-range' }] : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => numbersOutOfRange(item, `${path}/${index}`));
  }
  if (value instanceof Map) {
    return [...value].flatMap(([name, child]) =>
      numbersOutOfRange(child, path + pointerStep(name)),
    );
  }
  return [];
}
