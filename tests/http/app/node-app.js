// The app under test, as a request listener of Node's http module.
import { exposedHeaders, rateLimit } from 'tierlimit/node';

/** @param {import('./world.js').World} world */
export function nodeApp(world) {
  const limited = rateLimit(world.options)(routes);
  const nested = world.inner && rateLimit(world.inner)((_, response) => response.end('nested'));

  return async function app(request, response) {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Expose-Headers', exposedHeaders.join(', '));
    try {
      await limited(request, response);
    } catch (error) {
      response.statusCode = 500;
      response.end(`caught ${error.message}`);
    }
  };

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  function routes(request, response) {
    const { pathname } = new URL(request.url, 'http://localhost');
    const { method } = request;
    if (pathname === '/' && method === 'OPTIONS') return response.writeHead(204).end();
    if (pathname === '/') {
      return response.writeHead(200, { 'Content-Type': 'text/plain', 'X-App': 'yes' }).end('hello');
    }
    if (pathname === '/echo') return request.pipe(response);
    if (pathname === '/redirect') return response.writeHead(302, { Location: '/' }).end();
    if (pathname === '/boom') throw new Error('boom');
    if (pathname === '/cookies') {
      return response.setHeader('Set-Cookie', ['a=1', 'b=2']).end('baked');
    }
    if (pathname === '/nested' && nested) return nested(request, response);
    if (pathname === '/slow' || pathname === '/stream') {
      response.on('close', () => world.left());
      if (pathname === '/stream') response.write('first');
      return world.enter();
    }
    return response.writeHead(404).end('nothing here');
  }
}
