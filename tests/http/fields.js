// RateLimit-Policy and RateLimit as whoever receives them reads them: by a parser of structured fields that is not the one
// whose other half wrote them.
import assert from 'node:assert/strict';

import { load } from './packages/packages.js';

const { decodeList } = await load('structured-field-values');

/**
 * A field as an array of its members, each with its name and its parameters.
 * @param {string} text
 * @returns {{ name: string, [parameter: string]: unknown }[]}
 */
export function membersOf(text) {
  const members = decodeList(text).map(({ value, params }) => ({ name: value, ...params }));
  assert.ok(members.length > 0, text);
  for (const { name, ...parameters } of members) {
    assert.equal(typeof name, 'string', text);
    // The window of a policy is some time; that within which so much can be used may be less than a second.
    const leastWindow = 'q' in parameters ? 1 : 0;
    for (const [key, value] of Object.entries(parameters)) {
      if (key === 'qu') assert.equal(typeof value, 'string', text);
      else if (key === 'pk') assert.ok(value instanceof Uint8Array, text);
      else {
        const least = key === 'w' ? leastWindow : 0;
        assert.ok(Number.isInteger(value) && value >= least, `${key} in ${text}`);
      }
    }
  }
  return members;
}
