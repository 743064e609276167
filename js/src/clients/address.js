/**
 * Clients by their IP address.
 * @module
 */

import { checkNames, checkWhole } from '../arguments.js';
import { check } from '../errors.js';
import { extractor } from './extractor.js';
import { checkFieldName } from './field-name.js';
import { addresses, elements } from './forwarded.js';
import { checkPrefixes } from './ip.js';
import { IpReader } from './ip-reader.js';
import { networks } from './networks.js';

/** @import { AddressOptions, ClientExtractor, RequestSource } from './types.js' */

/** How many proxies are followed. */
const mostHops = 32;

/**
 * Clients by IP address: `ip:203.0.113.5`, `ip:2001:db8:1:2::/64`. By default that is the address of the peer, and what
 * headers say is ignored. Null where there is no address, or where what is in its place is none.
 *
 * With `hops: n` it is the n-th address from the right of the header; where there are fewer, the peer's. With `trusted` it
 * is the first address that is not in these networks, beginning with the peer's and going on from the right of the header;
 * where all are in them, the last one looked at. What stands to the left of it may say anything.
 *
 * An IPv6 address counts by its first 64 bits: whoever has one has at least all that begin with the same. An IPv4 address
 * that is written as IPv6 (`::ffff:192.0.2.1`, `64:ff9b::192.0.2.1`) is that IPv4 address. Ports, brackets and zones do
 * not count. Of IPv4 only four decimal numbers are an address; `127.1`, `0x7f.0.0.1` and `010.0.0.1` are not.
 *
 * @param {AddressOptions} [options] `hops` or `trusted`, not both; `header`, `prefix6`, `prefix4`
 * @returns {ClientExtractor}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * address(); // no proxy: the peer's
 * address({ hops: 1 }); // one proxy, which writes X-Forwarded-For
 * address({ trusted: ['loopback', '10.0.0.0/8'], header: 'forwarded' });
 */
export function address(options = {}) {
  checkNames(options, ['hops', 'trusted', 'header', 'prefix6', 'prefix4']);
  const { hops = 0, trusted, header = 'x-forwarded-for' } = options;
  checkWhole('hops', hops, 0, mostHops);
  const { prefix4, prefix6 } = checkPrefixes(options);
  const field = checkFieldName('header', header);
  const { startOf, addressOf } = field === 'forwarded' ? elements : addresses;
  if (trusted === undefined) {
    const peers = new IpReader(prefix4, prefix6, null);
    const entries = new IpReader(prefix4, prefix6, null, addressOf);
    return extractor('ip', hops === 0 ? byPeer : byHops);

    /** @param {unknown} _request @param {RequestSource} source */
    function byPeer(_request, source) {
      return peers.read(source.address).name;
    }

    /** @param {unknown} _request @param {RequestSource} source */
    function byHops(_request, source) {
      const list = source.header(field);
      if (!list) return peers.read(source.address).name;
      let end = list.length;
      for (let hop = 1; ; hop += 1) {
        const start = startOf(list, end);
        if (start < 0) return null;
        if (hop === hops) return entries.read(list.slice(start, end)).name;
        if (start === 0) return peers.read(source.address).name;
        end = start - 1;
      }
    }
  }
  check(options.hops === undefined, 'hops', 'left out where trusted is given', hops);
  const isTrusted = networks('trusted', trusted);
  const peers = new IpReader(prefix4, prefix6, isTrusted);
  const entries = new IpReader(prefix4, prefix6, isTrusted, addressOf);
  return extractor('ip', byTrust);

  /** @param {unknown} _request @param {RequestSource} source */
  function byTrust(_request, source) {
    let ip = peers.read(source.address);
    const list = ip.isTrusted ? source.header(field) : null;
    if (!list) return ip.name;
    let end = list.length;
    for (let hop = 1; hop <= mostHops; hop += 1) {
      const start = startOf(list, end);
      if (start < 0) return null;
      ip = entries.read(list.slice(start, end));
      if (!ip.isTrusted || start === 0) return ip.name;
      end = start - 1;
    }
    return null;
  }
}
