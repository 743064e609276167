// Which clients the requests are from.
import { Random } from '../model/random.js';

/**
 * Fills an array with clients.
 * @typedef {(clients: Int32Array) => void} Order
 */

/**
 * Every client as often as any other.
 * @param {number} count
 * @returns {Order}
 */
export function uniform(count) {
  const random = new Random(1);
  return (clients) => {
    for (let i = 0; i < clients.length; i += 1) clients[i] = random.whole(0, count - 1);
  };
}

/**
 * By Zipf's law with the exponent 1: the second most frequent half as often as the first, the third a third as often.
 * @param {number} count
 * @returns {Order}
 */
export function zipf(count) {
  const random = new Random(2);
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank += 1) sums[rank] = sum += 1 / (rank + 1);
  // The frequent ones are not neighbours: each rank is another client's, since 618,033 has no divisor in common with a
  // power of ten.
  const clientOf = (/** @type {number} */ rank) => (rank * 618_033 + 271_828) % count;
  return (clients) => {
    for (let i = 0; i < clients.length; i += 1) {
      const point = random.fraction() * sum;
      let low = 0;
      let high = count - 1;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (sums[middle] > point) high = middle;
        else low = middle + 1;
      }
      clients[i] = clientOf(low);
    }
  };
}

export const orders = Object.freeze({ uniform, zipf });
