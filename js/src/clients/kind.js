/**
 * Extractors of clients, told apart from plain functions by their kind.
 * @module
 */

/** @import { ClientExtractor, ClientSource } from './types.js' */

/**
 * @template Request
 * @param {string} kind
 * @param {(request: Request, source: ClientSource) => string | null} extract
 * @returns {ClientExtractor<Request>}
 */
export const extractor = (kind, extract) => Object.assign(extract, { kind });
