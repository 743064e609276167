/**
 * Addresses as they are written, and the clients that they are.
 * @module
 */

import { longestIp, networkOf, parseIp } from './ip.js';

/** @import { Ip } from './ip.js' */

/**
 * What an address comes to.
 *
 * @typedef {object} IpClient
 * @property {string | null} name Null where it is no address.
 * @property {boolean} isTrusted
 */

/** How many addresses are remembered with what they come to: those of connections that are in use. */
const mostRemembered = 2048;

/** @type {IpClient} */
const nobody = { name: null, isTrusted: false };

/** Reads addresses. What was read lately is remembered, since a connection brings the same one with each request. */
export class IpReader {
  #prefix4;
  #prefix6;
  #isTrusted;
  #addressOf;
  /** @type {Map<string, IpClient>} */
  #remembered = new Map();

  /**
   * @param {number} prefix4
   * @param {number} prefix6
   * @param {null | ((ip: Ip) => boolean)} isTrusted
   * @param {(text: string) => string} [addressOf] what of a text is the address
   */
  constructor(prefix4, prefix6, isTrusted, addressOf = (text) => text) {
    this.#prefix4 = prefix4;
    this.#prefix6 = prefix6;
    this.#isTrusted = isTrusted;
    this.#addressOf = addressOf;
  }

  /**
   * @param {string | null} text
   * @returns {IpClient}
   */
  read(text) {
    if (text === null) return nobody;
    const remembered = this.#remembered.get(text);
    if (remembered !== undefined) return remembered;
    const ip = parseIp(this.#addressOf(text));
    if (ip === null) return nobody;
    const name = `ip:${networkOf(ip, this.#prefix4, this.#prefix6)}`;
    const client = { name, isTrusted: this.#isTrusted?.(ip) ?? false };
    if (text.length <= longestIp) this.#remember(text, client);
    return client;
  }

  /**
   * @param {string} text
   * @param {IpClient} client
   */
  #remember(text, client) {
    if (this.#remembered.size === mostRemembered) this.#remembered.clear();
    // A part of a header would keep all of the header in memory, and a copy is no part.
    this.#remembered.set(text.split('').join(''), client);
  }
}
