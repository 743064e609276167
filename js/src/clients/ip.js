/**
 * IP addresses as runtimes and proxies write them: with or without port, brackets and zone.
 * @module
 */

import ipaddr from 'ipaddr.js';

import { checkWhole } from '../arguments.js';

/** @typedef {ipaddr.IPv4 | ipaddr.IPv6} Ip */

/** The longest text that is looked at. An address with its port has up to 54 characters, a zone comes on top. */
export const longestIp = 128;

// ipaddr.js also reads `127.1`, `0177.0.0.1` and `0x7f.1`, and others do not: what is one address here and another one
// behind the next door is of use to attackers only.
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const four = `${octet}(?:\\.${octet}){3}`;
const ipv4 = new RegExp(`^${four}$`);
const ipv4AndPort = new RegExp(`^(${four}):(?:\\d{1,5}|_[\\w.-]+)$`);
const bracketed = /^\[([^[\]]+)\](?::(?:\d{1,5}|_[\w.-]+))?$/;
/** Of an interface: `%eth0`, `%br-lan.7`; in URLs it begins with `%25`. */
const zone = /%[\w.~%-]+$/;
const ipv6 = new RegExp(`^([\\da-f:]*:)(?:(${four})|([\\da-f]*))$`, 'i');

/**
 * The address that a text is, without port, brackets and zone. What stands for an IPv4 address, mapped
 * (`::ffff:192.0.2.1`) or translated by the well-known prefix of RFC 6052 (`64:ff9b::192.0.2.1`), is that address.
 *
 * @param {string} text
 * @returns {Ip | null} null where it is none
 */
export function parseIp(text) {
  if (text.length > longestIp) return null;
  if (ipv4.test(text)) return ipaddr.IPv4.parse(text);
  const withPort = ipv4AndPort.exec(text);
  if (withPort) return ipaddr.IPv4.parse(withPort[1]);
  const [, host = text] = bracketed.exec(text) ?? [];
  const [, groups, dotted, last] = ipv6.exec(host.replace(zone, '')) ?? [];
  if (groups === undefined) return null;
  // Of `::192.0.2.1` ipaddr.js makes the mapped address, which it is not; of groups it makes what they say.
  const ending = last ?? hexGroups(ipaddr.IPv4.parse(dotted).octets);
  try {
    return folded(ipaddr.IPv6.parse(groups + ending));
  } catch {
    return null;
  }
}

/** @param {number[]} octets */
const hexGroups = ([a, b, c, d]) => `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;

/** Whose last 32 bits are an IPv4 address. */
const mapped = ipaddr.IPv6.parse('::ffff:0:0');
const translated = ipaddr.IPv6.parse('64:ff9b::');

/**
 * @param {ipaddr.IPv6} address
 * @returns {Ip}
 */
function folded(address) {
  if (!address.match(mapped, 96) && !address.match(translated, 96)) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/**
 * The network of an address: `203.0.113.5` where the prefix is all of it, else `2001:db8:1:2::/64`.
 *
 * @param {Ip} address
 * @param {number} prefix4 of an IPv4 address, from 1 to 32
 * @param {number} prefix6 of an IPv6 address, from 1 to 128
 */
export function networkOf(address, prefix4, prefix6) {
  if (address instanceof ipaddr.IPv4) {
    if (prefix4 === 32) return address.toString();
    return `${new ipaddr.IPv4(masked(address.octets, 8, prefix4))}/${prefix4}`;
  }
  if (prefix6 === 128) return address.toString();
  return `${new ipaddr.IPv6(masked(address.parts, 16, prefix6))}/${prefix6}`;
}

/**
 * @param {number[]} parts
 * @param {number} bits of each part
 * @param {number} prefix
 */
const masked = (parts, bits, prefix) =>
  parts.map((part, i) => {
    const rest = Math.min(Math.max(bits * (i + 1) - prefix, 0), bits);
    return (part >> rest) << rest;
  });

/**
 * How many bits of an address make a client.
 * @param {{ prefix4?: number, prefix6?: number }} options
 */
export function checkPrefixes({ prefix4 = 32, prefix6 = 64 }) {
  checkWhole('prefix4', prefix4, 1, 32);
  checkWhole('prefix6', prefix6, 1, 128);
  return { prefix4, prefix6 };
}
