/**
 * Refusals as problem documents (RFC 9457).
 * @module
 */

/** The type of a 429, as draft-ietf-httpapi-ratelimit-headers registers it. */
export const quotaExceeded = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

export const problemType = 'application/problem+json';

/**
 * What a request is told that spent more than it may.
 * @param {number} status
 * @param {readonly string[]} violated what the limits that denied are called
 */
export const quotaProblem = (status, violated) => ({
  ...{ type: quotaExceeded, title: 'Quota Exceeded', status },
  'violated-policies': violated,
});

/** What a request is told of which the client is not known. */
export const clientProblem = {
  ...{ type: 'about:blank', title: 'Bad Request', status: 400 },
  detail: 'The client that this request is to be counted for is not known.',
};
