/**
 * How large a message is.
 * @module
 */

/**
 * Bytes of a message as it was sent, before compression: of text in UTF-8, of whatever libraries and runtimes give
 * binary messages as; 0 of anything else.
 *
 * @param {unknown} message text, an ArrayBuffer, a view of one (a Buffer), a Blob, or an array of these
 * @returns {number}
 */
export function messageBytes(message) {
  if (typeof message === 'string') return utf8Bytes(message);
  if (Array.isArray(message)) {
    return message.reduce((/** @type {number} */ sum, part) => sum + messageBytes(part), 0);
  }
  const { byteLength, size } = Object(message);
  const bytes = byteLength ?? size;
  return typeof bytes === 'number' ? bytes : 0;
}

/** @param {string} text */
function utf8Bytes(text) {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // Two surrogates are 4 bytes together.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
