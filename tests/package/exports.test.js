// What the package offers: every name of every entry, and what the tools of others say of how it is offered.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

import { tarball } from '../../js/scripts/builds.js';
import { makeProject } from './support/project.js';

const attw = fileURLToPath(
  new URL('node_modules/@arethetypeswrong/cli/dist/index.js', import.meta.url),
);

/** @type {import('./support/project.js').Project} */
let project;
before(async () => {
  project = await makeProject();
});
after(() => project?.remove());

test('publint finds nothing', async () => {
  const packed = readFileSync(tarball);
  const bytes = packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
  assert.equal(pkg.name, 'tierlimit');
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});

test('are the types wrong? They are not', async () => {
  const output = await project.run(process.execPath, [
    attw,
    tarball,
    ...['--profile', 'esm-only', '--exclude-entrypoints', 'core.wasm'],
    ...['--format', 'json'],
  ]);
  const { analysis } = JSON.parse(output.slice(output.indexOf('{')));
  assert.deepEqual(
    [analysis.packageName, analysis.types.kind, Object.keys(analysis.entrypoints).toSorted()],
    [
      'tierlimit',
      'included',
      [
        ...['.', './clients', './express', './fastify', './fetch', './hono', './metrics'],
        ...['./module', './node', './package.json', './policies', './policies/file', './slim'],
        './websocket',
      ],
    ],
  );
  for (const [name, { resolutions }] of Object.entries(analysis.entrypoints)) {
    for (const kind of ['node16-esm', 'bundler']) {
      assert.notEqual(resolutions[kind].resolution, undefined, `${name} by ${kind}`);
      if (name !== './package.json') assert.equal(resolutions[kind].resolution.isTypeScript, true);
    }
  }
});

/** Runs in the project, and says what is on an object: its own names, sorted. */
const namesOf = `
  const names = (object) =>
    Reflect.ownKeys(object)
      .map((key) => (key === Symbol.dispose ? '[Symbol.dispose]' : String(key)))
      .sort();
`;

/**
 * What the values of a program are, by JSON.
 * @param {string} source that has an expression at its end
 */
async function valueOf(source) {
  const [, head, expression] = /^(.*;)\s*([^;]*?);?\s*$/s.exec(source) ?? [];
  project.write({ 'names.mjs': `${namesOf}${head}\nconsole.log(JSON.stringify(${expression}));` });
  return JSON.parse(await project.run(process.execPath, ['names.mjs']));
}

test('the entries are these', () => {
  const text = readFileSync(project.at('node_modules/tierlimit/package.json'), 'utf8');
  assert.deepEqual(JSON.parse(text).exports, {
    '.': { types: './js/dist/types/index.d.ts', default: './js/src/index.js' },
    './slim': { types: './js/dist/types/slim.d.ts', default: './js/src/slim.js' },
    './module': { types: './js/dist/types/module.d.ts', default: './js/src/module.js' },
    './fetch': {
      types: './js/dist/types/middleware/fetch/fetch.d.ts',
      default: './js/src/middleware/fetch/fetch.js',
    },
    './node': {
      types: './js/dist/types/middleware/node/node.d.ts',
      default: './js/src/middleware/node/node.js',
    },
    './express': {
      types: './js/dist/types/middleware/express/express.d.ts',
      default: './js/src/middleware/express/express.js',
    },
    './fastify': {
      types: './js/dist/types/middleware/fastify/fastify.d.ts',
      default: './js/src/middleware/fastify/fastify.js',
    },
    './hono': {
      types: './js/dist/types/middleware/hono/hono.d.ts',
      default: './js/src/middleware/hono/hono.js',
    },
    './websocket': {
      types: './js/dist/types/middleware/websocket/websocket.d.ts',
      default: './js/src/middleware/websocket/websocket.js',
    },
    './clients': {
      types: './js/dist/types/clients/clients.d.ts',
      default: './js/src/clients/clients.js',
    },
    './policies': {
      types: './js/dist/types/policies/policies.d.ts',
      default: './js/src/policies/policies.js',
    },
    './policies/file': {
      types: './js/dist/types/policies/file.d.ts',
      default: './js/src/policies/file.js',
    },
    './metrics': {
      types: './js/dist/types/metrics/metrics.d.ts',
      default: './js/src/metrics/metrics.js',
    },
    './core.wasm': './js/dist/core.wasm',
    './package.json': './package.json',
  });
});

test('each entry exports these values', async () => {
  const exported = await valueOf(`
    import * as main from 'tierlimit';
    import * as slim from 'tierlimit/slim';
    import * as module from 'tierlimit/module';
    import * as fetch from 'tierlimit/fetch';
    import * as node from 'tierlimit/node';
    import * as express from 'tierlimit/express';
    import * as fastify from 'tierlimit/fastify';
    import * as hono from 'tierlimit/hono';
    import * as websocket from 'tierlimit/websocket';
    import * as clients from 'tierlimit/clients';
    import * as policies from 'tierlimit/policies';
    import * as policyFile from 'tierlimit/policies/file';
    import * as metrics from 'tierlimit/metrics';
    ({
      main: names(main), slim: names(slim), module: names(module),
      fetch: names(fetch),
      node: names(node), express: names(express), fastify: names(fastify),
      hono: names(hono), websocket: names(websocket),
      clients: names(clients),
      policies: names(policies), policyFile: names(policyFile),
      metrics: names(metrics),
    })`);
  const tag = 'Symbol(Symbol.toStringTag)';
  assert.deepEqual(exported, {
    main: ['ClockError', 'PolicyError', tag, 'TierLimiter'],
    slim: ['ClockError', 'PolicyError', tag, 'withModule'],
    module: [tag, 'createModule'],
    fetch: [tag, 'decider', 'exposedHeaders', 'headersFor', 'rateLimit', 'refusal'],
    node: [tag, 'decider', 'exposedHeaders', 'rateLimit', 'refuse', 'writeFields'],
    express: [tag, 'exposedHeaders', 'rateLimit'],
    fastify: [tag, 'exposedHeaders', 'rateLimit'],
    hono: [tag, 'exposedHeaders', 'rateLimit'],
    websocket: [tag, 'byBytes', 'messageLimit'],
    clients: [
      tag,
      ...['address', 'apiKey', 'claim', 'cloudflare', 'every', 'firstOf', 'header', 'named'],
      'path',
    ],
    policies: [tag, 'follow', 'poll', 'pollKv', 'pollUrl'],
    policyFile: [tag, 'watchFile'],
    metrics: [
      tag,
      ...['otelMetrics', 'prometheusContentType', 'prometheusMetrics', 'prometheusText'],
    ],
  });
});

test('what is not exported cannot be imported', async () => {
  for (const path of ['js/src/index.js', 'js/src/limiter.js', 'js/dist/glue.js', 'core', 'types']) {
    const output = await valueOf(`
      let code = 'found';
      await import('tierlimit/${path}').catch((error) => { code = error.code; });
      code`);
    assert.equal(output, 'ERR_PACKAGE_PATH_NOT_EXPORTED', path);
  }
});

// The symbol is the package's own: under it limiters have their module.
const methods = [
  'Symbol(core)',
  ...['[Symbol.dispose]', 'allow', 'allowMany', 'check', 'client', 'constructor', 'dispose'],
  ...['peek', 'promoteShadow', 'refund', 'rejected', 'reserve', 'revision', 'setPolicies'],
  ...['setShadowPolicies', 'setTier', 'shadowStats', 'snapshot', 'stats', 'warnings'],
];

test('a limiter has these members, and its class these', async () => {
  const found = await valueOf(`
    import { TierLimiter, ClockError, PolicyError } from 'tierlimit';
    import { withModule } from 'tierlimit/slim';
    import { readFileSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    const wasm = readFileSync(fileURLToPath(import.meta.resolve('tierlimit/core.wasm')));
    const Slim = withModule(wasm).TierLimiter;
    // Of all classes down to the object's, once each.
    const chain = (object) => object === null || object === Object.prototype || object === Function.prototype
      ? [] : [...names(object), ...chain(Object.getPrototypeOf(object))];
    const all = (object) => [...new Set(chain(object))].sort();
    const policies = { default: { capacity: 1, refillPerSecond: 1 } };
    const limiter = new TierLimiter({ policies });
    const client = limiter.client('acme');
    const thrown = (call) => { try { call(); } catch (error) { return error; } };
    ({
      instance: all(limiter), statics: all(TierLimiter),
      slim: all(new Slim({ policies })), slimStatics: all(Slim),
      client: all(client),
      decision: names(limiter.check('acme')), known: names(client.peek()),
      limit: names(client.peek().limits[0]),
      reservation: all(limiter.reserve('acme')), settlement: names(client.reserve().cancel()),
      shadow: (limiter.setShadowPolicies(policies), limiter.allow('acme'), names(limiter.shadowStats()[0])),
      report: names(limiter.setPolicies(policies)),
      stats: names(limiter.stats()),
      policyError: names(thrown(() => limiter.setPolicies('{'))),
      problem: names(thrown(() => limiter.setPolicies('{')).problems[0]),
      clockError: names(new ClockError(1, 2)),
      classes: [ClockError.name, PolicyError.name, TierLimiter.name, Slim.name],
    })`);
  const statics = ['forIsolate', 'length', 'name', 'prototype', 'restore'];
  const decision = [
    ...['allowed', 'fallback', 'limit', 'limitName', 'limits', 'reason', 'remaining', 'resetMs'],
    ...['retryAfterMs', 'tier', 'windowMs'],
  ];
  assert.deepEqual(found, {
    instance: methods,
    statics,
    slim: methods,
    slimStatics: statics,
    client: ['allow', 'check', 'constructor', 'id', 'peek', 'refund', 'reserve', 'tier'],
    decision,
    known: decision,
    limit: ['limit', 'moreAfterMs', 'name', 'remaining', 'resetMs', 'retryAfterMs', 'windowMs'],
    reservation: ['allowed', 'cancel', 'constructor', 'decision', 'expiresAtMs', 'settle'],
    settlement: ['debt', 'outcome', 'returned'],
    shadow: [
      ...['bothAllow', 'bothDeny', 'clientClass', 'onlyLiveAllows', 'onlyShadowAllows', 'tier'],
    ],
    report: ['rejected', 'revision', 'warnings'],
    stats: [
      ...['allowed', 'assignments', 'buckets', 'bytes', 'clockRegressions', 'denied'],
      ...['evictedTokens', 'evictions', 'maxClients', 'revision', 'swept', 'tableFull'],
    ],
    policyError: ['code', 'column', 'line', 'message', 'name', 'path', 'problems', 'stack'],
    problem: ['code', 'column', 'line', 'message', 'path'],
    clockError: ['code', 'message', 'name', 'nowMs', 'stack', 'touchedMs'],
    classes: ['ClockError', 'PolicyError', 'TierLimiter', 'TierLimiter'],
  });
});

test('an instance of the module has these members, and its limiters these', async () => {
  const found = await valueOf(`
    import { createModule } from 'tierlimit/module';
    const module = createModule();
    const limiter = new module.TierLimiter('{"default":{"capacity":1,"refillPerSecond":1}}');
    ({ module: names(module), limiter: [...new Set([...names(limiter), ...names(Object.getPrototypeOf(limiter))])] })`);
  const { TierLimiter, ...rest } = Object.fromEntries(found.module.map((name) => [name, name]));
  assert.equal(TierLimiter, 'TierLimiter');
  // Emscripten makes the module of the object that it is given the bytes in.
  assert.deepEqual(
    Object.keys(rest).filter((name) => !/^_tierlimit_|^(ready|wasm)$/.test(name)),
    ['HEAPU8', 'broken'],
  );
  assert.deepEqual(
    found.module.filter((name) => name.startsWith('_')),
    ['allow', 'allow_many', 'answer', 'ask', 'batch_end', 'begin', 'memory', 'text'].map(
      (name) => `_tierlimit_${name}`,
    ),
  );
  assert.deepEqual(found.limiter, [
    ...['[Symbol.dispose]', 'allow', 'check', 'clearShadow', 'clearTier', 'constructor', 'delete'],
    ...['handle', 'isDeleted', 'peek', 'report', 'restore', 'seed', 'setPolicies'],
    ...['setShadowPolicies', 'setTier', 'shadowStats', 'snapshot', 'stats', 'tier', 'tierName'],
  ]);
});
