// The app under test, as Express has it.
import { exposedHeaders, rateLimit } from 'tierlimit/express';

/**
 * @param {any} express of any version
 * @param {import('./world.js').World} world
 */
export function expressApp(express, world) {
  const app = express();
  app.use((_request, response, next) => {
    response.set('Access-Control-Allow-Origin', '*');
    response.set('Access-Control-Expose-Headers', exposedHeaders.join(', '));
    next();
  });
  app.use(rateLimit(world.options));

  app.options('/', (_request, response) => response.status(204).end());
  app.get('/', (_request, response) => response.set('X-App', 'yes').type('text').send('hello'));
  app.post('/echo', (request, response) => request.pipe(response));
  app.get('/redirect', (_request, response) => response.redirect('/'));
  app.get('/boom', () => {
    throw new Error('boom');
  });
  app.get('/cookies', (_request, response) =>
    response.cookie('a', '1', { path: '' }).cookie('b', '2', { path: '' }).send('baked'),
  );
  if (world.inner) {
    app.get('/nested', rateLimit(world.inner), (_request, response) => response.send('nested'));
  }
  app.get('/slow', (_request, response) => {
    response.on('close', () => world.left());
    world.enter();
  });
  app.get('/stream', (_request, response) => {
    response.on('close', () => world.left());
    response.write('first');
    world.enter();
  });
  // By its four parameters Express knows an error handler.
  // By its four parameters Express knows an error handler.
  app.use((error, _request, response, next) => {
    if (response.headersSent) return next(error);
    return response.status(500).send(`caught ${error.message}`);
  });
  return app;
}
