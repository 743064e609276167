/**
 * Clients by the address that Cloudflare tells.
 * @module
 */

import { checkNames } from '../arguments.js';
import { extractor } from './extractor.js';
import { checkPrefixes } from './ip.js';
import { IpReader } from './ip-reader.js';
import { networks } from './networks.js';

/** @import { CloudflareOptions, ClientExtractor, RequestSource } from './types.js' */

/**
 * Clients by the address in CF-Connecting-IP, as `address` names them: `ip:203.0.113.5`. Null where the header is missing
 * or holds no address. In a Worker the header is always Cloudflare's. A server behind Cloudflare is sent it by anybody who
 * finds the server: let nobody else reach it, or say in `trusted` whose word counts; from others the header is ignored.
 *
 * @param {CloudflareOptions} [options] `trusted`, `prefix6`, `prefix4`
 * @returns {ClientExtractor}
 * @throws {TypeError | RangeError} when an option is not as it should be; the message names it and its value
 * @example
 * cloudflare(); // in a Worker
 * firstOf(cloudflare({ trusted: ['173.245.48.0/20', '2400:cb00::/32'] }), address()); // two of its networks
 */
export function cloudflare(options = {}) {
  checkNames(options, ['trusted', 'prefix6', 'prefix4']);
  const { trusted } = options;
  const { prefix4, prefix6 } = checkPrefixes(options);
  const isTrusted = trusted === undefined ? null : networks('trusted', trusted);
  const peers = new IpReader(prefix4, prefix6, isTrusted);
  const clients = new IpReader(prefix4, prefix6, null);
  return extractor('ip', byCloudflare);

  /** @param {unknown} _request @param {RequestSource} source */
  function byCloudflare(_request, source) {
    if (isTrusted && !peers.read(source.address).isTrusted) return null;
    return clients.read(source.header('cf-connecting-ip')).name;
  }
}
