/**
 * Addresses as they are written, and the clients that they are.
 * @module
 */

import { isIpv4, networkOf, parseIp } from './ip.js';

/** @import { Ip } from './ip.js' */

/**
 * What an address comes to.
 *
 * @typedef {object} IpClient
 * @property {string | null} name Null where it is no address.
 * @property {boolean} isTrusted
 */

/** How many addresses are remembered with what they come to: those of connections that are in use. */
const mostRemembered = 512;

/** @type {IpClient} */
const nobody = { name: null, isTrusted: false };

/** Reads addresses. What was read lately is remembered, since a connection brings the same one with each request. */
export class IpReader {
  #prefix4;
  #prefix6;
  #isTrusted;
  /** Whether an IPv4 address is its name, whatever it is. */
  #isPlain;
  /** @type {Map<string, IpClient>} */
  #remembered = new Map();

  /**
   * @param {number} prefix4
   * @param {number} prefix6
   * @param {null | ((ip: Ip) => boolean)} isTrusted
   */
  constructor(prefix4, prefix6, isTrusted) {
    this.#prefix4 = prefix4;
    this.#prefix6 = prefix6;
    this.#isTrusted = isTrusted;
    this.#isPlain = prefix4 === 32 && isTrusted === null;
  }

  /**
   * @param {string | null} text
   * @returns {string | null}
   */
  nameOf(text) {
    if (text === null) return null;
    if (this.#isPlain && isIpv4(text)) return `ip:${text}`;
    return this.read(text).name;
  }

  /**
   * @param {string | null} text
   * @returns {IpClient}
   */
  read(text) {
    if (text === null) return nobody;
    const remembered = this.#remembered.get(text);
    if (remembered !== undefined) return remembered;
    const ip = parseIp(text);
    if (ip === null) return nobody;
    const name = `ip:${networkOf(ip, this.#prefix4, this.#prefix6)}`;
    const client = { name, isTrusted: this.#isTrusted?.(ip) ?? false };
    if (this.#remembered.size === mostRemembered) this.#remembered.clear();
    this.#remembered.set(ownCopy(text), client);
    return client;
  }
}

/**
 * The same text, but no part of another: a part of a header keeps all of the header in memory.
 * @param {string} text
 */
const ownCopy = (text) => text.split('').join('');
