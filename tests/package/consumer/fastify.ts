// A program of a user of TypeScript who limits a Fastify app, and has Fastify's types or, as here, their like: as main.ts,
// it is compiled and not run.
import { TierLimiter } from 'tierlimit';
import { named } from 'tierlimit/clients';
import { exposedHeaders, rateLimit } from 'tierlimit/fastify';
import type {
  FastifyInstance,
  FastifyOptions,
  FastifyReply,
  FastifyRequest,
} from 'tierlimit/fastify';

/** As Fastify has it, as far as it matters. */
interface AppRequest extends FastifyRequest {
  user?: string;
}
declare const app: FastifyInstance & {
  register<Options extends object>(
    plugin: (instance: FastifyInstance, options: Options, done: (error?: Error) => void) => void,
    options: Options,
  ): void;
};

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
app.register(rateLimit<FastifyRequest>, { limiter });
app.register(rateLimit<FastifyRequest, FastifyReply>, {
  limiter,
  client: named('proxied', (request: FastifyRequest) => request.ip),
  isFailure: (status, reply) => status >= 500 || reply?.getHeader('x-failed') === 'yes',
  body: ({ retryAfterMs }, request) => ({ retryAfterMs, at: request.raw.url }),
});

const options: FastifyOptions<AppRequest, FastifyReply> = {
  limiter,
  client: (request, source) => request.user ?? source.address,
  onDecision: (_decision, { request }) => console.log(request.user, exposedHeaders.length),
};
app.register(rateLimit<AppRequest>, options);

// @ts-expect-error a limiter is required
app.register(rateLimit<FastifyRequest>, {});
// @ts-expect-error there is no such option
const misspelled: FastifyOptions = { limiter, clients: () => 'ada' };
export { misspelled };
