/** The worker's API. Calls resolve to { ok, status, body }, whatever was answered. */

/** There was no answer. */
export class Unreachable extends Error {}

async function call(path, options) {
  let response, text;
  try {
    response = await fetch(path, { cache: 'no-store', ...options });
    text = await response.text();
  } catch (error) {
    throw new Unreachable(`no answer from ${location.host}`, { cause: error });
  }
  return { ok: response.ok, status: response.status, headers: response.headers, text };
}

async function callJson(path, options) {
  const { text, ...answer } = await call(path, options);
  return { ...answer, body: JSON.parse(text) };
}

/** The address of a request by `client`, with the tier and cost that are not left to the server. */
export function address(path, { client, tier, cost }) {
  const query = new URLSearchParams({ client });
  if (tier) query.set('tier', tier);
  if (cost) query.set('cost', cost);
  return `${path}?${query}`;
}

export const request = (caller) => callJson(address('/api/hello', caller));
export const peek = (caller) => callJson(address('/api/peek', caller));
export const stats = () => callJson('/api/stats');

export async function readPolicies() {
  const { text, headers } = await call('/api/policies');
  return { text, revision: Number(headers.get('x-revision')) };
}

export const writePolicies = (text) => callJson('/api/policies', { method: 'PUT', body: text });

export const assignTier = (client, tier) =>
  callJson(address('/api/clients/tier', { client }), {
    method: 'PUT',
    body: JSON.stringify({ tier }),
  });

/**
 * For sorting answers to requests. Those sent in parallel overtake each other on their way back;
 * within a millisecond a balance only falls.
 */
export function latestFirst({ body: one }, { body: other }) {
  return other.nowMs - one.nowMs || one.decision.remaining - other.decision.remaining;
}
