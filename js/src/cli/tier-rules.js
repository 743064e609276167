/** Which tier a client of a log is judged by, where the command line says so. */

import { BlockList, isIP } from 'node:net';
import { UsageError } from './errors.js';

export class TierRules {
  /** @type {Map<string, string>} */
  #names = new Map();
  /** @type {{ network: BlockList, tier: string }[]} */
  #networks = [];
  #otherwise;

  /**
   * @param {string[]} assignments - each `CLIENT=TIER` or `NETWORK/BITS=TIER`
   * @param {string} [otherwise] - the tier of every other client; without it the policies say
   */
  constructor(assignments, otherwise) {
    this.#otherwise = otherwise;
    for (const assignment of assignments) {
      const equals = assignment.lastIndexOf('=');
      const [who, tier] = [assignment.slice(0, equals), assignment.slice(equals + 1)];
      if (equals < 1 || tier === '') {
        throw new UsageError(`--assign takes CLIENT=TIER, not '${assignment}'`);
      }
      const network = parseNetwork(who);
      if (network === null) this.#names.set(who, tier);
      else this.#networks.push({ network, tier });
    }
  }

  /**
   * A client's own assignment counts before that of a network, and of networks the first that
   * holds the client.
   *
   * @param {string} client
   * @returns {string | undefined}
   */
  tierOf(client) {
    return this.#names.get(client) ?? this.#networkTier(client) ?? this.#otherwise;
  }

  /** @param {string} client */
  #networkTier(client) {
    if (this.#networks.length === 0) return undefined;
    const version = isIP(client);
    if (version === 0) return undefined;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    return this.#networks.find(({ network }) => network.check(client, family))?.tier;
  }
}

/**
 * @param {string} text - `203.0.113.0/24`, `2001:db8::/32`
 * @returns {BlockList | null} null when the text is no network but a client's name
 */
function parseNetwork(text) {
  const found = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (found === null) return null;
  const version = isIP(found[1]);
  if (version === 0) return null;
  const bits = Number(found[2]);
  const most = version === 4 ? 32 : 128;
  if (bits > most)
    throw new UsageError(`--assign takes networks of 0 to ${most} bits, not '${text}'`);
  const network = new BlockList();
  network.addSubnet(found[1], bits, version === 4 ? 'ipv4' : 'ipv6');
  return network;
}
