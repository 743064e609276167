/** Cuts a stream of bytes into lines, holding no more than one line of bounded length. */

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export class LineSplitter {
  #maxBytes;
  #onLine;
  /** @type {Buffer[]} The pieces of the line that has begun, at most #maxBytes + 1 of its bytes. */
  #pieces = [];
  #bytes = 0;

  /**
   * @param {number} maxBytes - a longer line is handed over cut off after this many bytes
   * @param {(line: string, cutOff: boolean) => void} onLine - called for every line, in order; the
   *   text has one character per byte (latin1), so that no two lines read alike, valid UTF-8 or not
   */
  constructor(maxBytes, onLine) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      if (this.#bytes > 0) {
        this.#keep(chunk.subarray(start, end));
        this.#finish();
      } else {
        this.#emit(chunk, start, end);
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Hands over a last line that has no line end. */
  end() {
    if (this.#bytes > 0) this.#finish();
  }

  /** @param {Buffer} piece */
  #keep(piece) {
    // One byte too many is kept too: it tells a line that is cut off from one that just fits.
    const room = this.#maxBytes + 1 - this.#bytes;
    if (room <= 0 || piece.length === 0) return;
    // A copy, for a piece would keep its whole chunk alive.
    const kept = Buffer.from(piece.subarray(0, room));
    this.#pieces.push(kept);
    this.#bytes += kept.length;
  }

  #finish() {
    const line = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    this.#emit(line, 0, line.length);
  }

  /**
   * @param {Buffer} bytes
   * @param {number} start
   * @param {number} end
   */
  #emit(bytes, start, end) {
    if (end > start && bytes[end - 1] === CARRIAGE_RETURN) end--;
    const cutOff = end - start > this.#maxBytes;
    this.#onLine(bytes.toString('latin1', start, cutOff ? start + this.#maxBytes : end), cutOff);
  }
}
