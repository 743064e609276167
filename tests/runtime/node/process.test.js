// What a limiter leaves behind in a process of Node.js, and what it does where the process is kept from something.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { conclude, outcomesIn, saying } from '../../contract/outcome.js';
import { makeProject } from '../../package/support/project.js';
import { all } from './versions.js';

const policies = '{ default: { capacity: 1, refillPerSecond: 0.001 } }';

let project;
before(async () => {
  project = await makeProject();
  project.copy('tests/contract/limiter.js', 'contract.js');
  project.write({
    'ends.js': `
      import { TierLimiter } from 'tierlimit';
      const limiter = new TierLimiter({ policies: ${policies} });
      console.log(limiter.check('acme').remaining, limiter.allow('acme'));`,

    'restricted.js': `
      const kept = {};
      const restrict = (holder, names) => names.forEach((name) => {
        kept[name] = holder[name];
        holder[name] = () => { throw new Error(name + ' at module scope'); };
      });
      const timers = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'];
      restrict(globalThis, [...timers, 'fetch']);
      restrict(crypto, ['getRandomValues', 'randomUUID']);
      restrict(performance, ['now']);
      restrict(Date, ['now']);
      restrict(Math, ['random']);
      const { TierLimiter } = await import('tierlimit');
      const limiter = new TierLimiter({ policies: ${policies} });
      limiter.setPolicies(${policies});
      // Its clock and its random bytes are there when the first request comes.
      for (const [holder, name] of [[crypto, 'getRandomValues'], [performance, 'now']]) {
        delete holder[name];
        if (holder[name] !== kept[name]) holder[name] = kept[name];
      }
      console.log(limiter.check('acme').remaining, limiter.allow('acme'));`,

    // The harness of case 20.
    'no-compiling.js': `
      import { readFileSync } from 'node:fs';
      import { createRequire } from 'node:module';
      import { contract } from './contract.js';
      const bytes = readFileSync(createRequire(import.meta.url).resolve('tierlimit/core.wasm'));
      const module = new WebAssembly.Module(bytes);
      const refuse = () => { throw new WebAssembly.CompileError('forbidden by the embedder'); };
      const { instantiate } = WebAssembly;
      Object.assign(WebAssembly, {
        compile: refuse,
        compileStreaming: refuse,
        instantiateStreaming: refuse,
        instantiate: (what, ...rest) =>
          what instanceof kept ? instantiate(what, ...rest) : refuse(),
      });
      const kept = WebAssembly.Module;
      WebAssembly.Module = new Proxy(kept, { construct: refuse });
      const slim = await import('tierlimit/slim');
      const outcomes = contract({ ...slim, ...slim.withModule(module) });
      const version = process.versions.node;
      ${saying('{ version, outcomes }')}
      try {
        slim.withModule(bytes);
      } catch (error) {
        console.log('REFUSED', error.message);
      }`,

    'not-compiled.js': `
      import { withModule } from 'tierlimit/slim';
      for (const it of [new Response(''), Promise.resolve(), 'core.wasm', null]) {
        try {
          withModule(it);
        } catch (error) {
          console.log(error.name, error.message);
        }
      }`,
  });
});
after(() => project?.remove());

for (const { name, path, skip } of all) {
  test(`Node, ${name}, case 38: a program ends by itself after a decision`, { skip }, async () => {
    // run() fails unless the process ended of its own accord.
    assert.equal(await project.run(path, ['ends.js']), '0 false\n');
  });

  test(
    `Node, ${name}, case 38: made without timers, I/O, clock or randomness`,
    { skip },
    async () => {
      assert.equal(await project.run(path, ['restricted.js']), '0 false\n');
    },
  );

  test(`Node, ${name}, case 20: a module where nothing can be compiled`, { skip }, async (t) => {
    const output = await project.run(path, ['no-compiling.js']);
    conclude(t, { runtime: 'Node, no compiling', ...outcomesIn(output) });
    assert.match(output, /^REFUSED .*forbidden by the embedder.*tierlimit\/core\.wasm/m);
  });

  test(`Node, ${name}, case 20: what is to be compiled first`, { skip }, async () => {
    const lines = (await project.run(path, ['not-compiled.js'])).trimEnd().split('\n');
    const given = ['Response', 'Promise', 'core.wasm', 'null'];
    assert.equal(lines.length, given.length);
    for (const [i, line] of lines.entries()) {
      assert.match(line, /^TypeError .*WebAssembly\.compileStreaming\(/);
      // It says what was given.
      assert.ok(line.includes(given[i]), line);
    }
  });
}
