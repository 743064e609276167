// What a client takes of memory, on the way to a million of them.
//
// Time stands still, so that every client is remembered: whatever the table takes is for clients that it holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { withModule } from 'tierlimit/slim';

import { newNames } from '../bench/names.js';
import { coreBytes, watchMemories } from '../js/support/memory.js';

/** Bytes per client: what is promised. A slot is 32, and a table that grows is not full. */
const promised = 64;

const clients = 1_000_000;
const chunk = 1000;
/** The same of a client that setTier puts into a tier: a slot as well. */
const promisedByAssignment = 64;
/** Where what is fixed weighs little, every chunk counts. */
const from = 20_000;
const to = 300_000;

/** A limiter with an instance to itself, and by how much that one's memory has grown since. */
function made() {
  const memories = watchMemories();
  const { TierLimiter } = withModule(coreBytes());
  const memory = memories[memories.length - 1];
  const limiter = new TierLimiter({
    policies: { default: { capacity: 10, refillPerSecond: 1 } },
    now: () => 0,
    seed: new Uint8Array(16),
    maxClients: clients,
    maxBytes: 2 ** 30,
  });
  const before = memory.buffer.byteLength;
  return { limiter, grown: () => memory.buffer.byteLength - before };
}

test('a client takes 64 bytes at most, at a million and on the way there', (t) => {
  const { limiter, grown } = made();

  const most = { table: 0, memory: 0 };
  const perClient = { table: 0, memory: 0 };
  for (let count = chunk; count <= clients; count += chunk) {
    for (const name of newNames(count - chunk, chunk)) limiter.allow(name);
    perClient.table = limiter.stats().bytes / count;
    perClient.memory = grown() / count;
    if (count < from || count > to) continue;
    most.table = Math.max(most.table, perClient.table);
    most.memory = Math.max(most.memory, perClient.memory);
  }
  assert.equal(limiter.stats().buckets, clients);

  const shown = (/** @type {typeof most} */ bytes) =>
    `${bytes.table.toFixed(1)} bytes in the table, ${bytes.memory.toFixed(1)} of linear memory`;
  t.diagnostic(`each of a million clients: ${shown(perClient)}`);
  t.diagnostic(`each of ${from} to ${to} clients: at most ${shown(most)}`);
  assert.ok(perClient.table <= promised, `${perClient.table}`);
  assert.ok(perClient.memory <= promised, `${perClient.memory}`);
  assert.ok(most.table <= promised, `${most.table}`);
  assert.ok(most.memory <= promised, `${most.memory}`);
});

test('an assignment takes 64 bytes at most, at 200,000 of them', (t) => {
  const { limiter, grown } = made();
  const count = 200_000;
  for (let at = 0; at < count; at += chunk) {
    for (const name of newNames(at, chunk)) limiter.setTier(name, 'pro');
  }
  assert.equal(limiter.stats().assignments, count);
  const each = grown() / count;
  t.diagnostic(`each of ${count} assignments: ${each.toFixed(1)} bytes of linear memory`);
  assert.ok(each <= promisedByAssignment, `${each}`);
});
