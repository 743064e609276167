// The client of the tests: Node's own http, which shows header fields as they were sent and lets go of a connection.
import { Agent, request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string | string[]>} headers
 * @property {(name: string) => string[]} all each field of that name, as it was sent
 * @property {Buffer} bytes
 * @property {string} text
 */

/**
 * @typedef {object} Question
 * @property {string} [method]
 * @property {Record<string, string>} [headers]
 * @property {string} [client] in x-client
 * @property {Iterable<Uint8Array>} [body] sent in chunks
 */

/** Requests to one server. */
export class HttpClient {
  #url;
  #agent = new Agent({ keepAlive: true, maxSockets: 200 });

  /** @param {string} url */
  constructor(url) {
    this.#url = url;
  }

  /**
   * @param {string} path
   * @param {Question} [question]
   * @returns {Promise<Answer>}
   */
  async ask(path, { body = [], ...question } = {}) {
    const request = this.#open(path, question);
    for (const piece of body) {
      if (!request.write(piece)) await new Promise((resolve) => request.once('drain', resolve));
    }
    request.end();
    const response = await answerTo(request);
    const bytes = await buffer(response);
    const { statusCode: status, headers, rawHeaders } = response;
    const all = (/** @type {string} */ name) =>
      rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1].toLowerCase() === name);
    return { status, headers, all, bytes, text: bytes.toString() };
  }

  /**
   * A request whose connection the caller lets go of.
   * @param {string} path
   * @param {Question} [question]
   */
  leave(path, question = {}) {
    const request = this.#open(path, { ...question, agent: false });
    const gone = new Promise((resolve) => request.once('close', resolve));
    // A connection that is let go of is no mistake.
    request.on('error', () => {});
    request.end();
    return {
      /** The first piece of the response's body. */
      first: async () => {
        const response = await answerTo(request);
        response.on('error', () => {});
        return new Promise((resolve) => response.once('data', (piece) => resolve(`${piece}`)));
      },
      go: () => {
        request.destroy();
        return gone;
      },
    };
  }

  /**
   * @param {string} path
   * @param {Question & { agent?: Agent | false }} question
   */
  #open(path, { method = 'GET', headers = {}, client = 'acme', agent = this.#agent }) {
    return httpRequest(new URL(path, this.#url), {
      ...{ method, agent },
      headers: { ...(client === '' ? {} : { 'X-Client': client }), ...headers },
    });
  }

  close() {
    this.#agent.destroy();
  }
}

/**
 * @param {import('node:http').ClientRequest} request
 * @returns {Promise<import('node:http').IncomingMessage>}
 */
const answerTo = (request) =>
  new Promise((resolve, reject) => request.once('response', resolve).once('error', reject));
