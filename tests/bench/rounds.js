// Measuring subjects side by side: in every round each does the same requests, in rotating order, so that whatever
// slows the machine down for a while slows all of them down.
import { setClock } from './clock.js';
import { freshNames } from './names.js';
import { tierOf } from './settings.js';

/** @import { Batch, Subject } from './subjects/subject.js' */
/** @import { Order } from './orders.js' */
/** @import { Shape } from './names.js' */

/** Few enough that the names of a batch stay in the first-level cache. */
const usualBatchSize = 500;
/** The first batch of a round's turn is not timed: it brings the subject's code and hot data back into the caches. */
const warmBatches = 1;
const timedBatches = 20;
const batches = warmBatches + timedBatches;
const meetingSize = 1000;

/** Time goes on by a millisecond with every batch, over all rounds. */
let elapsedMs = 0;

/**
 * @param {ArrayLike<number>} clients
 * @param {number} from
 * @param {number} count
 * @param {string[] | null} interned by client, or null for names that are made anew
 * @param {Shape} [shape]
 * @returns {Batch}
 */
function batchOf(clients, from, count, interned, shape) {
  const chosen = Array.from({ length: count }, (_, i) => clients[from + i]);
  return {
    clients: chosen,
    names: interned
      ? chosen.map((client) => interned[client])
      : freshNames(clients, from, count, shape),
    tiers: chosen.map(tierOf),
  };
}

/**
 * Lets every client be known to every subject, with so many tokens spent.
 * @param {Subject[]} subjects
 * @param {number} count clients
 * @param {number} first tokens
 * @param {Shape} [shape]
 */
export async function meetAll(subjects, count, first, shape) {
  const clients = Array.from({ length: count }, (_, i) => i);
  setClock(elapsedMs);
  for (const subject of subjects) {
    for (let from = 0; from < count; from += meetingSize) {
      await subject.meet(
        batchOf(clients, from, Math.min(meetingSize, count - from), null, shape),
        first,
      );
    }
  }
}

/**
 * @typedef {object} Workload
 * @property {Order} order
 * @property {string[] | null} interned
 * @property {'admitted' | 'denied'} outcome
 * @property {Shape} [shape]
 * @property {number} [batchSize]
 */

/**
 * Nanoseconds per request, of each subject by its name, for each round.
 * @param {Subject[]} subjects
 * @param {Workload} workload
 * @param {number} rounds
 * @returns {Promise<Map<string, Float64Array>>}
 */
export async function measure(subjects, workload, rounds) {
  const results = new Map(subjects.map(({ name }) => [name, new Float64Array(rounds)]));
  const clients = new Int32Array(batches * (workload.batchSize ?? usualBatchSize));
  // Rounds below 0 warm up: the compiler sees what will run, and is done with it.
  const warmRounds = 3;
  for (let round = -warmRounds; round < rounds; round += 1) {
    workload.order(clients);
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const subject = subjects[(round + warmRounds + turn) % subjects.length];
      const ns = await take(subject, clients, workload);
      if (round >= 0) /** @type {Float64Array} */ (results.get(subject.name))[round] = ns;
    }
    elapsedMs += batches;
  }
  return results;
}

/**
 * @param {Subject} subject
 * @param {Int32Array} clients
 * @param {Workload} workload
 */
async function take(subject, clients, { interned, outcome, shape }) {
  const batchSize = clients.length / batches;
  let ns = 0n;
  for (let batch = 0; batch < batches; batch += 1) {
    setClock(elapsedMs + batch);
    const input = subject.prepare(batchOf(clients, batch * batchSize, batchSize, interned, shape));
    let admitted;
    const start = process.hrtime.bigint();
    if (subject.async) admitted = await subject.run(input);
    else admitted = subject.run(input);
    const end = process.hrtime.bigint();
    if (admitted !== (outcome === 'admitted' ? batchSize : 0)) {
      throw new Error(
        `${subject.name} admitted ${admitted} of ${batchSize}, all were to be ${outcome}`,
      );
    }
    if (batch >= warmBatches) ns += end - start;
  }
  return Number(ns) / (timedBatches * batchSize);
}
