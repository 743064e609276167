// A program of a user of TypeScript who limits the messages of WebSockets: as main.ts, it is compiled and not run.
import { TierLimiter } from 'tierlimit';
import { byBytes, messageLimit } from 'tierlimit/websocket';
import type { MessageConnection, MessageLimitOptions, MessageVerdict } from 'tierlimit/websocket';

/** As the library ws has it, as far as it matters. */
interface Socket {
  on(event: 'message', listener: (data: Uint8Array, isBinary: boolean) => void): this;
  off(event: 'message', listener: (data: Uint8Array, isBinary: boolean) => void): this;
  send(text: string): void;
  close(code: number, reason: string): void;
}
declare const socket: Socket;
declare const request: { headers: Record<string, string> };

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
const options: MessageLimitOptions<typeof request> = {
  limiter,
  client: (asked) => asked.headers['x-api-key'],
  cost: byBytes(1024),
  onRefusal: ({ reason, retryAfterMs }, to: Socket) => to.send(`${reason}: ${retryAfterMs}`),
};
const connection: MessageConnection = messageLimit(options)(request);
const off: () => void = connection.wrap(socket, (data: Uint8Array) => socket.send(`${data}`));
const verdict: MessageVerdict | Promise<MessageVerdict> = connection.check('hello');
const admits: boolean | Promise<boolean> = connection.admits('hello', socket);
export { admits, off, verdict };

// @ts-expect-error a limiter is required
messageLimit({});
// @ts-expect-error there is no such choice
messageLimit({ limiter, onRefusal: 'shout' });
