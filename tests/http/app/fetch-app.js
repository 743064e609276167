// The app under test as one fetch handler: for every runtime that serves one.
import { exposedHeaders, rateLimit } from 'tierlimit/fetch';

/**
 * @param {import('./world.js').World} world
 * @returns {(request: Request, ...rest: any[]) => Promise<Response>}
 */
export function fetchApp(world) {
  const limited = rateLimit(world.options)(routes);
  const nested = world.inner && rateLimit(world.inner)(() => new Response('nested'));

  return async function app(request, ...rest) {
    let response;
    try {
      response = await limited(request, ...rest);
    } catch (error) {
      response = new Response(`caught ${error.message}`, { status: 500 });
    }
    return withCors(response);
  };

  /** @param {Request} request */
  async function routes(request, ...rest) {
    const { pathname } = new URL(request.url);
    const { method } = request;
    if (pathname === '/' && method === 'OPTIONS') return new Response(null, { status: 204 });
    if (pathname === '/' && /^(GET|HEAD)$/.test(method)) {
      return new Response(method === 'GET' ? 'hello' : null, {
        headers: { 'Content-Type': 'text/plain', 'X-App': 'yes' },
      });
    }
    if (pathname === '/echo') return new Response(request.body);
    if (pathname === '/redirect') return Response.redirect(new URL('/', request.url));
    if (pathname === '/boom') throw new Error('boom');
    if (pathname === '/cookies') {
      const response = new Response('baked');
      for (const cookie of ['a=1', 'b=2']) response.headers.append('Set-Cookie', cookie);
      return response;
    }
    if (pathname === '/nested' && nested) return nested(request, ...rest);
    if (pathname === '/slow') return slow(request.signal);
    if (pathname === '/stream') return new Response(endless());
    return new Response('nothing here', { status: 404 });
  }

  /** @param {AbortSignal} signal */
  async function slow(signal) {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
      world.enter();
    });
    world.left();
    return new Response('too late');
  }

  /** Some runtimes find out that a client is gone only where they have something for it. */
  function endless() {
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
}

/** @param {Response} response */
function withCors(response) {
  try {
    response.headers.set('Access-Control-Allow-Origin', '*');
  } catch {
    // A redirect that no limiter has added its fields to.
    return withCors(new Response(response.body, response));
  }
  response.headers.set('Access-Control-Expose-Headers', exposedHeaders.join(', '));
  return response;
}
