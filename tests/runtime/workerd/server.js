/**
 * Programs that serve HTTP until they are told to end, for tests.
 * @module
 */
import assert from 'node:assert/strict';

import { Program } from '../../examples/support/program.js';

/** A program that serves on an address of this machine. */
export class Server extends Program {
  /** Where it answers, once it has started. */
  url = '';

  /**
   * Waits until its output says where it serves. It is no more when that fails.
   * @param {RegExp} pattern with the address, or the port, in parentheses
   */
  async started(pattern) {
    try {
      const [, address] = await this.says(pattern);
      this.url = /^\d+$/.test(address) ? `http://127.0.0.1:${address}` : address;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /**
   * What a promise gives; an error with this program's output when it ends before, or when that takes too long.
   * @template T
   * @param {Promise<T>} promise
   * @param {string} what is waited for
   * @returns {Promise<T>}
   */
  until(promise, what) {
    const failure = this.says(/(?!)/).catch(({ message }) => {
      throw new Error(`${what}: ${message}`);
    });
    return /** @type {Promise<T>} */ (Promise.race([promise, failure]));
  }

  /**
   * The answer to a request.
   * @param {string} path
   * @param {RequestInit} [init]
   */
  ask(path, init) {
    const answer = async () => {
      const response = await fetch(`${this.url}${path}`, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    return this.until(answer(), path);
  }

  /**
   * What it answers a GET with, which has to be JSON and no error.
   * @param {string} path
   */
  async json(path) {
    const { status, text } = await this.ask(path);
    assert.equal(status, 200, `${path}: ${text}\n${this.output}`);
    return JSON.parse(text);
  }
}
