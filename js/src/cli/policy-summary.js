/** What a policy document that loads holds, tier by tier. */

/** @import { PolicyProblem } from '../types.js' */

/**
 * @typedef {object} TierSummary
 * @property {string} name - the default policy is called `(default)`
 * @property {string} limits - in words; of a rejected tier, that it is one
 * @property {boolean} rejected - judged by the default policy for a problem of its own
 * @property {number} clients - how many the document assigns to it
 */

/**
 * @param {Buffer} bytes - a document that a limiter has loaded
 * @param {readonly PolicyProblem[]} problems - that it reported
 * @returns {TierSummary[]} the default first, then the tiers as they stand in the document
 */
export function summarize(bytes, problems) {
  const document = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  const assigned = Object.values(document.clients ?? {});
  const rejected = new Set(problems.map(({ path }) => tierAt(path)));
  const tiers = Object.entries(document.tiers ?? {}).map(([name, policy]) => ({
    name,
    limits: rejected.has(name) ? 'rejected: judged by the default' : limitsOf(policy),
    rejected: rejected.has(name),
    clients: assigned.filter((tier) => tier === name).length,
  }));
  return [
    { name: '(default)', limits: limitsOf(document.default), rejected: false, clients: 0 },
    ...tiers,
  ];
}

/**
 * The tier that a JSON Pointer leads into, if it does.
 *
 * @param {string} pointer
 */
function tierAt(pointer) {
  const [, member, name] = pointer.split('/');
  return member === 'tiers' ? name?.replaceAll('~1', '/').replaceAll('~0', '~') : undefined;
}

/** @param {any} policy - a valid one */
function limitsOf(policy) {
  const { limits = [policy], algorithm } = policy;
  return limits.map((/** @type {any} */ limit) => limitOf({ algorithm, ...limit })).join(' and ');
}

/** @param {any} limit */
function limitOf({ algorithm, capacity, refillPerSecond, refill, limit, windowSeconds }) {
  if (limit !== undefined) {
    const kind = algorithm === 'fixed-window' ? 'a fixed' : 'any';
    return `${limit} in ${kind} window of ${windowSeconds === 1 ? '1 second' : `${windowSeconds} seconds`}`;
  }
  const tokens = refill?.tokens ?? refillPerSecond;
  const seconds = refill?.seconds ?? 1;
  const rate =
    tokens === 0 ? 'no refill' : `${tokens} per ${seconds === 1 ? 'second' : `${seconds} seconds`}`;
  return `capacity ${capacity}, ${rate}`;
}
