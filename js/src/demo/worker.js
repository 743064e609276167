/**
 * An edge worker with tierlimit in front of a small API.
 *
 * A request names its client by the header `x-client` or the query `?client=`, and may name a tier
 * (`x-tier`, `?tier=`) and a cost (`x-cost`, `?cost=`). It is answered with 200, or with 429 and
 * `Retry-After` by `tierlimit/fetch`; both say in their header fields what is left, and in their
 * body the whole decision. In production the client and the tier would come from your
 * authentication, not from the caller's word.
 */
import { PolicyError, TierLimiter } from 'tierlimit';
import { rateLimit } from 'tierlimit/fetch';

/**
 * @typedef {Record<'HOST' | 'POLICIES' | 'PAGE_HTML' | 'PAGE_CSS' | 'PAGE_JS', string>} Env bindings,
 *   HOST the address that the server is bound to, as it stands in a URL
 * @typedef {{ request: Request, url: URL, env: Env, client: string }} Context
 * @typedef {Record<string, (context: Context) => Response | Promise<Response>>} Methods
 */

/** Tokens that a request to each endpoint of the API costs, unless it says otherwise. */
const COSTS = new Map([
  ['/api/hello', 1],
  ['/api/report', 5],
]);

const MAX_BODY_BYTES = 5_000_000;

/** A larger body is read so far, and not kept: a client that is still sending can miss the answer. */
const MAX_READ_BYTES = 20_000_000;

/** The names of a loopback address. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Addresses that stand for all of a machine's. */
const ANY_HOSTS = ['0.0.0.0', '[::]'];

/** What the page may load and do: its own script and style, and requests to this server. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** An answer other than 200 that a handler gives up with. */
class HttpError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {Record<string, string>} [headers]
   */
  constructor(status, message, headers) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** @type {TierLimiter} made at the first request, since `env` is not there before */
let limiter;
/** @type {(request: Request) => Response | Promise<Response>} the protected API behind the limiter */
let limited;
/** What was decided about requests that are under way. @type {WeakMap<Request, object>} */
const decided = new WeakMap();
/** The policies in force, as they were typed. */
let policyText = '';

/** @type {Record<string, Methods>} */
const routes = {
  '/': { GET: asset('PAGE_HTML', 'text/html') },
  '/page.css': { GET: asset('PAGE_CSS', 'text/css') },
  '/page.js': { GET: asset('PAGE_JS', 'text/javascript') },
  '/api/hello': { GET: spend },
  '/api/report': { GET: spend },
  '/api/peek': { GET: peek },
  '/api/clients/tier': { PUT: assignTier },
  '/api/policies': { GET: readPolicies, PUT: writePolicies },
  '/api/stats': { GET: stats },
};

export default {
  /**
   * @param {Request} request
   * @param {Env} env
   */
  async fetch(request, env) {
    let response;
    try {
      if (!limiter) {
        limiter = TierLimiter.forIsolate('demo', { policies: env.POLICIES });
        policyText = env.POLICIES;
        limited = behind(limiter);
      }
      response = await answer(request, env);
    } catch (error) {
      response = failure(error);
    }
    return request.method === 'HEAD' ? new Response(null, response) : response;
  },
};

/**
 * @param {Request} request
 * @param {Env} env
 */
async function answer(request, env) {
  if (!URL.canParse(request.url)) throw new HttpError(400, `${request.url} is no URL`);
  const url = new URL(request.url);
  checkHost(url.hostname, env.HOST);
  const [, client = ''] = /^\/api\/clients\/([^/]+)\/tier$/.exec(url.pathname) ?? [];
  const methods = client ? { PUT: assignTier } : new Map(Object.entries(routes)).get(url.pathname);
  if (!methods) throw new HttpError(404, `there is nothing at ${url.pathname}`);

  const names = Object.keys(methods);
  const allow = [...names, ...(names.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } });
  const handle = new Map(Object.entries(methods)).get(request.method.replace('HEAD', 'GET'));
  if (!handle) {
    throw new HttpError(405, `${url.pathname} knows ${allow}, not ${request.method}`, { allow });
  }
  return handle({ request, url, env, client });
}

/**
 * Refuses requests under another name than the server's. Somebody else's name can be made to lead
 * here; then a page of theirs, opened by whoever runs this server, may send what the server's own may.
 * @param {string} hostname of the request
 * @param {string} bound
 */
function checkHost(hostname, bound) {
  const isAddress = /^(\[.*\]|[\d.]+)$/.test(hostname);
  if (LOCAL_HOSTS.includes(hostname) || hostname === bound) return;
  if (isAddress && ANY_HOSTS.includes(bound)) return;
  const remedy = 'start it with --host and the name to be used';
  throw new HttpError(403, `this server does not answer as "${hostname}": ${remedy}`);
}

/**
 * The protected API, which is asked only where there are tokens, and behind the limiter that spends
 * them.
 * @param {TierLimiter} limiter
 */
function behind(limiter) {
  const limit = rateLimit({
    limiter,
    client: named,
    tier: (request) => caller(request).tier,
    cost: (request) => caller(request).cost ?? COSTS.get(new URL(request.url).pathname) ?? 1,
    onDecision(decision, { client, cost, request }) {
      decided.set(request, { client, cost, nowMs: Date.now(), decision });
    },
  });
  return limit((request) => {
    return json(200, { message: `Hello, ${named(request)}.`, ...decided.get(request) });
  });
}

/**
 * Asks the protected API.
 * @param {Context} context
 */
async function spend({ request }) {
  const response = await asked(() => limited(request));
  if (response.status !== 429) return response;
  // A problem document may have members of one's own: here those that the API's answers have too.
  const problem = response.body === null ? {} : /** @type {object} */ (await response.json());
  const headers = Object.fromEntries(response.headers);
  return json(429, { ...problem, ...decided.get(request) }, headers);
}

/**
 * Whether the limiter would admit the cost now, and the bucket as it is. Spends and stores nothing.
 * @param {Context} context
 */
function peek({ request }) {
  const { client, tier, cost } = caller(request);
  const decision = asked(() => limiter.peek(client, { cost, tier }));
  return json(200, { client, nowMs: Date.now(), decision });
}

function readPolicies() {
  const headers = head('application/json', { 'x-revision': `${limiter.revision}` });
  return new Response(policyText, { headers });
}

/**
 * Replaces the policies by the text as it was typed. A document that is refused (PolicyError)
 * leaves the old ones in force.
 * @param {Context} context
 */
async function writePolicies({ request }) {
  const text = await readText(request);
  const report = limiter.setPolicies(text);
  policyText = text;
  return json(200, report);
}

/**
 * Assigns `{ "tier": "pro" }` to a client, or removes the assignment with `{ "tier": null }`. The
 * path may name the client too, unless that is `.` or `..`, which no path can hold.
 * @param {Context} context
 */
async function assignTier({ request, client: encoded }) {
  const client = encoded ? decoded(encoded) : named(request);
  const tier = tierIn(await readText(request));
  asked(() => limiter.setTier(client, tier));
  return json(200, { client, nowMs: Date.now(), decision: limiter.peek(client) });
}

/**
 * The text of a request's body. Memory is taken for as much as may be in it, however long it is.
 * @param {Request} request
 */
async function readText({ headers, body }) {
  const tooLong = new HttpError(413, `the body has more than ${MAX_BODY_BYTES} bytes`);
  if (Number(headers.get('content-length')) > MAX_READ_BYTES) throw tooLong;
  // In one piece from the start: a body may come in any number of small ones.
  const bytes = new Uint8Array(MAX_BODY_BYTES);
  let length = 0;
  for await (const chunk of body ?? []) {
    if (length + chunk.length <= MAX_BODY_BYTES) bytes.set(chunk, length);
    length += chunk.length;
    if (length > MAX_READ_BYTES) break;
  }
  if (length > MAX_BODY_BYTES) throw tooLong;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(bytes.subarray(0, length));
  } catch {
    throw new HttpError(400, 'the body is not UTF-8 text');
  }
}

/**
 * The tier that a body assigns. Whether it is one, the limiter says.
 * @param {string} text
 */
function tierIn(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    // No JSON is no object either.
  }
  if (!(body instanceof Object && 'tier' in body)) {
    const found = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw new HttpError(
      400,
      `expected a body like {"tier": "pro"} or {"tier": null}, not ${found}`,
    );
  }
  return /** @type {string | null} */ (body.tier);
}

/** @param {string} encoded a client's name from a path */
function decoded(encoded) {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new HttpError(400, `the client ${encoded} is not percent-encoded UTF-8`);
  }
}

function stats() {
  const { rejected, warnings } = limiter;
  return json(200, { ...limiter.stats(), rejected, warnings });
}

/**
 * What a request says in a header or the query. Header values are ASCII; other names go into the
 * query.
 * @param {Request} request
 * @param {'client' | 'tier' | 'cost'} name
 */
function field({ headers, url }, name) {
  return headers.get(`x-${name}`) ?? new URL(url).searchParams.get(name);
}

/** @param {Request} request */
function named(request) {
  const client = field(request, 'client');
  if (!client) throw new HttpError(400, 'name the client: header x-client or query ?client=');
  return client;
}

/**
 * Who asks, by which tier and at what cost.
 * @param {Request} request
 */
function caller(request) {
  const client = named(request);
  const cost = field(request, 'cost');
  // A request that costs nothing would not be limited.
  if (cost !== null && !/^\d*[1-9]\d*$/.test(cost)) {
    throw new HttpError(400, `cost must be a whole number from 1, not "${cost}"`);
  }
  const tier = field(request, 'tier') || undefined;
  return { client, tier, cost: cost === null ? undefined : Number(cost) };
}

/**
 * Runs a call with arguments from outside: what the limiter has against them is for the caller.
 * @template T
 * @param {() => T} call
 */
function asked(call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) {
      throw new HttpError(400, error.message);
    }
    throw error;
  }
}

/** @param {Error} error */
function failure(error) {
  const { message } = error;
  if (error instanceof PolicyError) {
    const { code, path, line, column, problems } = error;
    return json(400, { error: { message, code, path, line, column, problems } });
  }
  if (error instanceof HttpError) return json(error.status, { error: { message } }, error.headers);
  console.error(error);
  return json(500, { error: { message } });
}

/**
 * @param {number} status
 * @param {object} value
 * @param {Record<string, string>} [headers]
 */
function json(status, value, headers) {
  const body = `${JSON.stringify(value, null, 2)}\n`;
  return new Response(body, { status, headers: head('application/json', headers) });
}

/**
 * A handler that answers with a text from the worker's bindings.
 * @param {keyof Env} binding
 * @param {string} type
 * @returns {(context: Context) => Response}
 */
function asset(binding, type) {
  return ({ env }) => new Response(env[binding], { headers: head(type) });
}

/**
 * @param {string} type
 * @param {Record<string, string>} [more]
 */
function head(type, more) {
  return {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...more,
  };
}
