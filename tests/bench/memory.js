// Bytes per client, each subject in a process of its own.
import { child } from './child.js';

/**
 * @typedef {object} Memory
 * @property {string} name
 * @property {number} clients
 * @property {number} linear bytes of linear memory that they take
 * @property {number} heap bytes of JavaScript's heap after a collection
 * @property {number} resident bytes of the process
 */

/**
 * @param {{ clients: number, makers: string[] }} options
 * @returns {Memory[]}
 */
export const memory = ({ clients, makers }) =>
  makers.map((maker) => child('memory', maker, clients));
