/**
 * The types of what says who the client is.
 * @module
 */

/**
 * What every adapter knows of a request, whatever its framework calls it.
 *
 * @typedef {object} ClientSource
 * @property {(name: string) => string | null} header A header field by its name in lower case; one that is there several
 *   times is joined by `, `; null where there is none.
 * @property {string | null} address The address of the peer, as the runtime tells it: of whoever holds the other end of
 *   the connection. Null where the runtime tells none.
 * @property {string} method The method, in upper case: `GET`.
 * @property {string} url The URL, or its path and query, as the runtime has it.
 */

/**
 * Says who the client is: one of those that `tierlimit/clients` makes. The names that it gives are `kind:value`, or null
 * where there is no client.
 *
 * @template [Request=unknown]
 * @typedef {((request: Request, source: ClientSource) => string | null) & { readonly kind: string }} ClientExtractor
 */

export {};
