/**
 * Responses of Node's http module: what the adapters whose frameworks are built on it write to them, and how they end.
 * @module
 */

import { show } from '../errors.js';

/** @import { Access } from './headers.js' */
/** @import { Judge, Verdict } from './judge.js' */

/**
 * What is used of a `ServerResponse`, or of an `Http2ServerResponse`.
 *
 * @typedef {object} Outgoing
 * @property {number} statusCode What it is, or will be.
 * @property {boolean} headersSent Whether the response has begun.
 * @property {boolean} writableFinished Whether all of it is sent.
 * @property {boolean | undefined} [destroyed] Whether its connection is closed; not in HTTP/2.
 * @property {{ readonly aborted: boolean, readonly destroyed: boolean } | undefined} [stream] Its part of the connection,
 *   in HTTP/2.
 * @property {(name: string) => number | string | readonly string[] | undefined} getHeader Of those that are set so far.
 * @property {(name: string, value: string) => unknown} setHeader Replaces what is there.
 * @property {(name: string) => unknown} removeHeader What is not there is no error.
 * @property {(body: string) => unknown} end Sends the rest of it.
 * @property {(event: 'close', listener: () => void) => unknown} once Tells when it is over.
 */

/** @type {Access<Outgoing>} */
const onOutgoing = {
  get: (response, name) => response.getHeader(name),
  set: (response, name, value) => response.setHeader(name, value),
  remove: (response, name) => response.removeHeader(name),
};

/**
 * Does what a verdict says of a response: sets its header fields, and sends the refusal where the request is refused.
 *
 * @template Request, Response
 * @param {Judge<Request, Response>} judge
 * @param {Verdict<Request, Response> | null} verdict
 * @param {Outgoing & Response} response
 * @returns {boolean} whether the request may go on
 * @throws {Error} what the options throw, or where the request is refused and another response has begun
 */
export function admits(judge, verdict, response) {
  if (verdict === null) return true;
  if (verdict.refused) {
    refuse(verdict, response);
    return false;
  }
  // An answer that was waited for may come after somebody else's response has begun.
  if (judge.fields !== null && !response.headersSent) writeFields(verdict, response);
  if (judge.watchesOutcome || judge.watchesAbort) watch(verdict, response, response);
  return true;
}

/**
 * Sets the header fields of a verdict.
 *
 * @template Request, Response
 * @param {Verdict<Request, Response>} verdict
 * @param {Outgoing} response one that has not begun
 * @returns {void}
 * @example
 * const verdict = decide(request);
 * if (verdict) writeFields(verdict, response);
 */
export function writeFields(verdict, response) {
  verdict.write(response, onOutgoing);
}

/**
 * Sends what is sent for a request that is refused, with the header fields. Node sends no body where the request is HEAD.
 *
 * @template Request, Response
 * @param {Verdict<Request, Response>} verdict one that is refused
 * @param {Outgoing} response
 * @returns {void}
 * @throws {Error} where another response has begun, and what the option `body` throws
 * @example
 * if (verdict?.refused) return refuse(verdict, response);
 */
export function refuse(verdict, response) {
  if (response.headersSent) throw tooLate();
  const { status, contentType, body } = verdict.refusal();
  verdict.write(response, onOutgoing);
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.end(body);
}

/**
 * Tells a verdict how the response ends. Where it never began, the request counts, whatever `counts` says: somebody who
 * went away has not seen how it ended, and must not have tried for nothing.
 *
 * @template Request, Response
 * @param {Verdict<Request, Response>} verdict
 * @param {Outgoing} outgoing
 * @param {Response} response the framework's own
 */
export function watch(verdict, outgoing, response) {
  onEnd(outgoing, (isAborted) => {
    if (outgoing.headersSent) verdict.settle(outgoing.statusCode, response);
    if (isAborted) verdict.abort();
  });
}

/**
 * Tells when a response ends, and whether its client went away before that.
 *
 * @param {Outgoing} outgoing
 * @param {(isAborted: boolean) => void} listener
 */
export function onEnd(outgoing, listener) {
  // In HTTP/2 what was aborted is finished, too.
  const ended = () => listener(!outgoing.writableFinished || outgoing.stream?.aborted === true);
  // Its client may have gone away while the limiter was waited for.
  if (outgoing.destroyed ?? outgoing.stream?.destroyed) ended();
  else outgoing.once('close', ended);
}

/**
 * What was thrown, as frameworks take it for an error: where `next` is told nothing, or a name, they go on.
 * @param {unknown} error
 * @returns {any}
 */
export const thrown = (error) =>
  typeof error === 'object' && error !== null
    ? error
    : new Error(`the limiter or an option threw ${show(error)}`, { cause: error });

/** What the error path is told where nothing can be refused any more. */
export const tooLate = () =>
  new Error(
    'rateLimit was reached after the response had begun; it must stand before what responds',
  );
