// What a policy document says, judged: which tiers are in force, what is rejected, or why it is refused whole.
import { nearestDouble } from './double.js';
import { Digits, pointerStep } from './json.js';
import { makeLimit } from './limit.js';
import { ONE, Rational, ZERO } from './rational.js';

/** @typedef {{ path: string, code: string }} Problem */
/**
 * @typedef {object} Policies
 * @property {import('./limit.js').Limit} defaultLimit
 * @property {Map<string, import('./limit.js').Limit | null>} tiers null: invalid
 * @property {Map<string, string>} clients
 * @property {Problem[]} rejected
 * @property {Problem[]} warnings
 */

const TOP_LEVEL = new Set(['default', 'tiers', 'clients']);
const QUOTA = new Set(['capacity', 'refillPerSecond', 'refill']);
const WINDOW = new Set(['limit', 'windowSeconds']); // the quota of another algorithm
const SETTINGS = new Map([
  ['algorithm', { built: ['token-bucket'], planned: ['sliding-window', 'fixed-window'] }],
  ['onRaise', { built: ['keep'], planned: ['fill', 'proportional', 'add'] }],
  ['accrual', { built: ['at-next'], planned: ['prorated'] }],
  ['onStoreError', { built: [], planned: ['deny', 'allow', 'local'] }],
]);

/**
 * @param {unknown} document as json.js has it
 * @param {boolean} strict
 * @returns {{ policies: Policies, refused: null } | { policies: null, refused: Problem[] }}
 */
export function judgeDocument(document, strict) {
  const tooLarge = numbersOutOfRange(document, '');
  if (tooLarge.length > 0) return refuse(tooLarge.slice(0, 1)); // reading stops there
  if (!(document instanceof Map)) return refuse([{ path: '', code: 'wrong-type' }]);

  const policies = { defaultLimit: null, tiers: new Map(), clients: new Map(), warnings: [] };
  const problems = []; // in the order of the document
  const fatal = (path, code) => problems.push({ path, code, isFatal: true });
  const tolerated = (path, code) => problems.push({ path, code, isFatal: strict });

  if (!document.has('default')) fatal('', 'missing-member');
  for (const [name, value] of document) {
    const path = pointerStep(name);
    if (!TOP_LEVEL.has(name)) {
      fatal(path, 'unknown-member');
    } else if (name === 'default') {
      policies.defaultLimit = judgePolicy(value, path, fatal, policies.warnings);
    } else if (!(value instanceof Map)) {
      fatal(path, 'wrong-type');
    } else if (name === 'tiers') {
      for (const [tier, policy] of value) {
        const limit = judgePolicy(policy, path + pointerStep(tier), tolerated, policies.warnings);
        policies.tiers.set(tier, limit);
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

/** The limit of one tier or the default; null, and its problems reported, when it is invalid. */
function judgePolicy(value, path, problem, warnings) {
  let isValid = true;
  const report = (where, code) => {
    isValid = false;
    problem(path + where, code);
  };
  if (!(value instanceof Map)) {
    report('', 'wrong-type');
    return null;
  }

  const isBucket = !value.has('algorithm') || value.get('algorithm') === 'token-bucket';
  for (const [name, child] of value) {
    const where = pointerStep(name);
    if (name === 'limits') report(where, 'unsupported');
    else if (SETTINGS.has(name)) {
      const { built, planned } = SETTINGS.get(name);
      if (typeof child !== 'string') report(where, 'wrong-type');
      else if (planned.includes(child)) report(where, 'unsupported');
      else if (!built.includes(child)) report(where, 'invalid-value');
    } else if (isBucket ? !QUOTA.has(name) : !WINDOW.has(name) && !QUOTA.has(name)) {
      report(where, 'unknown-member');
    }
  }
  // What counts in another way has no bucket's quota to be judged.
  if (!isBucket || value.has('limits')) return null;

  const [, second] = [...value.keys()].filter((name) => /^refill(PerSecond)?$/.test(name));
  if (second) {
    report(pointerStep(second), 'conflicting-members');
    value = new Map([...value].filter(([name]) => name !== second)); // the first is judged
  }

  const number = (parent, name, where, isAllowed) => {
    if (!parent.has(name)) return report(where.slice(0, where.lastIndexOf('/')), 'missing-member');
    const child = parent.get(name);
    if (!(child instanceof Digits)) return report(where, 'wrong-type');
    const exact = Rational.fromDecimal(child.text);
    if (!isAllowed(exact)) return report(where, 'invalid-value');
    return exact;
  };
  const notNegative = (exact) => !exact.isLess(ZERO);

  const capacity = number(value, 'capacity', '/capacity', (exact) => !exact.isLess(ONE));
  let tokens;
  let seconds = ONE;
  const refill = value.get('refill');
  if (refill instanceof Map) {
    tokens = number(refill, 'tokens', '/refill/tokens', notNegative);
    seconds = number(refill, 'seconds', '/refill/seconds', (exact) => exact.isMore(ZERO));
    for (const name of refill.keys()) {
      if (name === 'tokens' || name === 'seconds') continue;
      report('/refill' + pointerStep(name), 'unknown-member');
    }
  } else if (value.has('refill')) report('/refill', 'wrong-type');
  if (value.has('refillPerSecond') || !value.has('refill')) {
    tokens = number(value, 'refillPerSecond', '/refillPerSecond', notNegative);
  }
  if (!isValid) return null;

  const limit = makeLimit(capacity, tokens.over(seconds));
  if (!limit) {
    report('', 'not-representable');
    return null;
  }
  const warn = (where) => warnings.push({ path: path + where, code: 'rate-rounded' });
  if (limit.capacityRounded) warn('/capacity');
  if (limit.rateStep !== 'exact') warn(value.has('refill') ? '/refill' : '/refillPerSecond');
  return limit;
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
