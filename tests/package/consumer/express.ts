// A program of a user of TypeScript who limits an Express app, and has Express's types or, as here, their like: as main.ts,
// it is compiled and not run.
import { TierLimiter } from 'tierlimit';
import { named } from 'tierlimit/clients';
import { exposedHeaders, rateLimit } from 'tierlimit/express';
import type { ExpressOptions, ExpressRequest, ExpressResponse, Extractor } from 'tierlimit/express';

/** As Express has it, as far as it matters: `app.use` takes such functions. */
interface AppRequest {
  method: string;
  url: string;
  originalUrl: string;
  ip: string | undefined;
  headers: { [name: string]: string | string[] | undefined; host?: string };
  socket: { remoteAddress?: string };
  session?: { user: string };
}
interface AppResponse extends ExpressResponse {
  locals: Record<string, unknown>;
}
interface Next {
  (error?: any): void;
  (deferToNext: 'router'): void;
}
declare const app: {
  use(
    handler: (request: AppRequest, response: AppResponse, next: Next) => void | Promise<void>,
  ): void;
};

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
app.use(rateLimit({ limiter }));
app.use(rateLimit({ limiter, client: named('proxied', (request: ExpressRequest) => request.ip) }));
app.use(rateLimit({ limiter, client: (request) => request.ip, headers: { version: 12 } }));

const byUser: Extractor<AppRequest> = (request) => request.session?.user;
const options: ExpressOptions<AppRequest, AppResponse> = {
  limiter,
  client: byUser,
  counts: 'failed',
  isFailure: (status, response) => status >= 500 || response?.locals.failed === true,
  onDecision: (_decision, { request }) => console.log(request.session, exposedHeaders.length),
};
app.use(rateLimit(options));
app.use(rateLimit<AppRequest>({ limiter, skip: (request) => request.session === undefined }));

// @ts-expect-error a limiter is required
rateLimit({});
// @ts-expect-error there is no such option
rateLimit({ limiter, clients: byUser });
// @ts-expect-error this is of a request that has a session
const plain: ExpressOptions = { limiter, client: byUser };
export { plain };
