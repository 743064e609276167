// A program of a user of TypeScript who limits listeners of Node's servers: as main.ts, it is compiled and not run.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as http2 from 'node:http2';

import { TierLimiter } from 'tierlimit';
import { named } from 'tierlimit/clients';
import { decider, exposedHeaders, rateLimit, refuse, writeFields } from 'tierlimit/node';
import type { NodeOptions, NodeRequest, NodeResponse, NodeVerdict } from 'tierlimit/node';

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });

const limited = rateLimit({
  limiter,
  client: (request, source) => source.header('x-api-key') ?? request.socket.remoteAddress,
  isFailure: (status, response) => response?.headersSent === true && status >= 500,
  onError: (error, request, response) => response.end(`${request.url}: ${error.message}`),
});
// The listener has types of its own, or of the server where that has none of its own to find.
const listener = limited((request: IncomingMessage, response: ServerResponse) =>
  request.pipe(response),
);
createServer(listener);
http2.createServer(limited((request, response) => response.stream.end(request.authority)));
listener satisfies (request: IncomingMessage, response: ServerResponse) => unknown;

const options: NodeOptions<IncomingMessage, ServerResponse> = {
  limiter,
  client: named('agent', (request) => request.headers['user-agent']),
};
const decide = decider(options);
export async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const verdict: NodeVerdict<IncomingMessage, ServerResponse> | null = await decide(request);
  if (verdict?.refused) return refuse(verdict, response);
  if (verdict) writeFields(verdict, response);
  response.setHeader('Access-Control-Expose-Headers', exposedHeaders);
  response.end();
}
const request: NodeRequest = { headers: {}, socket: {} };
export const response = (): NodeResponse => new http2.Http2ServerResponse(null as never);
export const verdict = decider({ limiter })(request);

// @ts-expect-error a limiter is required
rateLimit({});
// @ts-expect-error there is no such option
rateLimit({ limiter, clients: () => 'ada' });
// @ts-expect-error these are no requests
limited((request: string) => request);
