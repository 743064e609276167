/**
 * One WebSocket and whose it is.
 * @module
 */

import { check } from '../../errors.js';

/** @import { Decision } from '../../types.js' */
/** @import { AnySocket, EmitterSocket, MessageDecisionAbout, MessageHandle } from './types.js' */
/** @import { MessageLimitOptions, MessageListener, MessageVerdict, TargetSocket } from './types.js' */

/**
 * @typedef {Required<Pick<MessageLimitOptions, 'limiter' | 'cost' | 'onRefusal' | 'shadow'>>
 *   & Pick<MessageLimitOptions, 'closeCode' | 'onDecision'>
 *   & { warn(kind: string, message: string, cause?: unknown): void }} Settings
 */

/** Codes of RFC 6455 and of its registry. */
const policyViolation = 1008;
const internalError = 1011;
const tryAgainLater = 1013;

/** So many messages of a connection may wait for a limiter that answers by promises. */
const mostWaiting = 1000;

/** Whoever has so many bytes to read yet is not answered. */
const mostBuffered = 65536;

/**
 * One connection. `messageLimit` makes it.
 *
 * @example
 * const connection = limit(request);
 * if (connection.check(message).allowed) handle(message);
 */
export class MessageConnection {
  #settings;
  #client;
  #tier;
  #isFree;
  /** @type {MessageHandle | null} */
  #handle = null;
  #waiting = 0;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();
  #isClosed = false;

  /**
   * @internal
   * @param {Settings} settings
   * @param {string | null} client
   * @param {string | null} tier
   * @param {boolean} isFree whether nothing is limited
   */
  constructor(settings, client, tier, isFree) {
    this.#settings = settings;
    this.#client = client;
    this.#tier = tier;
    this.#isFree = isFree;
    if (client !== null) this.#handle = settings.limiter.client?.(client, tier) ?? null;
  }

  /** Who is at the other end; null where that is not known. */
  get client() {
    return this.#client;
  }

  /**
   * Decides about a message, and spends. Nothing is done to a socket. Where the limiter answers by promises, so does this.
   *
   * @param {unknown} message for `cost` and `onDecision`
   * @returns {MessageVerdict | Promise<MessageVerdict>}
   * @throws {Error} what the limiter throws, or the option `cost`
   * @example
   * const { allowed, retryAfterMs } = connection.check(message);
   */
  check(message) {
    const settings = this.#settings;
    const client = this.#client;
    if (this.#isFree) return passed(client, 0);
    const cost = typeof settings.cost === 'function' ? settings.cost(message, this) : settings.cost;
    if (cost === 0) return passed(client, 0);
    if (client === null) {
      if (settings.shadow) return passed(client, cost);
      return refused(client, cost, 'no-client');
    }
    const answer = /** @type {any} */ (
      this.#handle
        ? this.#handle.check(cost === 1 ? undefined : { cost })
        : settings.limiter.check(client, { cost, tier: this.#tier })
    );
    return typeof answer.then === 'function'
      ? Promise.resolve(answer).then((it) => this.#verdict(it, client, cost, message))
      : this.#verdict(answer, client, cost, message);
  }

  /**
   * Whether a message may be handed on: decides, spends and, where it may not, does to the socket what `onRefusal` says.
   * Where the limiter answers by promises, so does this, in the order of the messages. What goes wrong is a warning, and
   * the connection is closed with 1011: it never throws. After a connection was closed, its messages are refused and cost
   * nothing.
   *
   * @param {unknown} message for `cost` and `onDecision`
   * @param {AnySocket} socket whose `send` and `close` are called
   * @returns {boolean | Promise<boolean>}
   * @example
   * Bun.serve({
   *   fetch: (request, server) => server.upgrade(request, { data: limit(request, server) }),
   *   websocket: {
   *     message(socket, message) {
   *       if (socket.data.admits(message, socket)) socket.send('thanks');
   *     },
   *   },
   * });
   */
  admits(message, socket) {
    if (this.#isClosed) return false;
    if (this.#waiting >= mostWaiting) {
      this.#refuse(refused(this.#client, 0, 'waiting'), socket);
      return false;
    }
    let verdict;
    try {
      verdict = this.check(message);
    } catch (error) {
      return this.#failed(error, socket);
    }
    if (!(verdict instanceof Promise) && this.#waiting === 0) {
      return this.#isAllowed(verdict, socket);
    }
    this.#waiting += 1;
    const before = this.#last;
    const allowed = Promise.resolve(verdict)
      .then(
        (it) => before.then(() => !this.#isClosed && this.#isAllowed(it, socket)),
        (error) => before.then(() => this.#failed(error, socket)),
      )
      .finally(() => (this.#waiting -= 1));
    this.#last = allowed;
    return allowed;
  }

  /**
   * Hands the messages of a socket on that are admitted, in their order. For a socket of the library `ws` the listener is
   * called with `(data, isBinary)`, for a `WebSocket` as the web has it with the event.
   *
   * @template {EmitterSocket | TargetSocket} Socket
   * @param {Socket} socket of `ws`, or a `WebSocket` as the web has it
   * @param {MessageListener<Socket>} onMessage called with what listeners of that socket are called with
   * @returns {() => void} takes the listener off again
   * @throws {TypeError} when the socket has neither `on` nor `addEventListener`
   * @example
   * const connection = limit(request, info); // while the request can still be read
   * const { socket, response } = Deno.upgradeWebSocket(request);
   * connection.wrap(socket, ({ data }) => socket.send(data));
   */
  wrap(socket, onMessage) {
    check(typeof onMessage === 'function', 'onMessage', 'a function', onMessage);
    /** @type {any} */
    const target = socket;
    const isEmitter = typeof target?.on === 'function';
    check(
      isEmitter || typeof target?.addEventListener === 'function',
      'socket',
      'a socket with on or addEventListener; others have their messages asked about by admits',
      socket,
    );
    const listener = (/** @type {any} */ first, /** @type {unknown[]} */ ...rest) => {
      const handOn = () => /** @type {Function} */ (onMessage).call(target, first, ...rest);
      const admitted = this.admits(isEmitter ? first : first.data, target);
      if (admitted === true) handOn();
      else if (admitted !== false) admitted.then((it) => it && handOn());
    };
    if (isEmitter) {
      target.on('message', listener);
      return () => target.off('message', listener);
    }
    target.addEventListener('message', listener);
    return () => target.removeEventListener('message', listener);
  }

  /**
   * @param {Decision} decision
   * @param {string} client
   * @param {number} cost
   * @param {unknown} message
   * @returns {MessageVerdict}
   */
  #verdict(decision, client, cost, message) {
    const { shadow, onDecision } = this.#settings;
    const allowed = decision.allowed || shadow;
    if (onDecision) {
      const tier = decision.tier ?? this.#tier;
      this.#tell(decision, { client, tier, cost, message, refused: !allowed });
    }
    return {
      ...{ allowed, decision, client, cost, reason: allowed ? null : 'denied' },
      retryAfterMs: allowed ? 0 : decision.retryAfterMs,
    };
  }

  /**
   * @param {Decision} decision
   * @param {MessageDecisionAbout} about
   */
  #tell(decision, about) {
    const { onDecision, warn } = this.#settings;
    const failed = (/** @type {unknown} */ error) =>
      warn('onDecision', 'onDecision threw, and no message is the worse for it', error);
    try {
      const told = /** @type {any} */ (onDecision?.(decision, about));
      if (typeof told?.then === 'function') told.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  /**
   * @param {MessageVerdict} verdict
   * @param {AnySocket} socket
   */
  #isAllowed(verdict, socket) {
    if (!verdict.allowed) this.#refuse(verdict, socket);
    return verdict.allowed;
  }

  /**
   * @param {MessageVerdict} verdict
   * @param {AnySocket} socket
   */
  #refuse(verdict, socket) {
    const { onRefusal, closeCode } = this.#settings;
    if (onRefusal === 'close') {
      const { reason, retryAfterMs } = verdict;
      const isFinal = reason !== 'waiting' && retryAfterMs === null;
      const code = isFinal ? policyViolation : tryAgainLater;
      this.#close(socket, closeCode ?? code, `rate limit: ${reason}`);
    } else if (onRefusal === 'answer') {
      const { bufferedAmount = 0 } = socket;
      if (bufferedAmount <= mostBuffered) this.#try(() => socket.send(answerTo(verdict)));
    } else if (onRefusal !== 'drop') {
      this.#try(() => onRefusal(verdict, socket));
    }
  }

  /**
   * @param {unknown} error
   * @param {AnySocket} socket
   */
  #failed(error, socket) {
    const message = 'a message could not be decided about, and its connection is closed';
    this.#settings.warn('check', message, error);
    this.#close(socket, internalError, 'rate limit: error');
    return false;
  }

  /**
   * @param {AnySocket} socket
   * @param {number} code
   * @param {string} reason
   */
  #close(socket, code, reason) {
    this.#isClosed = true;
    this.#try(() => {
      try {
        socket.close(code, reason);
      } catch {
        // A WebSocket of a client, as browsers and Node have it, takes none of the protocol's own codes.
        socket.close(code < 3000 ? code + 3000 : code, reason);
      }
    });
  }

  /** @param {() => unknown} act */
  #try(act) {
    const failed = (/** @type {unknown} */ error) =>
      this.#settings.warn('onRefusal', 'a refusal could not be told', error);
    try {
      const done = /** @type {any} */ (act());
      if (typeof done?.then === 'function') done.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }
}

/**
 * @param {string | null} client
 * @param {number} cost
 * @returns {MessageVerdict}
 */
const passed = (client, cost) => ({
  ...{ allowed: true, decision: null, client, cost, reason: null, retryAfterMs: 0 },
});

/**
 * @param {string | null} client
 * @param {number} cost
 * @param {'no-client' | 'waiting'} reason
 * @returns {MessageVerdict}
 */
const refused = (client, cost, reason) => ({
  ...{ allowed: false, decision: null, client, cost, reason, retryAfterMs: null },
});

/** @param {MessageVerdict} verdict */
const answerTo = ({ reason, retryAfterMs, decision }) =>
  JSON.stringify({
    error: 'rate-limited',
    reason,
    limit: decision?.limitName ?? null,
    retryAfterMs,
  });
