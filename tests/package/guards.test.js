// What must not get into the package: code that makes code, code that looks for files, clocks in the module.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { makeProject } from './support/project.js';

/** @type {import('./support/project.js').Project} */
let project;
before(async () => {
  project = await makeProject();
});
after(() => project?.remove());

const installed = (/** @type {string} */ path) => project.at('node_modules/tierlimit', path);

/** Code without its comments, which may speak of everything. @param {string} code */
const withoutComments = (code) =>
  code.replace(/\/\*[^]*?\*\/|(?<=^|[\s;{}])\/\/[^\n]*/g, (comment) =>
    comment.replace(/[^\n]/g, ' '),
  );

/** For runtimes with Node's API alone, and an entry of its own: it reads files and sets timers. */
const forNode = 'src/policies/watched-file.js';

/** Files that run where users are, but for the program, which is for Node. */
const libraryFiles = () =>
  readdirSync(installed('js'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.js') && !path.startsWith('src/cli/') && path !== forNode,
  );

/**
 * What matches one of the patterns in a library file, and where.
 * @param {readonly string[]} paths
 * @param {readonly RegExp[]} patterns
 */
function found(paths, patterns) {
  return paths.flatMap((path) => {
    const code = withoutComments(readFileSync(installed(`js/${path}`), 'utf8'));
    // The bytes of the module are text of any kind.
    const text = path === 'dist/bytes.js' ? code.replace(/'(?:[^'\\]|\\.)*'/s, "''") : code;
    return patterns.filter((pattern) => pattern.test(text)).map((pattern) => `${path}: ${pattern}`);
  });
}

const makingCode = [
  // The word of a Content-Security-Policy is another one.
  /(?<!wasm-unsafe-)\beval\b/,
  /(?<![.\w]prototype\.|\w)Function\b(?!\.prototype)/,
  /\bconstructor\s*\.\s*constructor\b/,
  /\bset(Timeout|Interval|Immediate)\b/,
  /\bimportScripts\b/,
];
const lookingAround = [
  /\bimport\s*\.\s*meta\b/,
  /\brequire\s*\(/,
  /\bfetch\s*\(/,
  /\bXMLHttpRequest\b/,
  /\bdocument\s*[.[]/,
  /\blocation\s*[.[]/,
  /\bprocess\s*[.[]/,
  /\b__(dirname|filename)\b/,
  /\bimport\s*\(/,
  /\bnode:/,
];

test('case 21: no file makes code of text', () => {
  const paths = libraryFiles();
  assert.ok(paths.length > 15, String(paths));
  assert.deepEqual(found(paths, makingCode), []);
});

test('cases 22 and 24: no file looks for itself, fetches, or asks where it runs', () => {
  assert.deepEqual(found(libraryFiles(), lookingAround), []);
});

test('only the entry for a watched file leads to what is for Node alone', () => {
  const leading = libraryFiles().filter((path) =>
    readFileSync(installed(`js/${path}`), 'utf8').includes('watched-file.js'),
  );
  assert.deepEqual(leading, ['src/policies/file.js']);
  // It makes no code of text either, but that it does so later.
  assert.deepEqual(found([forNode], makingCode), [`${forNode}: ${makingCode[3]}`]);
  assert.deepEqual(found([forNode], lookingAround), [`${forNode}: ${lookingAround.at(-1)}`]);
});

test('cases 21, 22 and 24: in the glue there is not even the word', () => {
  const words = ['eval', 'Function', 'import', 'require', 'fetch', 'XMLHttpRequest', 'document'];
  const more = [
    'location',
    'process',
    'async',
    'await',
    'setTimeout',
    'Date',
    'performance',
    'crypto',
  ];
  assert.deepEqual(
    found(
      ['dist/glue.js'],
      [...words, ...more].map((word) => new RegExp(`\\b${word}\\b`)),
    ),
    [],
  );
});

test('the program for Node makes no code of text either', () => {
  const paths = readdirSync(installed('js/src/cli')).map((path) => `src/cli/${path}`);
  assert.ok(paths.length > 5);
  assert.deepEqual(found(paths, makingCode.slice(0, 3)), []);
});

test('cases 17 and 38: the module imports functions of embind and memory, and no clock, randomness or files', () => {
  const module = new WebAssembly.Module(readFileSync(installed('js/dist/core.wasm')));
  const glue = readFileSync(installed('js/dist/glue.js'), 'utf8');
  const imports = WebAssembly.Module.imports(module);
  // Optimized, the imports have names of a letter, which the glue gives to functions.
  const [, table] = /\b(?:wasmImports|asmLibraryArg) ?= ?\{([^}]*)\}/.exec(glue) ?? [];
  const names = new Map(
    String(table)
      .split(',')
      .map((pair) => {
        const [name, value] = pair.split(':').map((text) => text.trim().replaceAll('"', ''));
        return [name, value];
      }),
  );
  assert.ok(imports.length > 5);
  for (const { module: from, name, kind } of imports) {
    assert.equal(kind, 'function');
    const called = names.get(name);
    assert.match(
      `${called}`,
      /^_+(embind_(register|finalize)_\w+|emval_\w+|emscripten_(resize_heap|memcpy_\w+)|tierlimit_\w+)$/,
      `${from}.${name}`,
    );
    assert.doesNotMatch(`${called}`, /clock|time|date|now|random|entropy|fd_|wasi|environ|proc_/i);
  }
});

/** Whatever a module must not do at import and at construction, made to throw. */
const hostile = `
  const originals = { now: performance.now.bind(performance), random: crypto.getRandomValues.bind(crypto) };
  const refuse = (name) => function () { throw new Error(name + ' was called'); };
  const put = (object, name) => { object[name] = refuse(name); };
  for (const name of ['eval', 'Function', 'fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask',
    'structuredClone', 'XMLHttpRequest', 'Worker', 'require']) put(globalThis, name);
  // What an instance of a function leads to is the same constructor.
  for (const made of [function () {}, async () => {}, function* () {}, async function* () {}])
    Object.getPrototypeOf(made).constructor === undefined ||
      Object.defineProperty(Object.getPrototypeOf(made), 'constructor', { value: refuse('Function') });
  put(crypto, 'getRandomValues');
  put(crypto, 'randomUUID');
  put(Math, 'random');
  put(Date, 'now');
  globalThis.Date = Object.assign(refuse('Date'), { now: Date.now });
  put(performance, 'now');
  Object.defineProperty(globalThis, 'process', { get: refuse('process') });
  for (const name of ['document', 'location', 'self', 'window', 'navigator'])
    Object.defineProperty(globalThis, name, { get: refuse(name), configurable: true });
`;
// console is fetched while all is as it was.
const ending = `
  performance.now = originals.now;
  crypto.getRandomValues = originals.random;
  log([limiter.allow('a'), limiter.allow('a'), limiter.check('b').remaining].join(' '));
`;

/** @type {Record<string, string>} */
const ways = {
  tierlimit: `const { TierLimiter } = await import('tierlimit');`,
  'tierlimit/slim': `const { withModule } = await import('tierlimit/slim');
    const { TierLimiter } = withModule(wasm);`,
};

for (const [entry, loading] of Object.entries(ways)) {
  test(`cases 21, 24 and 38: ${entry} is imported, and a limiter made, where nothing may be called`, async () => {
    project.write({
      'hostile.mjs': `
        import { readFileSync } from 'node:fs';
        import { fileURLToPath } from 'node:url';
        const wasm = new WebAssembly.Module(
          readFileSync(fileURLToPath(import.meta.resolve('tierlimit/core.wasm'))));
        console.log('begun');
        const log = console.log;
        ${hostile}
        ${loading}
        const policies = { default: { capacity: 1, refillPerSecond: 0 } };
        const limiter = new TierLimiter({ policies });
        limiter.setPolicies(JSON.stringify(policies));
        limiter.setTier('a', 'pro');
        TierLimiter.forIsolate('x', { policies });
        ${ending}`,
    });
    assert.equal(
      await project.run(process.execPath, [
        '--disallow-code-generation-from-strings',
        'hostile.mjs',
      ]),
      'begun\ntrue false 0\n',
    );
  });
}

test('importing an entry leaves nothing on the global object, so a bundler may leave it out', async () => {
  project.write({
    'quiet.mjs': `
      const before = Reflect.ownKeys(globalThis).length;
      const entries = ['', '/slim', '/module', '/clients', '/policies', '/policies/file', '/metrics'];
      for (const entry of entries) await import('tierlimit' + entry);
      console.log(Reflect.ownKeys(globalThis).length - before);`,
  });
  assert.equal(await project.run(process.execPath, ['quiet.mjs']), '0\n');
});

test('case 30: a first start with a broken module fails and says why, a second one with a good one works', async () => {
  project.write({
    'broken.mjs': `
      import { readFileSync } from 'node:fs';
      import { fileURLToPath } from 'node:url';
      import { withModule } from 'tierlimit/slim';
      import { createModule } from 'tierlimit/module';
      import { TierLimiter } from 'tierlimit';
      const bytes = readFileSync(fileURLToPath(import.meta.resolve('tierlimit/core.wasm')));
      const policies = { default: { capacity: 1, refillPerSecond: 0 } };
      const said = [];
      const attempt = (call) => {
        try { said.push(call()); } catch (error) { said.push(error.constructor.name + ': ' + error.message.slice(0, 35)); }
      };
      attempt(() => withModule(bytes.subarray(0, 1000)));
      attempt(() => withModule(new Uint8Array(8)));
      attempt(() => withModule(WebAssembly.compile(bytes)));
      // The package's own module, where an instance cannot be made the first time.
      const { Instance } = WebAssembly;
      WebAssembly.Instance = function () { throw new RangeError('no memory for an instance'); };
      attempt(() => createModule());
      attempt(() => new TierLimiter({ policies }));
      WebAssembly.Instance = Instance;
      attempt(() => typeof createModule().TierLimiter);
      attempt(() => new TierLimiter({ policies }).allow('a'));
      attempt(() => new (withModule(bytes).TierLimiter)({ policies }).allow('a'));
      console.log(said.join('\\n'));`,
  });
  assert.equal(
    await project.run(process.execPath, ['broken.mjs']),
    [
      'TypeError: WebAssembly cannot be compiled: Web',
      'TypeError: WebAssembly cannot be compiled: Web',
      'TypeError: module must be a WebAssembly.Module',
      'RangeError: no memory for an instance',
      'RangeError: no memory for an instance',
      'function',
      'true',
      'true',
      '',
    ].join('\n'),
  );
});

test('case 30: of three first calls at the same time each uses one instance; the module is compiled once', async () => {
  project.write({
    'once.mjs': `
      const counts = { Module: 0, Instance: 0 };
      for (const name of ['Module', 'Instance']) {
        WebAssembly[name] = new Proxy(WebAssembly[name], {
          construct(target, args) { counts[name] += 1; return Reflect.construct(target, args); },
        });
      }
      const { TierLimiter } = await import('tierlimit');
      const policies = { default: { capacity: 1, refillPerSecond: 0 } };
      const first = async () => TierLimiter.forIsolate('shared', { policies });
      const [a, b, c] = await Promise.all([first(), first(), first()]);
      const others = await Promise.all([1, 2, 3].map(async () => new TierLimiter({ policies })));
      console.log(a === b && b === c, a.allow('x'), c.allow('x'), others[0].allow('x'), JSON.stringify(counts));`,
  });
  assert.equal(
    await project.run(process.execPath, ['once.mjs']),
    'true true false true {"Module":1,"Instance":1}\n',
  );
});

test('case 33: a hundred thousand limiters, made and disposed of, leave memory as it was', async () => {
  project.write({
    'many.mjs': `
      const { Instance } = WebAssembly;
      let memory;
      WebAssembly.Instance = function (module, imports) {
        const instance = new Instance(module, imports);
        memory = Object.values(instance.exports).find((it) => it instanceof WebAssembly.Memory);
        return instance;
      };
      const { TierLimiter } = await import('tierlimit');
      const policies = '{ "default": { "capacity": 1, "refillPerSecond": 0 } }';
      const seed = new Uint8Array(16);
      const one = () => {
        const limiter = new TierLimiter({ policies, seed, now: () => 0 });
        if (!limiter.allow('a') || limiter.allow('a')) throw new Error('a wrong decision');
        limiter.dispose();
        limiter.dispose();
        return limiter;
      };
      for (let i = 0; i < 100; i += 1) one();
      const before = memory.buffer.byteLength;
      let last;
      for (let i = 0; i < 100_000; i += 1) last = one();
      const said = [memory.buffer.byteLength - before];
      const { allow } = new TierLimiter({ policies });
      for (const call of [() => last.allow('a'), () => allow('a')]) {
        try { call(); } catch (error) { said.push(error instanceof Error, error.message); }
      }
      console.log(said.join(', '));`,
  });
  assert.equal(
    await project.run(process.execPath, ['many.mjs']),
    '0, true, the TierLimiter is disposed, true, this must be a TierLimiter; got undefined\n',
  );
});
