/**
 * Networks whose proxies are trusted.
 * @module
 */

import { check, show } from '../errors.js';
import { parseIp, networkOf } from './ip.js';

/** @import { Ip } from './ip.js' */

/** Names for what is written often. @type {Readonly<Record<string, readonly string[]>>} */
const named = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const rule =
  'networks such as "10.0.0.0/8", "2001:db8::/32" or "192.0.2.1", or "loopback", "linklocal" or "uniquelocal"';

/**
 * Whether an address is in one of the networks.
 *
 * @param {string} name of the argument
 * @param {unknown} list
 * @returns {(address: Ip) => boolean}
 */
export function networks(name, list) {
  check(Array.isArray(list) && list.length > 0, name, `an array of ${rule}`, list);
  const pairs = list.flatMap((text, i) => {
    const entry = `${name}[${i}]`;
    check(typeof text === 'string', entry, `one of ${rule}`, text);
    const texts = Object.hasOwn(named, text) ? named[text] : [text];
    return texts.map((each) => parseNetwork(entry, each));
  });
  return (address) =>
    pairs.some(
      ([network, prefix]) =>
        network.kind() === address.kind() && address.match(/** @type {any} */ (network), prefix),
    );
}

/**
 * @param {string} name
 * @param {string} text
 * @returns {readonly [Ip, number]}
 */
function parseNetwork(name, text) {
  const [, base, digits] = /^([^/[\]%]+?)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = base === undefined || /\.\d+:/.test(base) ? null : parseIp(base);
  check(address, name, `one of ${rule}`, text);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  // An IPv4 network that is written as IPv6 has the 96 bits before it.
  const before = bits === 32 && base.includes(':') ? 96 : 0;
  const prefix = digits === undefined ? bits : Number(digits) - before;
  const range = `from ${before + 1} to ${before + bits}`;
  check(prefix >= 1 && prefix <= bits, name, `a network with a prefix ${range}`, text, RangeError);
  const network = networkOf(address, Math.min(prefix, 32), prefix);
  if (prefix < bits && network !== `${address}/${prefix}`) {
    const message = `${name} must be a network without bits beyond its prefix, ${show(network)}`;
    throw new RangeError(`${message}; got ${show(text)}`);
  }
  return [address, prefix];
}
