/** The bytes of a log: a file or standard input, gzipped or not. */

import { createReadStream } from 'node:fs';
import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FileError } from './errors.js';
import { displayName } from './text.js';

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/**
 * Yields a log's bytes. Gzip is recognised by its first two bytes, whatever the file is called.
 *
 * @param {string} path - `-` is standard input
 * @param {(bytes: number) => void} onBytes - told the length of every piece read, before gunzipping
 * @returns {AsyncGenerator<Buffer>}
 */
export async function* readLog(path, onBytes) {
  try {
    const raw = counted(path === '-' ? process.stdin : createReadStream(path), onBytes);
    const first = await firstBytes(raw);
    const whole = prepended(first, raw);
    yield* startsWithGzipMagic(first) ? gunzipped(whole) : whole;
  } catch (error) {
    throw new FileError(displayName(path), error);
  }
}

/** @param {Buffer} bytes */
function startsWithGzipMagic(bytes) {
  return bytes.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC);
}

/** @param {AsyncGenerator<Buffer>} bytes */
function gunzipped(bytes) {
  const gunzip = createGunzip();
  // A failure of either side destroys gunzip with it, and so reaches the one who reads it.
  pipeline(Readable.from(bytes, { objectMode: false }), gunzip, () => {});
  return gunzip;
}

/**
 * @param {AsyncIterable<Buffer>} stream
 * @param {(bytes: number) => void} onBytes
 */
async function* counted(stream, onBytes) {
  for await (const chunk of stream) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/**
 * Reads until there is enough to tell gzip: a pipe may hand over a single byte.
 *
 * @param {AsyncGenerator<Buffer>} chunks
 */
async function firstBytes(chunks) {
  let first = Buffer.alloc(0);
  while (first.length < GZIP_MAGIC.length) {
    const { value, done } = await chunks.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  return first;
}

/**
 * @param {Buffer} first
 * @param {AsyncGenerator<Buffer>} rest
 */
async function* prepended(first, rest) {
  try {
    if (first.length > 0) yield first;
    yield* rest;
  } finally {
    // Also when it is left before its turn: whoever stops reading closes the file.
    await rest.return(undefined);
  }
}
