// A flood of new names: what a call costs and what memory it takes when there is room for few clients and for many.
import { child } from './child.js';

/**
 * @typedef {object} Flood
 * @property {number} maxClients
 * @property {number[]} ns per call, for each thousand names once there had been twice as many as the most that fit any
 * @property {number} filledBytes linear memory when there had been twice as many names as there is room for
 * @property {number} endBytes linear memory at the end
 * @property {number} evictions
 */

/**
 * @param {{ names: number, bounds: number[] }} options
 * @returns {{ names: number, floods: Flood[] }}
 */
export const flood = ({ names, bounds }) => ({
  names,
  floods: child('flood', names, ...bounds),
});
