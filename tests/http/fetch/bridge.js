// A fetch handler on Node's http server, with as little in between as there can be.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

/**
 * @param {(request: Request, about: { remoteAddr: { hostname: string } }) => Response | Promise<Response>} handler
 * @returns {import('node:http').Server}
 */
export function serverOf(handler) {
  return createServer(async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) gone.abort();
    });
    const { method, rawHeaders } = incoming;
    const headers = new Headers();
    for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i], rawHeaders[i + 1]);
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      ...{ method, headers, signal: gone.signal, duplex: 'half' },
      body: hasBody ? Readable.toWeb(incoming) : null,
    });
    const about = { remoteAddr: { hostname: incoming.socket.remoteAddress } };
    const response = await handler(request, about);
    const fields = [...response.headers].flat();
    outgoing.writeHead(response.status, fields);
    if (response.body === null || method === 'HEAD') return outgoing.end();
    const reader = response.body.getReader();
    gone.signal.addEventListener('abort', () => reader.cancel().catch(() => {}));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return outgoing.end();
      if (!outgoing.write(value)) {
        await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
      }
    }
  });
}
