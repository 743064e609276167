// The app under test, as Fastify has it.
import { exposedHeaders, rateLimit } from 'tierlimit/fastify';

/**
 * @param {any} fastify
 * @param {import('./world.js').World} world
 */
export function fastifyApp(fastify, world) {
  const app = fastify();
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Access-Control-Allow-Origin', '*');
    reply.header('Access-Control-Expose-Headers', exposedHeaders.join(', '));
  });
  app.register(rateLimit, world.options);
  app.setErrorHandler(async (error, _request, reply) => {
    reply.code(500);
    return `caught ${error.message}`;
  });
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

  app.options('/', async (_request, reply) => reply.code(204).send());
  app.get('/', async (_request, reply) => {
    reply.header('X-App', 'yes').type('text/plain');
    return 'hello';
  });
  app.post('/echo', async (request, reply) => reply.send(request.body ?? request.raw));
  app.get('/redirect', async (_request, reply) => reply.redirect('/'));
  app.get('/boom', async () => {
    throw new Error('boom');
  });
  app.get('/cookies', async (_request, reply) => {
    reply.header('Set-Cookie', ['a=1', 'b=2']);
    return 'baked';
  });
  if (world.inner) {
    app.register(async (inside) => {
      inside.register(rateLimit, world.inner);
      inside.get('/nested', async () => 'nested');
    });
  }
  app.get('/slow', (_request, reply) => {
    reply.raw.on('close', () => world.left());
    world.enter();
  });
  app.get('/stream', (_request, reply) => {
    reply.hijack();
    reply.raw.on('close', () => world.left());
    reply.raw.writeHead(200, reply.getHeaders());
    reply.raw.write('first');
    world.enter();
  });
  return app;
}
