// What the build makes and how it is loaded: without eval, without fetching, in any runtime, once.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createModule } from 'tierlimit/module';
import { withModule } from 'tierlimit/slim';

import { runScript } from './support/child.js';
import { only, thrown } from './support/limiter.js';
import { coreBytes } from './support/memory.js';

const wasmPath = fileURLToPath(import.meta.resolve('tierlimit/core.wasm'));
const dist = join(wasmPath, '..');
const glue = readFileSync(join(dist, 'glue.js'), 'utf8');

/** The smallest module. */
const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

const policies = '{ "default": { "capacity": 2, "refillPerSecond": 0 } }';
/** Three decisions of a limiter, to be run in a process of its own. */
const threeDecisions = `
  const limiter = new TierLimiter({ policies: ${policies}, now: () => 0 });
  console.log([limiter.allow('a'), limiter.allow('a'), limiter.allow('a')].join(' '));
`;

/**
 * @param {string} script
 * @param {string[]} [flags]
 */
async function outputOf(script, flags) {
  const { status, stdout, stderr } = await runScript(script, flags);
  assert.equal(status, 0, stderr);
  return stdout;
}

const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

test('case 21: the glue makes no code, loads nothing and looks for no environment', () => {
  const forbidden = [
    /\beval\b/,
    /\bFunction\b/,
    /import\.meta/,
    /\bimport\b/,
    /\bfetch\b/,
    /\bXMLHttpRequest\b/,
    /\bdocument\b/,
    /\blocation\b/,
    /\brequire\b/,
    /\bprocess\b/,
    /\bset(Timeout|Interval)\b/,
    /\basync\b/,
    /\bawait\b/,
  ];
  assert.deepEqual(
    forbidden.filter((word) => word.test(glue)),
    [],
  );
});

test('case 17: the module imports embind, memory growth and nothing else: no clock, no randomness', () => {
  const [, table] = /\b(?:wasmImports|asmLibraryArg) ?= ?\{([^}]*)\}/.exec(glue);
  const names = new Map(
    table.split(',').map((pair) => {
      const [minified, name] = pair.split(':').map((text) => text.trim().replaceAll('"', ''));
      return [minified, name];
    }),
  );
  const expected =
    /^_(_embind_register_\w+|tierlimit_(argument_type|read_snapshot|write_\w+)|_?emscripten_(resize_heap|memcpy_\w+))$/;
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(coreBytes()));
  assert.ok(imports.length > 0);
  for (const { module, name, kind } of imports) {
    assert.deepEqual([module, kind], ['a', 'function']);
    assert.match(names.get(name) ?? `${name}, which the glue does not have`, expected);
  }
});

test('the bytes in the code are those of core.wasm', async () => {
  const { bytes } = await import(join(dist, 'bytes.js'));
  assert.deepEqual(Buffer.from(bytes()), coreBytes());
});

test('every function of the hot path is on the module', () => {
  const source = new URL('../../bindings/hot_path.cpp', import.meta.url);
  const names = readFileSync(source, 'utf8').match(/\btierlimit_\w+(?=\()/g);
  const module = createModule();
  assert.ok(names.length > 0);
  for (const name of names) assert.equal(typeof module[`_${name}`], 'function', name);
});

test('bindings/README.md lists the functions of the hot path that there are', () => {
  const page = readFileSync(new URL('../../bindings/README.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| `(_tierlimit_\w+)\(/gm)].map(([, name]) => name);
  const there = Object.keys(createModule()).filter((name) => name.startsWith('_tierlimit_'));
  assert.deepEqual(listed.toSorted(), there.toSorted());
});

test('what is put around the functions of the module passes on as many arguments as any takes', () => {
  const module = new WebAssembly.Module(coreBytes());
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => {};
  }
  const functions = Object.values(new WebAssembly.Instance(module, imports).exports).filter(
    (it) => typeof it === 'function',
  );
  const most = Math.max(...functions.map(({ length }) => length));
  assert.equal(createModule()._tierlimit_allow.length, most);
});

test('case 20: where nothing can be compiled, a compiled module is enough', async () => {
  const output = await outputOf(`
    import { readFileSync } from 'node:fs';
    const module = new WebAssembly.Module(readFileSync(${JSON.stringify(wasmPath)}));
    const refuse = () => { throw new WebAssembly.CompileError('Wasm code generation disallowed by embedder'); };
    for (const name of ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming', 'validate']) {
      WebAssembly[name] = refuse;
    }
    WebAssembly.Module = function Module() { refuse(); };
    const { withModule } = await import('tierlimit/slim');
    const { TierLimiter } = withModule(module);
    ${threeDecisions}`);
  assert.equal(output, 'true true false\n');
});

test('case 30: where compiling is forbidden, the error says what allows it; it is tried again', async () => {
  const output = await outputOf(`
    import { TierLimiter } from 'tierlimit';
    const { Module } = WebAssembly;
    WebAssembly.Module = class extends Module {
      constructor() { throw new WebAssembly.CompileError('blocked by CSP'); }
    };
    try {
      new TierLimiter({ policies: ${policies} });
    } catch (error) {
      console.log(error instanceof Error, error.message.includes("'wasm-unsafe-eval'"), error.cause.message);
    }
    WebAssembly.Module = Module;
    ${threeDecisions}`);
  assert.equal(output, 'true true blocked by CSP\ntrue true false\n');
});

test('case 22: without location and with an empty import.meta', async () => {
  const output = await outputOf(
    `
    import { readFileSync } from 'node:fs';
    import vm from 'node:vm';
    import { fileURLToPath } from 'node:url';

    const context = vm.createContext({ console, crypto });
    const modules = new Map();
    const load = (url) => {
      if (!modules.has(url)) {
        const source = readFileSync(fileURLToPath(url), 'utf8');
        modules.set(url, new vm.SourceTextModule(source, { context, identifier: url }));
      }
      return modules.get(url);
    };
    const inline = import.meta.resolve('tierlimit').replace(/[^/]*$/, 'core/inline.js');
    const link = (specifier, { identifier }) =>
      load(specifier === '#core' ? inline : new URL(specifier, identifier).href);
    const entry = load(import.meta.resolve('tierlimit'));
    await entry.link(link);
    await entry.evaluate();
    const { TierLimiter } = entry.namespace;
    ${threeDecisions}`,
    ['--experimental-vm-modules', '--no-warnings'],
  );
  assert.equal(output, 'true true false\n');
});

test('case 24: from a folder with a strange name, fetching nothing', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tierlimit-build-')));
  folders.push(folder);
  const installed = join(folder, 'a b#c%20d/node_modules/tierlimit');
  mkdirSync(installed, { recursive: true });
  for (const path of ['package.json', 'js/src', 'js/dist']) {
    cpSync(join(dist, '../..', path), join(installed, path), { recursive: true });
  }
  const output = await outputOf(`
    import { createRequire } from 'node:module';
    import { pathToFileURL } from 'node:url';
    globalThis.fetch = () => { throw new Error('fetched'); };
    const entry = createRequire(${JSON.stringify(join(installed, '../../main.js'))}).resolve('tierlimit');
    const { TierLimiter } = await import(pathToFileURL(entry));
    ${threeDecisions}`);
  assert.equal(output, 'true true false\n');
});

test('case 30: all limiters of the package share one instance, made when the first is', async () => {
  const output = await outputOf(`
    const { Instance } = WebAssembly;
    let instances = 0;
    WebAssembly.Instance = function (...args) { instances += 1; return new Instance(...args); };
    const { TierLimiter } = await import('tierlimit');
    const before = instances;
    const make = async () => new TierLimiter({ policies: ${policies} });
    await Promise.all([make(), make(), make()]);
    console.log(before, instances);`);
  assert.equal(output, '0 1\n');
});

test('createModule makes a new instance each time', () => {
  const [first, second] = [createModule(), createModule()];
  assert.notEqual(first, second);
  assert.notEqual(first.HEAPU8.buffer, second.HEAPU8.buffer);
});

test('a module of another realm, or its bytes in any wrapping, will do', async () => {
  const bytes = coreBytes();
  const { runInNewContext } = await import('node:vm');
  const foreign = runInNewContext('new WebAssembly.Module(bytes)', { bytes });
  assert.equal(foreign instanceof WebAssembly.Module, false);
  const buffer = Uint8Array.from(bytes).buffer;
  for (const wasm of [foreign, bytes, buffer, new DataView(buffer)]) {
    const { TierLimiter } = withModule(wasm);
    assert.equal(new TierLimiter({ policies: only(1, 0), now: () => 0 }).allow('a'), true);
  }
});

test('what is no module is refused by what it is, and the next one works', () => {
  const module = new WebAssembly.Module(coreBytes());
  for (const [value, tag] of [
    [new Response(), 'a Response'],
    [Promise.resolve(module), 'a Promise'],
    [undefined, 'undefined'],
    ['core.wasm', '"core.wasm"'],
    [new WebAssembly.Instance(new WebAssembly.Module(empty)), 'a WebAssembly.Instance'],
  ]) {
    const error = thrown(() => withModule(value));
    assert.ok(error instanceof TypeError);
    assert.match(
      error.message,
      /^module must be a WebAssembly\.Module .*WebAssembly\.compileStreaming.* or its bytes/,
    );
    assert.ok(error.message.endsWith(`; got ${tag}`), error.message);
  }
  for (const broken of [Buffer.from('\0asm'), Buffer.alloc(0)]) {
    const error = thrown(() => withModule(broken));
    assert.ok(error.cause instanceof WebAssembly.CompileError);
  }
  withModule(module);
});

test('a module of another build is refused', () => {
  const error = thrown(() => withModule(new WebAssembly.Module(empty)));
  assert.ok(error instanceof TypeError);
  assert.match(
    error.message,
    /core\.wasm of this copy of tierlimit, build [0-9a-f]{16}; got undefined/,
  );
});
