/** Admitted and denied requests over time, in bounded memory however long the log. */

/**
 * @typedef {object} TimeBucket
 * @property {number} startSeconds - since 1970 UTC
 * @property {number} admitted
 * @property {number} denied
 */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Widths for people to read, in seconds. */
const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 4, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28].map((days) => days * DAY),
];

/** While counting, each width divides the next, so that buckets merge whole. */
const COUNTING_WIDTHS = [1, 5, 30, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, DAY, 7 * DAY, 28 * DAY];

/** Buckets that hold something, while counting. At the last width they span the years a log can name. */
const MAX_BUCKETS = 4096;

export class Timeline {
  #width = COUNTING_WIDTHS[0];
  /** @type {Map<number, TimeBucket>} By start. */
  #buckets = new Map();
  /** @type {TimeBucket} The bucket last counted into: in nearly all cases also the next. */
  #latest = { startSeconds: NaN, admitted: 0, denied: 0 };

  /**
   * @param {number} seconds
   * @param {boolean} allowed
   */
  count(seconds, allowed) {
    const start = Math.floor(seconds / this.#width) * this.#width;
    if (this.#latest.startSeconds !== start) this.#latest = bucketAt(this.#buckets, start);
    if (allowed) this.#latest.admitted++;
    else this.#latest.denied++;
    while (this.#buckets.size > MAX_BUCKETS) this.#coarsen();
  }

  /**
   * Groups what was counted into at most `maxRows` buckets of a readable width, with none left out
   * between the first and the last.
   *
   * @param {number} maxRows - at least 2, for the span may straddle a boundary at any width
   * @returns {{ bucketSeconds: number, buckets: TimeBucket[] }}
   */
  rows(maxRows) {
    const starts = [...this.#buckets.keys()];
    if (starts.length === 0) return { bucketSeconds: this.#width, buckets: [] };
    const first = starts.reduce((a, b) => Math.min(a, b));
    const last = starts.reduce((a, b) => Math.max(a, b));

    /** @param {number} width */
    const rowCount = (width) => Math.floor(last / width) - Math.floor(first / width) + 1;
    const widths = WIDTHS.filter((width) => width % this.#width === 0);
    let width = widths.find((candidate) => rowCount(candidate) <= maxRows) ?? 28 * DAY;
    while (rowCount(width) > maxRows) width *= 2;

    const grouped = regrouped(this.#buckets.values(), width);
    const firstStart = Math.floor(first / width) * width;
    const buckets = Array.from({ length: rowCount(width) }, (_, row) =>
      bucketAt(grouped, firstStart + row * width),
    );
    return { bucketSeconds: width, buckets };
  }

  #coarsen() {
    this.#width = COUNTING_WIDTHS[COUNTING_WIDTHS.indexOf(this.#width) + 1];
    this.#buckets = regrouped(this.#buckets.values(), this.#width);
    this.#latest = { startSeconds: NaN, admitted: 0, denied: 0 };
  }
}

/**
 * @param {Iterable<TimeBucket>} buckets
 * @param {number} width
 */
function regrouped(buckets, width) {
  /** @type {Map<number, TimeBucket>} */
  const grouped = new Map();
  for (const { startSeconds, admitted, denied } of buckets) {
    const bucket = bucketAt(grouped, Math.floor(startSeconds / width) * width);
    bucket.admitted += admitted;
    bucket.denied += denied;
  }
  return grouped;
}

/**
 * @param {Map<number, TimeBucket>} buckets
 * @param {number} startSeconds
 */
function bucketAt(buckets, startSeconds) {
  let bucket = buckets.get(startSeconds);
  if (bucket === undefined) {
    bucket = { startSeconds, admitted: 0, denied: 0 };
    buckets.set(startSeconds, bucket);
  }
  return bucket;
}
