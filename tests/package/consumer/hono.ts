// A program of a user of TypeScript who limits a Hono app, and has Hono's types or, as here, their like: as main.ts, it is
// compiled and not run.
import { TierLimiter } from 'tierlimit';
import { header } from 'tierlimit/clients';
import { exposedHeaders, rateLimit } from 'tierlimit/hono';
import type { HonoContext, HonoOptions } from 'tierlimit/hono';

/** As Hono has it, as far as it matters: `app.use` takes such functions. */
interface AppContext extends HonoContext {
  env: { KV: string };
  get(name: 'user'): { id: string };
}
declare const app: {
  use(
    ...middleware: ((c: AppContext, next: () => Promise<void>) => Promise<Response | void>)[]
  ): void;
};

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
app.use(rateLimit({ limiter }));
app.use(rateLimit({ limiter, client: header('x-api-key') }));
app.use(rateLimit({ limiter, client: (c) => c.req.header('x-api-key'), address: (c) => c.env.KV }));
app.use(rateLimit<AppContext>({ limiter, client: (c) => c.get('user').id }));

const options: HonoOptions<AppContext> = {
  limiter,
  counts: 'failed',
  isFailure: (status, response) => status >= 500 || response?.headers.has('x-failed') === true,
  onDecision: (_decision, { request }) => console.log(request.req.url, exposedHeaders.length),
};
app.use(rateLimit(options));

// @ts-expect-error a limiter is required
rateLimit({});
// @ts-expect-error there is no such option
rateLimit({ limiter, clients: header('x-api-key') });
