// The app under test, in Hono.
import { exposedHeaders, rateLimit } from 'tierlimit/hono';

/**
 * @param {typeof import('hono').Hono} Hono
 * @param {import('./world.js').World} world
 */
export function honoApp(Hono, world) {
  const app = new Hono();
  app.onError((error, c) => c.text(`caught ${error.message}`, 500));
  app.notFound((c) => c.text('nothing here', 404));
  app.use(async (c, next) => {
    await next();
    c.header('Access-Control-Allow-Origin', '*');
    c.header('Access-Control-Expose-Headers', exposedHeaders.join(', '));
  });
  app.use(rateLimit(world.options));

  app.get('/', (c) => c.text('hello', 200, { 'X-App': 'yes' }));
  app.options('/', (c) => c.body(null, 204));
  app.post('/echo', (c) => c.body(c.req.raw.body));
  app.get('/redirect', (c) => c.redirect('/'));
  app.get('/boom', () => {
    throw new Error('boom');
  });
  app.get('/cookies', (c) => {
    for (const cookie of ['a=1', 'b=2']) c.header('Set-Cookie', cookie, { append: true });
    return c.text('baked');
  });
  if (world.inner) app.get('/nested', rateLimit(world.inner), (c) => c.text('nested'));
  app.get('/slow', async (c) => {
    const { signal } = c.req.raw;
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
      world.enter();
    });
    world.left();
    return c.text('too late');
  });
  app.get('/stream', (c) => c.body(endless(world)));
  return app;
}

/**
 * Some runtimes find out that a client is gone only where they have something for it.
 * @param {import('./world.js').World} world
 */
function endless(world) {
  const piece = new TextEncoder().encode('first and so on\n'.repeat(500));
  world.enter();
  return new ReadableStream(
    {
      pull: (controller) => controller.enqueue(piece),
      cancel: () => world.left(),
    },
    { highWaterMark: 0 },
  );
}
