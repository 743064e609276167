/** The requests of one or several logs, in the order in which they stand there. */

import { LineSplitter } from './lines.js';
import { parseLogLine } from './log-line.js';
import { readLog } from './log-source.js';

/** What may stand for a client. */
export const CLIENT_FIELDS = /** @type {const} */ (['host', 'user', 'agent']);

/**
 * @typedef {object} LoggedRequest
 * @property {number} seconds - since 1970 UTC
 * @property {string} client
 */

/** Apache escapes a byte as four: three fields at its limit of 8190 bytes each make 98 kB. */
const MAX_LINE_BYTES = 256 * 1024;

/** Names are remembered, lines are not, so only names need the tighter bound. */
const MAX_CLIENT_BYTES = 1024;

const MAX_SAMPLES = 5;
const UTF8_MARK = '\xef\xbb\xbf';

/** What reading found beside requests. One object counts for all logs of a replay. */
export class ReadCounts {
  lines = 0;
  blank = 0;
  unparseable = 0;
  /** Lines whose client field is `-` or empty. */
  withoutClient = 0;
  /** Lines that are earlier than a line above them in the same log, and the farthest of them. */
  outOfOrder = 0;
  maxOutOfOrderSeconds = 0;
  earliestSeconds = Infinity;
  latestSeconds = -Infinity;
  bytes = 0;
  /** @type {{ log: string, line: number, reason: string, text: string }[]} The first unparseable lines. */
  samples = [];
}

/**
 * Yields the requests of one log, as many at a time as came in one read.
 *
 * @param {string} path - `-` is standard input
 * @param {(typeof CLIENT_FIELDS)[number]} clientField
 * @param {ReadCounts} counts
 * @returns {AsyncGenerator<LoggedRequest[]>}
 */
export async function* readRequests(path, clientField, counts) {
  /** @type {LoggedRequest[]} */
  let batch = [];
  let lineNumber = 0;
  let newestSeconds = -Infinity;

  const splitter = new LineSplitter(MAX_LINE_BYTES, (text, cutOff) => {
    lineNumber++;
    counts.lines++;
    if (lineNumber === 1 && text.startsWith(UTF8_MARK)) text = text.slice(UTF8_MARK.length);
    if (text.trim() === '') {
      counts.blank++;
      return;
    }
    const parsed = cutOff ? `longer than ${MAX_LINE_BYTES} bytes` : parseLogLine(text);
    if (typeof parsed === 'string') {
      reject(parsed, text);
      return;
    }
    const { seconds } = parsed;
    if (seconds < newestSeconds) {
      counts.outOfOrder++;
      counts.maxOutOfOrderSeconds = Math.max(counts.maxOutOfOrderSeconds, newestSeconds - seconds);
    } else {
      newestSeconds = seconds;
    }
    const client = parsed[clientField];
    if (client === '-' || client === '') {
      counts.withoutClient++;
    } else if (client.length > MAX_CLIENT_BYTES) {
      reject(`a client name longer than ${MAX_CLIENT_BYTES} bytes`, text);
    } else {
      counts.earliestSeconds = Math.min(counts.earliestSeconds, seconds);
      counts.latestSeconds = Math.max(counts.latestSeconds, seconds);
      batch.push({ seconds, client: detached(client) });
    }
  });

  /**
   * @param {string} reason
   * @param {string} text
   */
  function reject(reason, text) {
    counts.unparseable++;
    if (counts.samples.length < MAX_SAMPLES) {
      counts.samples.push({
        log: path,
        line: lineNumber,
        reason,
        text: detached(text.slice(0, 200)),
      });
    }
  }

  for await (const chunk of readLog(path, (bytes) => (counts.bytes += bytes))) {
    splitter.push(chunk);
    if (batch.length > 0) yield batch;
    batch = [];
  }
  splitter.end();
  if (batch.length > 0) yield batch;
}

/**
 * Merges logs by time: rotated logs in whatever order they were named, and the logs of several
 * servers side by side. Lines of one log stay in their order, so the result is out of order by no
 * more than its logs are.
 *
 * @param {AsyncIterable<LoggedRequest[]>[]} logs
 * @returns {AsyncGenerator<LoggedRequest[]>}
 */
export async function* mergeByTime(logs) {
  const heads = logs.map((log) => ({
    batches: log[Symbol.asyncIterator](),
    batch: /** @type {LoggedRequest[]} */ ([]),
    next: 0,
  }));
  try {
    for (const head of [...heads]) await refill(head);
    while (heads.length > 0) {
      /** @type {LoggedRequest[]} */
      const merged = [];
      let earliest = heads[0];
      do {
        for (const head of heads) {
          if (head.batch[head.next].seconds < earliest.batch[earliest.next].seconds)
            earliest = head;
        }
        merged.push(earliest.batch[earliest.next++]);
      } while (earliest.next < earliest.batch.length);
      yield merged;
      await refill(earliest);
    }
  } finally {
    // When one log fails, the others are closed: an open pipe would keep the process alive.
    for (const head of heads) await head.batches.return?.();
  }

  /** @param {(typeof heads)[number]} head */
  async function refill(head) {
    const { value, done } = await head.batches.next();
    if (done) {
      heads.splice(heads.indexOf(head), 1);
    } else {
      head.batch = value;
      head.next = 0;
    }
  }
}

/**
 * A copy of a name that does not keep the line it was cut from in memory, as a slice would.
 *
 * @param {string} text
 */
function detached(text) {
  return Buffer.from(text, 'latin1').toString('latin1');
}
