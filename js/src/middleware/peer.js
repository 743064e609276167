/**
 * The peer's address, where runtimes that serve fetch handlers tell it.
 * @module
 */

/**
 * As `Deno.serve` (a `ServeHandlerInfo`), `Bun.serve` (the server) and `@hono/node-server` (Node's request) tell it.
 * @param {Request} request
 * @param {any} [about] what the runtime passes on beside the request
 * @returns {string | null}
 */
export function peerOf(request, about) {
  const socket = about?.incoming?.socket;
  if (socket) return socket.remoteAddress ?? null;
  const address = about?.remoteAddr?.hostname;
  if (typeof address === 'string') return address;
  return typeof about?.requestIP === 'function'
    ? (about.requestIP(request)?.address ?? null)
    : null;
}
