// Servers of frameworks: bare, with middleware that does nothing, with two header fields that never change, set as the
// framework says or added to the head when it is written, with tierlimit or with the limiter that its users usually take. On
// Hono also with tierlimit around the app, and with something that does nothing there.
import { createServer } from 'node:http';

/** What no run uses up: what is measured is requests that are admitted. */
const plenty = 1_000_000_000;
const minuteMs = 60_000;

/** As tierlimit sends them here: what it takes to send them, whoever decides. */
const policyField = '"main";q=1000000000;w=60';
const serviceField = '"main";r=999999999;t=1';

/** Both header fields are on, and clients are known by their address: that is so without options. */
async function options() {
  const { TierLimiter } = await import('../../../js/src/index.js');
  const policies = { default: { capacity: plenty, refillPerSecond: plenty / 60 } };
  return { limiter: new TierLimiter({ policies }) };
}

/** As cheaply as it can be done. @this {any} @param {...any} given */
function writeHead(...given) {
  const result = Object.getPrototypeOf(this).writeHead.apply(this, given);
  const fields = `RateLimit-Policy: ${policyField}\r\nRateLimit: ${serviceField}\r\n`;
  this._header = `${this._header.slice(0, -2)}${fields}\r\n`;
  return result;
}

/** @type {Record<string, (limiter: string) => Promise<import('node:http').Server>>} */
export const frameworks = {
  async express(limiter) {
    const { default: express } = await import('express');
    const app = express();
    if (limiter === 'tierlimit') {
      const { rateLimit } = await import('../../../js/src/middleware/express/express.js');
      app.use(rateLimit(await options()));
    } else if (limiter === 'empty') {
      app.use((_request, _response, next) => {
        next();
      });
    } else if (limiter === 'head') {
      app.use((_request, response, next) => {
        response.writeHead = writeHead;
        next();
      });
    } else if (limiter === 'fields') {
      app.use((_request, response, next) => {
        response.setHeader('RateLimit-Policy', policyField);
        response.setHeader('RateLimit', serviceField);
        next();
      });
    } else if (limiter === 'usual') {
      const { rateLimit } = await import('express-rate-limit');
      // Its default fields are X-RateLimit-*; these are the ones that tierlimit has.
      const fields = { standardHeaders: /** @type {const} */ ('draft-8'), legacyHeaders: false };
      app.use(rateLimit({ windowMs: minuteMs, limit: plenty, ...fields }));
    }
    app.get('/', (_request, response) => {
      response.send('hello');
    });
    return createServer(app);
  },

  async fastify(limiter) {
    const { default: fastify } = await import('fastify');
    const app = fastify();
    if (limiter === 'tierlimit') {
      const { rateLimit } = await import('../../../js/src/middleware/fastify/fastify.js');
      await app.register(rateLimit, await options());
    } else if (limiter === 'empty') {
      app.addHook('onRequest', (_request, _reply, next) => {
        next();
      });
    } else if (limiter === 'head') {
      app.addHook('onRequest', (_request, reply, next) => {
        reply.raw.writeHead = writeHead;
        next();
      });
    } else if (limiter === 'fields') {
      app.addHook('onRequest', (_request, reply, next) => {
        reply.header('RateLimit-Policy', policyField);
        reply.header('RateLimit', serviceField);
        next();
      });
    } else if (limiter === 'usual') {
      const { default: rateLimit } = await import('@fastify/rate-limit');
      const fields = { enableDraftSpec: true };
      await app.register(rateLimit, { timeWindow: minuteMs, max: plenty, ...fields });
    }
    app.get('/', async () => 'hello');
    await app.ready();
    return app.server;
  },

  async hono(limiter) {
    const { Hono } = await import('hono');
    const { createAdaptorServer } = await import('@hono/node-server');
    const app = new Hono();
    /** @type {any} */
    let { fetch } = app;
    if (limiter === 'tierlimit') {
      const { rateLimit } = await import('../../../js/src/middleware/hono/hono.js');
      app.use(rateLimit(await options()));
    } else if (limiter === 'around') {
      const { rateLimit } = await import('../../../js/src/middleware/fetch/fetch.js');
      fetch = rateLimit(await options())(app.fetch);
    } else if (limiter === 'empty-around') {
      fetch = (/** @type {Request} */ request, /** @type {any} */ env) => app.fetch(request, env);
    } else if (limiter === 'empty') {
      app.use((_c, next) => next());
    } else if (limiter === 'head') {
      app.use((c, next) => {
        /** @type {any} */ (c.env).outgoing.writeHead = writeHead;
        return next();
      });
    } else if (limiter === 'fields') {
      app.use((c, next) => {
        c.header('RateLimit-Policy', policyField);
        c.header('RateLimit', serviceField);
        return next();
      });
    } else if (limiter === 'usual') {
      const { rateLimiter } = await import('hono-rate-limiter');
      const { getConnInfo } = await import('@hono/node-server/conninfo');
      const usual = rateLimiter({
        ...{ windowMs: minuteMs, limit: plenty, standardHeaders: 'draft-7' },
        keyGenerator: (c) => getConnInfo(c).remote.address ?? '',
      });
      app.use(usual);
    }
    app.get('/', (c) => c.text('hello'));
    return /** @type {import('node:http').Server} */ (createAdaptorServer({ fetch }));
  },
};
