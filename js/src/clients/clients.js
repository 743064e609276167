/**
 * Who is the client: ready-made ways to tell it from a request, for the `client` of each adapter. Each gives names of its
 * own kind, so that nobody is taken for somebody else who has the same name elsewhere.
 * @module
 */

export { address } from './address.js';
export { apiKey } from './api-key.js';
export { claim } from './claim.js';
export { cloudflare } from './cloudflare.js';
export { every, firstOf } from './combined.js';
export { header } from './header.js';
export { named } from './named.js';
export { path } from './path.js';

/**
 * @typedef {import('./types.js').AddressOptions} AddressOptions
 * @typedef {import('./types.js').ApiKeyOptions} ApiKeyOptions
 * @typedef {import('./types.js').CloudflareOptions} CloudflareOptions
 * @typedef {import('./types.js').PathOptions} PathOptions
 * @typedef {import('../middleware/types.js').RequestSource} RequestSource
 */

/**
 * @template [Request=unknown]
 * @typedef {import('./types.js').ClientExtractor<Request>} ClientExtractor
 */
