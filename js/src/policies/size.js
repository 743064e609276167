/**
 * How large a document may be.
 * @module
 */

import { checkWhole } from '../arguments.js';

/**
 * Checked; by default a MiB, which is some ten thousand tiers.
 * @param {number | undefined} value
 */
export function checkMaxBytes(value) {
  const maxBytes = value ?? 2 ** 20;
  checkWhole('maxBytes', maxBytes, 1, 2 ** 30);
  return maxBytes;
}

/**
 * @param {string} from
 * @param {number} maxBytes
 */
export const tooLarge = (from, maxBytes) =>
  new RangeError(`${from} has more than ${maxBytes} bytes (see maxBytes)`);
