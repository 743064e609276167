// Requests as adapters show them to what says who the client is.

/**
 * @param {string | null} address of the peer
 * @param {Record<string, string> | [string, string][]} [fields] pairs, where one is there several times
 * @param {string} [url]
 * @returns {import('tierlimit/clients').RequestSource}
 */
export function source(address, fields = {}, url = '/') {
  const headers = new Headers(fields);
  return { header: (name) => headers.get(name), address, method: 'GET', url };
}

/**
 * The client of a request of which nothing but that is known.
 *
 * @param {(request: any, source: any) => string | null} extract
 * @param {...Parameters<typeof source>} about
 */
export const clientOf = (extract, ...about) => extract(null, source(...about));
