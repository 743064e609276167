/** What ends a command with status 2 and one line on standard error. */

/** The command line cannot be carried out as it stands. */
export class UsageError extends Error {
  name = 'UsageError';
}

/** A file cannot be read or written. */
export class FileError extends Error {
  name = 'FileError';

  /**
   * @param {string} name - what the file is called in messages
   * @param {unknown} cause - as node:fs or node:zlib threw it
   */
  constructor(name, cause) {
    const { code = '', message } = /** @type {NodeJS.ErrnoException} */ (cause);
    super(`${name}: ${REASONS.get(code) ?? message}`, { cause });
  }
}

const REASONS = new Map([
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'no such file'],
  ['EISDIR', 'is a directory'],
  ['EACCES', 'permission denied'],
  ['EMFILE', 'too many files at once'],
  ['ENOSPC', 'no space left'],
  ['EFBIG', 'grows larger than it may'],
  ['Z_BUF_ERROR', 'its gzip data ends too early'],
  ['Z_DATA_ERROR', 'its gzip data is damaged'],
]);
