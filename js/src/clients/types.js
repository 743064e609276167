/**
 * The types of what says who the client is.
 * @module
 */

/** @typedef {import('../middleware/types.js').RequestSource} RequestSource */

/**
 * What tells an extractor from a plain function.
 *
 * @typedef {object} Kind
 * @property {string} kind What its names begin with: `ip`, `key`, `user`; of `firstOf`, whose names are those of others,
 *   `first-of`.
 */

/**
 * Says who the client is: one of those that `tierlimit/clients` makes. The names that it gives are `kind:value`, or null
 * where there is no client.
 *
 * @template [Request=unknown]
 * @typedef {((request: Request, source: RequestSource) => string | null) & Readonly<Kind>} ClientExtractor
 */

/**
 * Which proxies stand before the service, and how much of an address is one client.
 *
 * @typedef {object} AddressOptions
 * @property {number} [hops] How many proxies stand before the service, from 0 to 32: as many addresses at the right end
 *   of the header are written by them. Default 0: the header is ignored.
 * @property {readonly string[]} [trusted] The networks of these proxies, in place of their number: `'10.0.0.0/8'`,
 *   `'2001:db8::7'`, or `'loopback'`, `'linklocal'`, `'uniquelocal'`.
 * @property {string} [header] Where they write addresses: `'forwarded'` is read by RFC 7239, any other as a list.
 *   Default `'x-forwarded-for'`.
 * @property {number} [prefix6] How many bits of an IPv6 address make a client, from 1 to 128. Default 64.
 * @property {number} [prefix4] How many bits of an IPv4 address make a client, from 1 to 32. Default 32.
 */

/**
 * Where API keys are, and which of them count.
 *
 * @typedef {object} ApiKeyOptions
 * @property {string} [header] The header field. Default `'x-api-key'`.
 * @property {string} [scheme] What stands before the key, in any case: `'Bearer'` in `Authorization: Bearer KEY`. A value
 *   without it holds no key. Default: the key is all of the value.
 * @property {(key: string) => boolean} [isKnown] Whether there is such a key. Default: every key counts.
 */

/**
 * Whose word counts, and how much of an address is one client.
 *
 * @typedef {object} CloudflareOptions
 * @property {readonly string[]} [trusted] The networks of the peers that the header is believed, as for `address`. Default:
 *   it is believed whoever sends it.
 * @property {number} [prefix6] How many bits of an IPv6 address make a client, from 1 to 128. Default 64.
 * @property {number} [prefix4] How many bits of an IPv4 address make a client, from 1 to 32. Default 32.
 */

/**
 * Which paths are the same.
 *
 * @typedef {object} PathOptions
 * @property {boolean} [caseSensitive] Whether `/Login` is another path than `/login`. Default false.
 */

export {};
