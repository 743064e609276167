// A program of a user of TypeScript who limits fetch handlers, where there are types of requests and responses: as main.ts,
// it is compiled and not run.
import { TierLimiter } from 'tierlimit';
import type { Decision } from 'tierlimit';
import { address, firstOf, header } from 'tierlimit/clients';
import { decider, exposedHeaders, headersFor, rateLimit, refusal } from 'tierlimit/fetch';
import type {
  DecisionAbout,
  Extractor,
  FetchHandler,
  FetchOptions,
  FetchVerdict,
  HeaderOptions,
  PeerAddress,
  RequestLimiter,
  RequestSource,
} from 'tierlimit/fetch';

interface Env {
  peer: string;
}
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
const slow: RequestLimiter = {
  check: async (client, options) => limiter.check(client, options),
  refund: async (client, cost, tier) => limiter.refund(client, cost, tier),
};
const headers: HeaderOptions = {
  version: 12,
  name: 'search',
  unit: 'content-bytes',
  partitionKey: (client) => client.slice(0, 4),
  legacy: 'epoch-seconds',
  wallNow: () => Date.now(),
};
const tier: Extractor<Request> = (request, source: RequestSource) =>
  request.headers.get('x-tier') ?? source.header('x-plan');
const peer: PeerAddress = (_request, env: Env) => env.peer;

const options: FetchOptions = {
  limiter,
  client: firstOf(header('x-api-key'), address({ hops: 1 })),
  noClient: { client: 'anonymous' },
  tier,
  cost: (request) => (request.method === 'POST' ? 5 : 1),
  skip: (_request, { url }) => url.endsWith('/health'),
  preflight: 'free',
  counts: 'failed',
  isFailure: (status, response) => status >= 500 || response?.headers.has('x-failed') === true,
  refundAborted: true,
  headers,
  status: 503,
  body: ({ retryAfterMs }, request) => ({ retryAfterMs, method: request.method }),
  contentType: 'application/json',
  onDecision: (decision: Decision, { client, request, refused }: DecisionAbout<Request>) =>
    console.log(client, request.url, refused, decision.reason),
  shadow: false,
  onWarning: (message, cause) => console.warn(message, cause),
  address: peer,
};

// What a runtime passes on beside the request keeps its types.
const fetch = rateLimit(options)(
  async (request: Request, env: Env, context: Context) => new Response(request.url + env.peer),
);
fetch satisfies (request: Request, env: Env, context: Context) => Response | Promise<Response>;
fetch satisfies FetchHandler<[Env, Context]>;
// @ts-expect-error the handler is called with its environment
fetch(new Request('http://localhost/'));
const plain = rateLimit({ limiter: slow, tier: 'pro', headers: false })(
  () => new Response('hello'),
);
const answer: Response | Promise<Response> = plain(new Request('http://localhost/'));

export async function handle(request: Request): Promise<Response> {
  const decide = decider({ limiter });
  const verdict: FetchVerdict | null = await decide(request, { peer: '::1' });
  if (verdict?.refused) return refusal(verdict);
  const response = await answer;
  if (verdict?.decision) {
    const fields: Record<string, string> = headersFor(verdict.decision, { version: 11, cost: 5 });
    for (const [name, value] of Object.entries(fields)) response.headers.set(name, value);
    response.headers.set('Access-Control-Expose-Headers', exposedHeaders.join(', '));
    if (response.status === 304) verdict.refund();
  }
  return response;
}

// @ts-expect-error a limiter is required
rateLimit({});
// @ts-expect-error there is no such option
rateLimit({ limiter, clients: header('x-api-key') });
// @ts-expect-error nor such a revision
rateLimit({ limiter, headers: { version: 10 } });
// @ts-expect-error who the client is must be found at once
rateLimit({ limiter, client: async () => 'ada' });
// @ts-expect-error a handler gives a response
rateLimit({ limiter })(() => 'hello');
// @ts-expect-error the names are read only
exposedHeaders.push('X-Mine');
