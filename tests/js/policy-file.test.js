// Policies in a file that is watched: real files, changed in all the ways in which editors, scripts and orchestrators change
// them. Nothing waits for a time: a hook says when a change has been seen.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { PolicyError, TierLimiter } from 'tierlimit';
import { watchFile } from 'tierlimit/policies/file';

import { runScript } from './support/child.js';
import { only, seed, thrown } from './support/limiter.js';
import { LaterLimiter, told } from './support/told.js';

const text = (capacity) => JSON.stringify(only(capacity, 0));

/**
 * A test of a file in a folder of its own, watched by events alone unless the options say otherwise.
 * @param {string} name
 * @param {(context: object) => Promise<void>} body
 */
function fileTest(name, body) {
  test(name, async () => {
    const top = mkdtempSync(join(tmpdir(), 'tierlimit-policies-'));
    const folder = join(top, 'conf');
    const path = join(folder, 'policies.json');
    mkdirSync(folder);
    const sources = [];
    const watching = (options = {}) => {
      const limiter = options.limiter ?? new TierLimiter({ policies: text(1), seed, now: () => 0 });
      const hooks = told();
      const source = watchFile({
        limiter,
        path,
        // Tests wait for what is told, and nothing else would keep them alive.
        persistent: true,
        settleMs: 5,
        pollMs: null,
        ...hooks.hooks,
        ...options,
      });
      sources.push(source);
      const capacity = () => limiter.peek('nobody').limit;
      return { limiter, source, capacity, told: hooks };
    };
    try {
      await body({ top, folder, path, watching });
    } finally {
      for (const source of sources) source.close();
      rmSync(top, { recursive: true, force: true });
    }
  });
}

/** Waits until a document is in force; whatever is refused before that is none of it. */
async function applied({ told }) {
  for (;;) {
    const call = await told.next();
    if (call.kind === 'applied') return call;
  }
}

/** As editors and deployments do it: all of it into another file, and that in the place of this one. */
function replace(path, content) {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

fileTest(
  'it is read when it is made, and again when it is written into',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    const { report, status } = await applied(it);
    assert.equal(report.revision, 2);
    assert.deepEqual([status.from, status.state, status.version], [path, 'open', null]);
    assert.equal(it.capacity(), 5);
    for (const capacity of [6, 7, 8]) {
      writeFileSync(path, text(capacity));
      await applied(it);
      assert.equal(it.capacity(), capacity);
    }
  },
);

fileTest(
  'a file that is replaced by renaming is followed, time after time',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    await applied(it);
    for (const capacity of [6, 7, 8]) {
      replace(path, text(capacity));
      await applied(it);
      assert.equal(it.capacity(), capacity);
      // Atomically there was never anything else to be seen.
      assert.equal(it.source.status().refused, null);
    }
  },
);

fileTest(
  'an editor that moves the old one aside and writes a new one',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    await applied(it);
    renameSync(path, `${path}~`);
    writeFileSync(path, text(6));
    unlinkSync(`${path}~`);
    await applied(it);
    assert.equal(it.capacity(), 6);
  },
);

fileTest(
  'a half-written file is refused and the last good one stays; the complete one applies',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    await applied(it);
    const whole = text(6);
    const file = openSync(path, 'w');
    writeSync(file, whole.slice(0, 10));
    const { kind, error, status } = await it.told.next();
    assert.equal(kind, 'refused');
    assert.ok(error instanceof PolicyError);
    assert.equal(error.code, 'syntax');
    assert.deepEqual([status.refused.times, status.unreadable, it.capacity()], [1, null, 5]);
    writeSync(file, whole.slice(10));
    closeSync(file);
    await applied(it);
    assert.deepEqual([it.capacity(), it.source.status().refused], [6, null]);
  },
);

fileTest(
  'a file that is truncated first and written a little later is seen as it is in the end',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching({ settleMs: 0 });
    await applied(it);
    writeFileSync(path, '');
    assert.equal((await it.told.next()).error.code, 'syntax');
    for (const character of text(7)) appendFileSync(path, character);
    await applied(it);
    assert.equal(it.capacity(), 7);
  },
);

fileTest(
  'changes that come together are looked at together, in their last form',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    await applied(it);
    for (let capacity = 10; capacity <= 60; capacity += 1) writeFileSync(path, text(capacity));
    while (it.capacity() !== 60) await applied(it);
    assert.ok(it.limiter.revision < 10, `${it.limiter.revision}`);
  },
);

fileTest('a file that vanishes is told, and its return', async ({ path, watching }) => {
  writeFileSync(path, text(5));
  const it = watching();
  await applied(it);
  unlinkSync(path);
  const { error, status } = await it.told.next();
  assert.equal(error.code, 'ENOENT');
  assert.deepEqual([status.unreadable.error, status.refused, it.capacity()], [error, null, 5]);

  // As it was: nothing is put in force, but it is there again.
  writeFileSync(path, text(5));
  assert.equal(await it.source.refresh(), 'unchanged');
  assert.deepEqual([it.source.status().unreadable, it.limiter.revision], [null, 2]);

  unlinkSync(path);
  await it.told.next();
  replace(path, text(6));
  await applied(it);
  assert.equal(it.capacity(), 6);
});

fileTest('a file that is not there yet is waited for', async ({ path, watching }) => {
  const it = watching();
  assert.equal((await it.told.next()).error.code, 'ENOENT');
  writeFileSync(path, text(5));
  await applied(it);
  assert.equal(it.capacity(), 5);
});

fileTest(
  'a folder that vanishes and comes back is found by polling, and then watched again',
  async ({ folder, path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching({ pollMs: 20 });
    await applied(it);
    rmSync(folder, { recursive: true });
    assert.equal((await it.told.next()).error.code, 'ENOENT');
    mkdirSync(folder);
    writeFileSync(path, text(6));
    await applied(it);
    assert.equal(it.capacity(), 6);
  },
);

fileTest(
  'a folder that is put in the place of another is watched in its place',
  async ({ top, folder, path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    await applied(it);
    mkdirSync(join(top, 'next'));
    writeFileSync(join(top, 'next', 'policies.json'), text(6));
    renameSync(folder, join(top, 'before'));
    renameSync(join(top, 'next'), folder);
    await applied(it);
    assert.equal(it.capacity(), 6);
    writeFileSync(path, text(7));
    await applied(it);
    assert.equal(it.capacity(), 7);
  },
);

fileTest(
  'so it is from the next look on where nothing tells of it: a folder further up is another',
  async ({ top, watching }) => {
    const [before, now, next] = ['before', 'now', 'next'].map((name) => join(top, name));
    for (const [folder, capacity] of [
      [now, 5],
      [next, 6],
    ]) {
      mkdirSync(join(folder, 'conf'), { recursive: true });
      writeFileSync(join(folder, 'conf', 'policies.json'), text(capacity));
    }
    const it = watching({ path: join(now, 'conf', 'policies.json') });
    await applied(it);
    renameSync(now, before);
    renameSync(next, now);
    assert.equal(await it.source.refresh(), 'applied');
    await applied(it);
    writeFileSync(join(now, 'conf', 'policies.json'), text(7));
    await applied(it);
    assert.equal(it.capacity(), 7);
  },
);

fileTest(
  'a link that is pointed elsewhere, as Kubernetes mounts a ConfigMap',
  async ({ folder, path, watching }) => {
    const version = (name, capacity) => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'policies.json'), text(capacity));
      symlinkSync(name, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    version('..v1', 5);
    symlinkSync(join('..data', 'policies.json'), path);
    const it = watching();
    await applied(it);
    assert.equal(it.capacity(), 5);
    for (const capacity of [6, 7]) {
      version(`..v${capacity}`, capacity);
      await applied(it);
      assert.equal(it.capacity(), capacity);
    }
    // And what the link leads to is watched too.
    writeFileSync(join(folder, '..v7', 'policies.json'), text(8));
    await applied(it);
    assert.equal(it.capacity(), 8);
  },
);

fileTest(
  'other files of the folder are none of its business',
  async ({ folder, path, watching }) => {
    writeFileSync(path, text(5));
    const it = watching();
    await applied(it);
    for (let i = 0; i < 50; i += 1) writeFileSync(join(folder, `log-${i % 5}`), text(9));
    replace(path, text(6));
    await applied(it);
    assert.deepEqual([it.capacity(), it.limiter.revision, it.told.calls.length], [6, 3, 0]);
  },
);

fileTest(
  'where the system tells nothing, polling finds what has changed',
  async ({ top, path, watching }) => {
    // A link by way of a folder that nobody watches: neither that of the first link nor that of the file.
    const pointTo = (capacity) => {
      const folder = join(top, `version-${capacity}`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'policies.json'), text(capacity));
      symlinkSync(folder, join(top, 'between', 'now_tmp'));
      renameSync(join(top, 'between', 'now_tmp'), join(top, 'between', 'now'));
    };
    mkdirSync(join(top, 'between'));
    pointTo(5);
    symlinkSync(join(top, 'between', 'now', 'policies.json'), path);
    const it = watching({ pollMs: 10 });
    await applied(it);
    for (const capacity of [6, 7, 8]) {
      pointTo(capacity);
      await applied(it);
      assert.equal(it.capacity(), capacity);
    }
  },
);

fileTest('refresh looks now, and after whatever look is under way', async ({ path, watching }) => {
  writeFileSync(path, text(5));
  const it = watching({ settleMs: 2 ** 31 - 1 });
  assert.equal(await it.source.refresh(), 'unchanged');
  assert.equal(it.capacity(), 5);
  writeFileSync(path, text(6));
  const [first, second] = [it.source.refresh(), it.source.refresh()];
  assert.deepEqual([await first, await second], ['applied', 'unchanged']);
  writeFileSync(path, '{');
  assert.equal(await it.source.refresh(), 'refused');
  assert.equal(await it.source.refresh(), 'unchanged');
  unlinkSync(path);
  assert.equal(await it.source.refresh(), 'unreadable');
});

fileTest('what is no file, is too large or is not UTF-8 is told', async ({ path, watching }) => {
  const exact = text(5);
  writeFileSync(path, exact);
  const it = watching({ maxBytes: exact.length, settleMs: 2 ** 31 - 1 });
  await applied(it);
  writeFileSync(path, `${exact} `);
  assert.equal(await it.source.refresh(), 'unreadable');
  const message = () => it.source.status().unreadable.error.message;
  assert.equal(message(), `${path} has more than ${exact.length} bytes (see maxBytes)`);
  unlinkSync(path);
  mkdirSync(path);
  assert.equal(await it.source.refresh(), 'unreadable');
  assert.equal(message(), `${path} is not a file`);
  rmSync(path, { recursive: true });
  // To open it would wait for somebody who writes.
  execFileSync('mkfifo', [path]);
  assert.equal(await it.source.refresh(), 'unreadable');
  assert.equal(message(), `${path} is not a file`);
  unlinkSync(path);
  writeFileSync(path, Buffer.from('"\xe9"', 'latin1'));
  assert.equal(await it.source.refresh(), 'refused');
  assert.equal(it.source.status().refused.error.message, 'the document is not UTF-8');
  assert.equal(it.capacity(), 5);
});

fileTest('a limiter that answers later holds the next look up', async ({ path, watching }) => {
  const limiter = new LaterLimiter();
  writeFileSync(path, text(5));
  let called = limiter.called();
  const it = watching({ limiter });
  const other = watching();
  await called;
  await applied(other);

  // By an event, and asked for. What the other source sees meanwhile this one would see too.
  writeFileSync(path, text(6));
  const next = it.source.refresh();
  await applied(other);
  for (let i = 0; i < 5; i += 1) await other.source.refresh();
  assert.equal(limiter.calls.length, 1);
  called = limiter.called();
  limiter.calls[0].accept();
  await called;
  limiter.calls[1].accept();
  assert.equal(await next, 'applied');
  assert.deepEqual(limiter.inForce, [text(5), text(6)]);
});

fileTest('close does not wait for a limiter that never answers', async ({ path, watching }) => {
  const limiter = new LaterLimiter();
  writeFileSync(path, text(5));
  const called = limiter.called();
  const it = watching({ limiter, timeoutMs: 2 ** 31 - 1 });
  await called;
  const next = it.source.refresh();
  it.source.close();
  assert.equal(await next, 'closed');
});

fileTest('a limiter that never answers does so only for its time', async ({ path, watching }) => {
  const limiter = new LaterLimiter();
  writeFileSync(path, text(5));
  const it = watching({ limiter, timeoutMs: 200, pollMs: 20 });
  const { error } = await it.told.next();
  assert.equal(error.message, `a look at ${path} took longer than 200 ms`);
  // It is tried again, though the file is what it was.
  await limiter.called();
  limiter.calls.at(-1).accept();
  assert.equal((await applied(it)).report.revision, 1);
});

fileTest(
  'after close nothing is read any more; close ends what is under way',
  async ({ path, watching }) => {
    writeFileSync(path, text(5));
    const controller = new AbortController();
    const it = watching({ signal: controller.signal });
    await applied(it);
    const other = watching();
    await applied(other);
    const underWay = it.source.refresh();
    controller.abort();
    assert.equal(await underWay, 'closed');
    assert.equal(it.source.status().state, 'closed');
    writeFileSync(path, text(6));
    await applied(other);
    assert.equal(await it.source.refresh(), 'closed');
    assert.deepEqual([it.capacity(), it.told.calls.length], [5, 0]);

    const never = watching({ signal: controller.signal });
    assert.equal(await never.source.refresh(), 'closed');
    assert.equal(never.capacity(), 1);
  },
);

for (const [persistent, pollMs] of [
  [false, 5000],
  [false, null],
]) {
  fileTest(
    `watching keeps no process alive unless asked: persistent ${persistent}, pollMs ${pollMs}`,
    async ({ path }) => {
      writeFileSync(path, text(5));
      const { status, stdout, stderr } = await runScript(`
      import { TierLimiter } from 'tierlimit';
      import { watchFile } from 'tierlimit/policies/file';
      const limiter = new TierLimiter({ policies: '${text(1)}' });
      const source = watchFile({ limiter, path: ${JSON.stringify(path)}, pollMs: ${pollMs} });
      console.log(await source.refresh(), limiter.peek('a').limit);`);
      assert.deepEqual([stderr, stdout, status], ['', 'unchanged 5\n', 0]);
    },
  );
}

fileTest('it does when asked, until it is closed', async ({ path }) => {
  writeFileSync(path, text(5));
  const { status, stdout, stderr } = await runScript(`
    import { writeFileSync } from 'node:fs';
    import { TierLimiter } from 'tierlimit';
    import { watchFile } from 'tierlimit/policies/file';
    const limiter = new TierLimiter({ policies: '${text(1)}' });
    let times = 0;
    const source = watchFile({
      limiter, path: ${JSON.stringify(path)}, persistent: true, pollMs: null,
      onApplied() {
        times += 1;
        if (times === 2) source.close();
        // Nothing but the watcher is there to hear of it.
        else writeFileSync(${JSON.stringify(path)}, '${text(6)}');
      },
    });
    process.on('exit', () => console.log(times, limiter.peek('a').limit));`);
  assert.deepEqual([stderr, stdout, status], ['', '2 6\n', 0]);
});

fileTest('a path may be a URL, or relative to the folder of now', async ({ path, watching }) => {
  writeFileSync(path, text(5));
  const it = watching({ path: pathToFileURL(path) });
  assert.equal((await applied(it)).status.from, path);
  const { source } = watching({ path: 'nowhere/policies.json' });
  assert.equal(source.status().from, join(process.cwd(), 'nowhere/policies.json'));
});

test('options that are not as they should be are refused when it is made', () => {
  const limiter = new TierLimiter({ policies: text(1), seed });
  const path = 'nowhere';
  const whole = (least) => `a whole number from ${least} to 2147483647`;
  for (const [options, name, message] of [
    [{ limiter }, 'TypeError', 'path must be a path or a file: URL; got undefined'],
    [{ limiter, path: '' }, 'TypeError', 'path must be a path or a file: URL; got ""'],
    [{ limiter, path: 'a\0b' }, 'TypeError', 'path must be a path or a file: URL; got "a\\u0000b"'],
    [
      { limiter, path: new URL('https://a.example/') },
      'TypeError',
      'path must be a path or a file: URL; got "https://a.example/"',
    ],
    [
      { path },
      'TypeError',
      'limiter must be a TierLimiter, or what has setPolicies(); got undefined',
    ],
    [{ limiter, path, persistent: 1 }, 'TypeError', 'persistent must be true or false; got 1'],
    [{ limiter, path, settleMs: -1 }, 'RangeError', `settleMs must be ${whole(0)}; got -1`],
    [{ limiter, path, pollMs: 0 }, 'RangeError', `pollMs must be ${whole(1)}; got 0`],
    [
      { limiter, path, maxBytes: '5' },
      'TypeError',
      'maxBytes must be a whole number from 1 to 1073741824; got "5"',
    ],
    [{ limiter, path, debounce: 5 }, 'TypeError', 'there is no option "debounce"'],
  ]) {
    const error = thrown(() => watchFile(options));
    assert.deepEqual([error.name, error.message], [name, message]);
  }
});
