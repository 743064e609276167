/**
 * Clients by their IP address.
 * @module
 */

import { checkNames, checkWhole } from '../arguments.js';
import { check } from '../errors.js';
import { checkFieldName } from './field-name.js';
import { addressesOf, forsOf } from './forwarded.js';
import { networkOf, parseIp } from './ip.js';
import { networks } from './networks.js';
import { extractor } from './kind.js';

/** @import { ClientExtractor, ClientSource } from './types.js' */
/** @import { Ip } from './ip.js' */

/**
 * Which proxies stand before the service, and how much of an address is one client.
 *
 * @typedef {object} AddressOptions
 * @property {number} [hops] How many proxies stand before the service, from 0 to 32: that many addresses from the right
 *   of the header were written by them. Default 0: the header is ignored.
 * @property {readonly string[]} [trusted] The networks of those proxies, in place of their number: `'10.0.0.0/8'`,
 *   `'2001:db8::7'`, or `'loopback'`, `'linklocal'`, `'uniquelocal'`.
 * @property {string} [header] Where they write addresses: `'forwarded'` is read by RFC 7239, any other as a list.
 *   Default `'x-forwarded-for'`.
 * @property {number} [prefix6] How many bits of an IPv6 address make a client, from 1 to 128. Default 64.
 * @property {number} [prefix4] How many bits of an IPv4 address make a client, from 1 to 32. Default 32.
 */

/** How far the addresses of trusted proxies are followed. */
const mostHops = 32;
/** How many addresses are remembered, with what they come to. */
const mostRemembered = 512;

/**
 * Clients by IP address: `ip:203.0.113.5`, `ip:2001:db8:1:2::/64`. By default that is the address of the peer, and what
 * headers say is ignored. Null where there is no address, or what is in its place is none.
 *
 * With `hops: n` it is the n-th address from the right of the header; where there are fewer, the peer's. With `trusted` it
 * is the first address that is not in these networks, beginning with the peer's and going on from the right of the header;
 * if all are in them, the last of these. Nothing to the left of it is looked at, whatever it says.
 *
 * An IPv6 address counts by its first 64 bits, since whoever has one has at least as many more. IPv4 addresses that are
 * written as IPv6 (`::ffff:192.0.2.1`, `64:ff9b::192.0.2.1`) are the IPv4 address. Ports, brackets and zones are left out.
 * Only IPv4 addresses of four decimal numbers count: `127.1`, `0x7f.0.0.1` and `010.0.0.1` are no addresses.
 *
 * @param {AddressOptions} [options] `hops` or `trusted`, not both; `header`, `prefix6`, `prefix4`
 * @returns {ClientExtractor}
 * @throws {TypeError | RangeError} when an option is not as it should be
 * @example
 * address(); // no proxy: the address of the peer
 * address({ hops: 1 }); // one proxy, which writes X-Forwarded-For
 * address({ trusted: ['loopback', '10.0.0.0/8'], header: 'forwarded' });
 */
export function address(options = {}) {
  checkNames(options, ['hops', 'trusted', 'header', 'prefix6', 'prefix4']);
  const { hops = 0, trusted, header = 'x-forwarded-for', prefix6 = 64, prefix4 = 32 } = options;
  checkWhole('hops', hops, 0, mostHops);
  checkWhole('prefix6', prefix6, 1, 128);
  checkWhole('prefix4', prefix4, 1, 32);
  const field = checkFieldName('header', header);
  const isTrusted = trusted === undefined ? null : networks('trusted', trusted);
  check(!isTrusted || options.hops === undefined, 'trusted', 'without hops', trusted);
  const entriesOf = field === 'forwarded' ? forsOf : addressesOf;
  const known = new Addresses(prefix4, prefix6, isTrusted);

  /** @param {unknown} _request @param {ClientSource} source */
  function byHops(_request, source) {
    const list = hops > 0 ? source.header(field) : null;
    const entry = list === null || list === '' ? null : nth(entriesOf(list), hops);
    return known.read(entry ?? source.address).name;
  }

  /** @param {unknown} _request @param {ClientSource} source */
  function byTrust(_request, source) {
    let read = known.read(source.address);
    const list = read.isTrusted ? source.header(field) : null;
    if (list === null || list === '') return read.name;
    let left = mostHops;
    for (const entry of entriesOf(list)) {
      if (left === 0) return null;
      left -= 1;
      read = known.read(entry);
      if (!read.isTrusted) break;
    }
    return read.name;
  }

  return extractor('ip', isTrusted ? byTrust : byHops);
}

/**
 * The n-th of what is there, from 1; null where there are fewer.
 * @param {Iterable<string>} entries
 * @param {number} n
 */
function nth(entries, n) {
  let left = n;
  for (const entry of entries) {
    left -= 1;
    if (left === 0) return entry;
  }
  return null;
}

/**
 * @typedef {object} Read
 * @property {string | null} name
 * @property {boolean} isTrusted
 */

/** @type {Read} */
const nobody = { name: null, isTrusted: false };

/** Addresses as they are written, with the client that each is. Those that were asked for last are remembered. */
class Addresses {
  #prefix4;
  #prefix6;
  #isTrusted;
  /** @type {Map<string, Read>} */
  #remembered = new Map();

  /**
   * @param {number} prefix4
   * @param {number} prefix6
   * @param {null | ((address: Ip) => boolean)} isTrusted
   */
  constructor(prefix4, prefix6, isTrusted) {
    this.#prefix4 = prefix4;
    this.#prefix6 = prefix6;
    this.#isTrusted = isTrusted;
  }

  /**
   * @param {string | null} text
   * @returns {Read}
   */
  read(text) {
    if (text === null) return nobody;
    const remembered = this.#remembered.get(text);
    if (remembered !== undefined) return remembered;
    const read = this.#read(text);
    if (read !== nobody) {
      if (this.#remembered.size === mostRemembered) this.#remembered.clear();
      this.#remembered.set(text, read);
    }
    return read;
  }

  /**
   * @param {string} text
   * @returns {Read}
   */
  #read(text) {
    const ip = parseIp(text);
    if (ip === null) return nobody;
    const name = `ip:${networkOf(ip, this.#prefix4, this.#prefix6)}`;
    return { name, isTrusted: this.#isTrusted?.(ip) ?? false };
  }
}
