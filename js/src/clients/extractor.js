/**
 * Extractors of clients, told from plain functions by their kind.
 * @module
 */

/** @import { ClientExtractor, RequestSource } from './types.js' */

/**
 * @template Request
 * @param {string} kind
 * @param {(request: Request, source: RequestSource) => string | null} extract
 * @returns {ClientExtractor<Request>}
 */
export const extractor = (kind, extract) => Object.assign(extract, { kind });
