// The figures that tierlimit sets itself, and what this run has reached. Ratios are of what was measured side by side.
import { median, ratio } from './statistics.js';

/** @import { Measured } from './main.js' */
/** @import { Result } from './throughput.js' */

/**
 * A figure that was reached: `name` says in which case, where there are several.
 * @typedef {{ name: string, value: number, text: string, holds: boolean }} Reached
 */

/**
 * @typedef {object} Figure
 * @property {string} what
 * @property {string} against
 * @property {string} most the figure that is not to be exceeded
 * @property {Reached[]} reached empty: not measured
 */

/** Subjects by their names. */
const peers = ['limiter', 'rate-limiter-flexible', 'express-rate-limit'];

const orderNames = /** @type {const} */ ({ uniform: 'uniform', zipf: 'Zipf' });

/**
 * @param {Measured} measured
 * @returns {Figure[]}
 */
export function figures(measured) {
  const ownClock = measured.ownClock ?? [];
  const fresh = (measured.throughput ?? []).filter(({ names }) => names === 'fresh');
  const native = measured.native?.results ?? [];

  /**
   * The worst ratio, over the outcomes, for each order.
   * @param {Result[]} results
   * @param {number} clients
   * @param {string} subject
   * @param {string} against
   * @param {number} most
   */
  const byOrder = (results, clients, subject, against, most, suffix = '') =>
    /** @type {const} */ (['uniform', 'zipf']).flatMap((order) =>
      worst(
        results.filter((it) => it.clients === clients && it.order === order),
        subject,
        against,
        most,
        orderNames[order] + suffix,
      ),
    );

  return [
    {
      what: '`allow`, fresh 24-character names, 1 thousand clients',
      against: 'the hand-written Map',
      most: '0.60',
      reached: byOrder(fresh, 1000, 'allow', 'Map', 0.6),
    },
    {
      what: 'the same, 1 million clients',
      against: 'the hand-written Map',
      most: '0.40',
      reached: byOrder(fresh, 1_000_000, 'allow', 'Map', 0.4),
    },
    {
      what: 'the same, 100 thousand clients',
      against: 'every npm peer',
      most: '0.40',
      reached: [
        ...byPeer(fresh, 'allow', byOrder, ''),
        ...byPeer(ownClock, 'allow, own clock', byOrder, ', own clock'),
      ],
    },
    {
      what: 'client handle',
      against: '`allow` with a fresh string',
      most: '0.25',
      reached: byCount(fresh, 'handle', 'allow', 0.25),
    },
    {
      what: '`check` (a full Decision object)',
      against: '`allow`',
      most: '2.0',
      reached: byCount(fresh, 'check', 'allow', 2),
    },
    {
      what: 'linear memory per client at 1 million',
      against: "the Map's heap per client",
      most: '0.26, and 64 bytes',
      reached: memoryReached(measured.memory),
    },
    {
      what: 'slowest call while growing to 1 million',
      against: "the Map's",
      most: '0.10',
      reached: growthReached(measured.growth),
    },
    {
      what: 'import to first decision, Node',
      against: "npm limiter's",
      most: '2.0',
      reached: startupReached(measured.startup),
    },
    {
      what: 'native `allow` at 1 million clients',
      against: 'an unordered_map limiter',
      most: '0.60',
      reached: ['string_view', 'string'].flatMap((kind) =>
        byOrder(native, 1_000_000, 'admit', `unordered_map, ${kind}`, 0.6, `, ${kind}`),
      ),
    },
    {
      what: 'a flood of new names at maxClients 10,000: time per call',
      against: 'a flood at 1 million',
      most: '1.2, and flat memory in both',
      reached: floodReached(measured.flood),
    },
  ];
}

/**
 * @param {string} name
 * @param {number} value
 * @param {number} most
 * @returns {Reached}
 */
const ratioReached = (name, value, most) => ({
  name,
  value,
  text: printed(value, value < 0.095 ? 3 : 2, most),
  holds: value <= most,
});

/**
 * With so many decimals, or as many more as it takes to see on which side of the limit the value is.
 * @param {number} value
 * @param {number} decimals
 * @param {number} most
 */
function printed(value, decimals, most) {
  const text = value.toFixed(decimals);
  return Number(text) <= most === value <= most || decimals === 20
    ? text
    : printed(value, decimals + 1, most);
}

/**
 * The largest of the ratios of two subjects.
 * @param {Result[]} results
 * @param {string} subject
 * @param {string} against
 * @param {number} most
 * @param {string} name
 * @returns {Reached[]} one, or none
 */
function worst(results, subject, against, most, name) {
  const ratios = results
    .filter(({ ns }) => ns[subject] !== undefined && ns[against] !== undefined)
    .map(({ ns }) => ratio(ns[subject], ns[against]).median);
  return ratios.length === 0 ? [] : [ratioReached(name, Math.max(...ratios), most)];
}

/**
 * @param {Result[]} results
 * @param {string} subject
 * @param {string} against
 * @param {number} most
 */
const byCount = (results, subject, against, most) =>
  [...new Set(results.map(({ clients }) => clients))].flatMap((clients) =>
    worst(
      results.filter((it) => it.clients === clients),
      subject,
      against,
      most,
      `${clients.toLocaleString('en')} clients`,
    ),
  );

/**
 * The largest of the ratios to any peer, for each order, with the peer's name.
 * @param {Result[]} results
 * @param {string} subject
 * @param {(results: Result[], clients: number, subject: string, against: string, most: number, suffix: string) =>
 *   Reached[]} byOrder
 * @param {string} suffix
 */
function byPeer(results, subject, byOrder, suffix) {
  const all = peers.map((peer) =>
    byOrder(results, 100_000, subject, peer, 0.4, ` (${peer})${suffix}`),
  );
  return all[0].map((_, order) =>
    all.map((reached) => reached[order]).reduce((x, y) => (x.value >= y.value ? x : y)),
  );
}

/**
 * @param {Measured['memory']} memory
 * @returns {Reached[]}
 */
function memoryReached(memory) {
  const of = (/** @type {string} */ name) => memory?.find((it) => it.name === name);
  const [ours, map] = [of('allow'), of('Map')];
  if (ours === undefined || map === undefined) return [];
  const bytes = ours.linear / ours.clients;
  return [
    ratioReached('', bytes / (map.heap / map.clients), 0.26),
    { name: 'bytes', value: bytes, text: printed(bytes, 1, 64), holds: bytes <= 64 },
  ];
}

/**
 * @param {Measured['growth']} growth
 * @returns {Reached[]}
 */
function growthReached(growth) {
  if (growth === undefined) return [];
  const { tierlimit, Map } = growth.runs;
  return [ratioReached('', median(tierlimit.slowest) / median(Map.slowest), 0.1)];
}

/**
 * @param {Measured['startup']} startup
 * @returns {Reached[]}
 */
function startupReached(startup) {
  if (startup === undefined) return [];
  return [
    ratioReached('', ratio(startup.tierlimit.decision, startup.limiter.decision).median, 2),
    ratioReached(
      'slim',
      ratio(startup['tierlimit/slim'].decision, startup.limiter.decision).median,
      2,
    ),
  ];
}

/**
 * @param {Measured['flood']} flood
 * @returns {Reached[]}
 */
function floodReached(flood) {
  if (flood === undefined) return [];
  const [few, many] = flood.floods;
  return [
    ratioReached('', ratio(few.ns, many.ns).median, 1.2),
    ...flood.floods.map(({ maxClients, filledBytes, endBytes }) => {
      const grown = endBytes - filledBytes;
      const name = `memory at ${maxClients.toLocaleString('en')} grown by`;
      return { name, value: grown, text: `${grown} bytes`, holds: grown === 0 };
    }),
  ];
}
