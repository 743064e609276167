// Policies of an async iterator.
import assert from 'node:assert/strict';
import { EventEmitter, on } from 'node:events';
import { test } from 'node:test';

import { PolicyError, TierLimiter } from 'tierlimit';
import { follow } from 'tierlimit/policies';

import { only, seed, thrown } from './support/limiter.js';
import { LaterLimiter, told } from './support/told.js';

const text = (capacity) => JSON.stringify(only(capacity, 0));

/** A source of these documents, or of those that the test sends. */
function following(documents, options = {}) {
  const limiter = new TierLimiter({ policies: text(1), seed, now: () => 0 });
  const hooks = told();
  const source = follow({ limiter, documents, ...hooks.hooks, ...options });
  const capacity = () => limiter.peek('nobody').limit;
  return { limiter, source, capacity, told: hooks };
}

/** An iterator that gives what it is sent, and says what becomes of it. */
function channel() {
  const emitter = new EventEmitter();
  const log = [];
  async function* documents() {
    try {
      for await (const [document] of on(emitter, 'document', { close: ['end'] })) {
        log.push('asked');
        yield document;
      }
    } finally {
      log.push('returned');
    }
  }
  return {
    documents: documents(),
    log,
    send: (document) => emitter.emit('document', document),
    end: () => emitter.emit('end'),
    fail: (error) => emitter.emit('error', error),
  };
}

test('each document is put in force, one that is refused changes nothing, and at the end the last good one stays', async () => {
  const { documents, send, end } = channel();
  const { limiter, source, capacity, told } = following(documents);
  send(text(5));
  assert.equal((await told.next()).report.revision, 2);
  assert.equal(capacity(), 5);

  send(text(6).slice(1));
  const { error, status } = await told.next();
  assert.ok(error instanceof PolicyError);
  assert.deepEqual([status.refused.times, status.state, capacity()], [1, 'open', 5]);

  // The same text is not put in force again, and ends the refusal.
  send(text(5));
  send(new TextEncoder().encode(text(7)));
  assert.equal((await told.next()).report.revision, 3);
  send(only(8, 0));
  assert.equal((await told.next()).report.revision, 4);
  assert.deepEqual([limiter.revision, capacity(), source.status().refused], [4, 8, null]);

  end();
  await source.done;
  assert.equal(source.status().state, 'ended');
  assert.equal(capacity(), 8);
});

test('an iterator that throws ends the source, and is told', async () => {
  const { documents, send, fail } = channel();
  const { source, capacity, told } = following(documents);
  send(text(5));
  await told.next();
  fail(new Error('the connection is lost'));
  await source.done;
  const { state, unreadable } = source.status();
  assert.deepEqual([state, unreadable.error.message], ['failed', 'the connection is lost']);
  assert.equal((await told.next()).error, unreadable.error);
  assert.equal(capacity(), 5);
});

test('one that cannot be iterated after all is told as well', async () => {
  const documents = {
    [Symbol.asyncIterator]() {
      throw new Error('no iterator');
    },
  };
  const { source } = following(documents);
  await source.done;
  assert.deepEqual(
    [source.status().state, source.status().unreadable.error.message],
    ['failed', 'no iterator'],
  );
});

test('close ends it at once, though the iterator waits for a document that never comes', async () => {
  const { documents, send, log } = channel();
  const { source, capacity, told } = following(documents);
  send(text(5));
  await told.next();
  source.close();
  await source.done;
  assert.equal(source.status().state, 'closed');
  // The generator is told, and gets to it when its wait is over.
  send(text(9));
  await documents.return();
  assert.deepEqual(log, ['asked', 'asked', 'returned']);
  assert.deepEqual([capacity(), told.calls.length], [5, 0]);
});

test('what was under way when it was closed is not put in force', async () => {
  let give;
  let returned = 0;
  const documents = {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((resolve) => {
          give = resolve;
        }),
      return: async () => {
        returned += 1;
        throw new Error('it does not matter any more');
      },
    }),
  };
  const { source, capacity } = following(documents);
  give({ done: false, value: text(9) });
  source.close();
  await source.done;
  assert.deepEqual([capacity(), returned], [1, 1]);
});

test('a signal that has aborted already: nothing is asked for', async () => {
  const { documents, log, send } = channel();
  const { source } = following(documents, { signal: AbortSignal.abort() });
  await source.done;
  send(text(9));
  assert.deepEqual([source.status().state, log], ['closed', []]);
});

test('a limiter that answers later: the next document is asked for when the one before is in force', async () => {
  const limiter = new LaterLimiter();
  let asked = 0;
  async function* documents() {
    for (const capacity of [5, 6]) {
      asked += 1;
      yield text(capacity);
    }
  }
  let called = limiter.called();
  const { source } = following(documents(), { limiter });
  await called;
  assert.equal(asked, 1);
  called = limiter.called();
  limiter.calls[0].accept();
  await called;
  assert.equal(asked, 2);
  limiter.calls[1].refuse(new Error('the store is down'));
  await source.done;
  assert.equal(source.status().refused.error.message, 'the store is down');
  assert.deepEqual(limiter.inForce, [text(5)]);
});

test('a limiter that never answers: the next document has its turn when the time is over', async () => {
  const limiter = new LaterLimiter();
  async function* documents() {
    yield text(5);
    yield text(6);
  }
  const alive = setInterval(() => {}, 1000);
  const { source } = following(documents(), { limiter, timeoutMs: 1 });
  await source.done;
  clearInterval(alive);
  assert.equal(limiter.calls.length, 2);
  const { refused } = source.status();
  assert.deepEqual(
    [refused.error.message, refused.times],
    ['to put a document in force took longer than 1 ms', 2],
  );
  // And is not overtaken by the first, should that come into force at last.
  limiter.calls[1].accept();
  const called = limiter.called();
  limiter.calls[0].accept();
  await called;
  limiter.calls[2].accept();
  assert.deepEqual(limiter.inForce, [text(6), text(5), text(6)]);
});

test('options that are not as they should be are refused when it is made', () => {
  const limiter = new TierLimiter({ policies: text(1), seed });
  for (const [documents, shown] of [
    [undefined, 'undefined'],
    [text(5), '"{\\"default\\":{\\"capacity\\":5,\\"refillPerSecon…"'],
    [[text(5)], 'an Array'],
    [async function* () {}, 'an AsyncGeneratorFunction'],
  ]) {
    const error = thrown(() => follow({ limiter, documents }));
    assert.deepEqual(
      [error.name, error.message],
      ['TypeError', `documents must be an async iterator of documents; got ${shown}`],
    );
  }
  const { documents } = channel();
  assert.equal(
    thrown(() => follow({ limiter, documents, intervalMs: 5 })).message,
    'there is no option "intervalMs"',
  );
});
