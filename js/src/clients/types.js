/**
 * The types of what says who the client is.
 * @module
 */

/** @typedef {import('../middleware/types.js').RequestSource} RequestSource */

/**
 * Says who the client is: one of those that `tierlimit/clients` makes. The names that it gives are `kind:value`, or null
 * where there is no client.
 *
 * @template [Request=unknown]
 * @typedef {((request: Request, source: RequestSource) => string | null) & { readonly kind: string }} ClientExtractor
 */

export {};
