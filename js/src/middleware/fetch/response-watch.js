/**
 * Whether a client went away before its response had ended.
 * @module
 */

/** @import { Verdict } from '../judge.js' */

/** Looks at one request and its response, and tells the verdict. */
export class ResponseWatch {
  #verdict;
  #signal;
  #listener;
  /** Whether somebody reads the response, or may still be given one. */
  #isUnderWay = true;

  /**
   * @param {Verdict<any, Response>} verdict
   * @param {AbortSignal | null | undefined} signal the request's, where the runtime gives it one
   */
  constructor(verdict, signal) {
    this.#verdict = verdict;
    this.#signal = signal;
    this.#listener = () => this.#gone();
    if (signal?.aborted) verdict.abort();
    else signal?.addEventListener('abort', this.#listener);
  }

  /** The request has ended: some runtimes abort the signal of each one then. */
  stop() {
    this.#signal?.removeEventListener('abort', this.#listener);
  }

  /**
   * The response, watched to its end.
   * @param {Response} response
   * @returns {Response}
   */
  around(response) {
    // What is not sent through this response (a WebSocket, or what is not sent for HEAD) is not looked at.
    if (response.body === null || response.status === 101 || this.#verdict.isHead) {
      this.stop();
      return response;
    }
    // A body that nobody reads may have been dropped, as for a 304: its client need not have gone away.
    this.#isUnderWay = false;
    const reader = response.body.getReader();
    const body = new ReadableStream(
      {
        pull: async (controller) => {
          this.#isUnderWay = true;
          try {
            const { done, value } = await reader.read();
            if (!done) return controller.enqueue(value);
          } catch (error) {
            this.stop();
            throw error;
          }
          this.stop();
          return controller.close();
        },
        cancel: (reason) => {
          this.#gone();
          return reader.cancel(reason);
        },
      },
      // Nothing is read ahead of the client.
      { highWaterMark: 0 },
    );
    return new Response(body, response);
  }

  #gone() {
    this.stop();
    if (this.#isUnderWay) this.#verdict.abort();
  }
}
