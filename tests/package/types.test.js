// The types as users of TypeScript and of editors see them: compiled against, and asked for, through the installed
// tarball.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

import { makeProject } from './support/project.js';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** @type {import('./support/project.js').Project} */
let project;

before(async () => {
  project = await makeProject();
  project.copy('tests/package/consumer', '.');
});
after(() => project?.remove());

// ---- Compiling -------------------------------------------------------------------------------------------------------

const compilers = {
  'the oldest, 5.2': here('node_modules/typescript-5.2/lib/tsc.js'),
  5.9: here('node_modules/typescript/lib/tsc.js'),
  7: here('../../node_modules/typescript/bin/tsc'),
};

const typeRoots = [here('node_modules/@types')];
const workers = here('node_modules/@cloudflare/workers-types/index.d.ts');

// Where there are requests and responses.
const web = [
  ...['fetch.ts', 'express.ts', 'fastify.ts', 'hono.ts', 'websocket.ts', 'policies.ts'],
  'metrics.ts',
];

/** @type {Record<string, { compilers: (keyof typeof compilers)[], files?: string[], options: object }>} */
const settings = {
  'nodenext, with the types of Node.js and no DOM': {
    compilers: ['the oldest, 5.2', '5.9', 7],
    files: [...web, 'node.ts'],
    options: { module: 'nodenext', moduleResolution: 'nodenext', typeRoots, types: ['node'] },
  },
  'bundler, with the DOM': {
    compilers: ['the oldest, 5.2', '5.9', 7],
    files: web,
    options: { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
  },
  'bundler, with nothing but the language': {
    compilers: ['the oldest, 5.2', 7],
    options: { module: 'esnext', moduleResolution: 'bundler', types: [] },
  },
  // What these types themselves need is not in older compilers.
  'bundler, with the types of Cloudflare Workers': {
    compilers: ['5.9', 7],
    files: [workers, ...web],
    options: { module: 'esnext', moduleResolution: 'bundler', lib: ['esnext'], types: [] },
  },
};

for (const [setting, { compilers: names, files = [], options }] of Object.entries(settings)) {
  for (const name of names) {
    test(`TypeScript ${name}: a program compiles, ${setting}`, async () => {
      const config = `tsconfig.${Object.keys(settings).indexOf(setting)}.json`;
      project.write({
        [config]: JSON.stringify({
          compilerOptions: {
            target: 'es2022',
            lib: ['es2022'],
            strict: true,
            skipLibCheck: false,
            exactOptionalPropertyTypes: true,
            noUncheckedIndexedAccess: true,
            verbatimModuleSyntax: true,
            noEmit: true,
            ...options,
          },
          files: ['main.ts', ...files],
        }),
      });
      await project.run(process.execPath, [compilers[name], '--project', config]);
    });
  }
}

/** Programs in CommonJS, and the settings by which compilers find the package from there. */
const commonJs = {
  'a program in CommonJS compiles, nodenext': {
    file: 'main.cts',
    options: { module: 'nodenext', moduleResolution: 'nodenext' },
    text: "import tierlimit = require('tierlimit');\nimport slim = require('tierlimit/slim');\n",
    names: /** @type {const} */ (['5.9', 7]),
  },
  // Of the package it knows one entry only.
  'a program for older ways to find packages compiles, node10': {
    file: 'old.ts',
    options: { module: 'commonjs', moduleResolution: 'node10' },
    text: "import * as tierlimit from 'tierlimit';\n",
    names: /** @type {const} */ (['the oldest, 5.2', '5.9']),
  },
};
for (const [what, { file, options, text, names }] of Object.entries(commonJs)) {
  for (const name of names) {
    test(`TypeScript ${name}: ${what}`, async () => {
      project.write({
        [file]: `${text}export const limiter: tierlimit.TierLimiter = new tierlimit.TierLimiter({ policies: '{}' });\n`,
        'tsconfig.old.json': JSON.stringify({
          compilerOptions: { target: 'es2022', strict: true, noEmit: true, types: [], ...options },
          files: [file],
        }),
      });
      await project.run(process.execPath, [compilers[name], '--project', 'tsconfig.old.json']);
    });
  }
}

// ---- Names and descriptions --------------------------------------------------------------------------------------------

const problem = 'code column line message path';
const limiterMembers =
  'allow allowMany check client dispose peek promoteShadow refund rejected reserve revision setPolicies ' +
  'setShadowPolicies setTier shadowStats snapshot stats warnings [Symbol.dispose]';

/** What of each entry is there to be used, and its members. @type {Record<string, Record<string, string>>} */
const surface = {
  tierlimit: {
    Accrual: '',
    CheckOptions: 'cost tier',
    Client: 'allow check id peek refund reserve tier',
    ClientCheckOptions: 'cost',
    ClientReserveOptions: 'cost ttlMs',
    ClockError: 'code nowMs touchedMs',
    Decision:
      'allowed fallback limit limitName limits reason remaining resetMs retryAfterMs tier windowMs',
    Limit: 'algorithm name',
    LimitDecision: 'limit moreAfterMs name remaining resetMs retryAfterMs windowMs',
    LimitName: 'name',
    OnRaise: '',
    Policies: 'clients default tiers',
    // What all kinds of it have.
    Policy: 'algorithm',
    PolicyError: 'code column line path problems',
    PolicyProblem: problem,
    PolicyReport: 'rejected revision warnings',
    Refill: 'seconds tokens',
    Reservation: 'allowed cancel decision expiresAtMs settle',
    ReserveOptions: 'cost tier ttlMs',
    RestoreOptions: 'maxBytes maxClients now onClockBackward onFull strict sweep',
    SetTierOptions: 'onRaise',
    Settlement: 'debt outcome returned',
    SeveralLimits: 'accrual algorithm limits onRaise',
    ShadowCount: 'bothAllow bothDeny clientClass onlyLiveAllows onlyShadowAllows tier',
    TierLimiter: `${limiterMembers} static forIsolate static restore`,
    TierLimiterOptions: 'maxBytes maxClients now onClockBackward onFull policies seed strict sweep',
    TierLimiterStats:
      'allowed assignments buckets bytes clockRegressions denied evictedTokens evictions maxClients revision swept ' +
      'tableFull',
    TokenBucket: 'accrual algorithm capacity onRaise refill refillPerSecond',
    Window: 'algorithm limit windowSeconds',
  },
  'tierlimit/module': {
    CoreAsk: '',
    CoreClearTier: '',
    CoreClient: '',
    CoreDecision:
      'allowed error fallback limit limitName limits reason remaining resetMs retryAfterMs tier windowMs',
    CoreDecisionProblem: `${problem} value`,
    CoreLimiter:
      'allow check clearShadow clearTier delete handle isDeleted peek report restore seed setPolicies ' +
      'setShadowPolicies setTier shadowStats snapshot stats tier tierName',
    CoreLimiterClass: '',
    CoreLimitDecision: 'limit moreAfterMs name remaining resetMs retryAfterMs windowMs',
    CoreModule:
      'HEAPU8 TierLimiter _tierlimit_allow _tierlimit_allow_many _tierlimit_answer _tierlimit_ask ' +
      '_tierlimit_batch_end _tierlimit_begin _tierlimit_memory _tierlimit_text broken snapshot',
    CoreProblem: problem,
    CoreReport: 'changedMs errors rejected revision warnings',
    CoreSetTier: '',
    CoreStats: 'allowed assignments buckets bytes denied evictedTokens evictions swept tableFull',
    createModule: '',
  },
  'tierlimit/fetch': {
    DecisionAbout: 'client cost refused request tier',
    Extractor: '',
    FetchHandler: '',
    FetchOnlyOptions: 'address',
    FetchOptions:
      'address body client contentType cost counts headers isFailure limiter noClient onDecision onWarning preflight ' +
      'refundAborted shadow skip status tier',
    FetchVerdict:
      'abort client cost decision isHead refund refusal refused request settle tier write',
    HeaderOptions: 'legacy name partitionKey unit version wallNow',
    PeerAddress: '',
    RequestLimiter: 'check refund',
    RequestSource: 'address header method url',
    decider: '',
    exposedHeaders: '',
    headersFor: '',
    rateLimit: '',
    refusal: '',
  },
  'tierlimit/node': {
    DecisionAbout: 'client cost refused request tier',
    Extractor: '',
    HeaderOptions: 'legacy name partitionKey unit version wallNow',
    NodeOnlyOptions: 'onError',
    NodeOptions:
      'body client contentType cost counts headers isFailure limiter noClient onDecision onError onWarning ' +
      'preflight refundAborted shadow skip status tier',
    NodeRequest: 'headers method socket url',
    NodeResponse:
      'destroyed end getHeader headersSent once removeHeader setHeader statusCode stream writableFinished',
    NodeVerdict:
      'abort client cost decision isHead refund refusal refused request settle tier write',
    RequestLimiter: 'check refund',
    RequestSource: 'address header method url',
    decider: '',
    exposedHeaders: '',
    rateLimit: '',
    refuse: '',
    writeFields: '',
  },
  'tierlimit/express': {
    DecisionAbout: 'client cost refused request tier',
    Extractor: '',
    ExpressOnlyRequest: 'ip originalUrl rawHeaders',
    ExpressOptions:
      'body client contentType cost counts headers isFailure limiter noClient onDecision onWarning preflight ' +
      'refundAborted shadow skip status tier',
    ExpressRequest: 'headers ip method originalUrl rawHeaders socket url',
    ExpressResponse:
      'destroyed end getHeader headersSent once removeHeader setHeader statusCode stream writableFinished',
    HeaderOptions: 'legacy name partitionKey unit version wallNow',
    RequestLimiter: 'check refund',
    RequestSource: 'address header method url',
    exposedHeaders: '',
    rateLimit: '',
  },
  'tierlimit/fastify': {
    DecisionAbout: 'client cost refused request tier',
    Extractor: '',
    FastifyHook: '',
    FastifyInstance: 'addHook',
    FastifyOptions:
      'body client contentType cost counts headers isFailure limiter noClient onDecision onWarning preflight ' +
      'refundAborted shadow skip status tier',
    FastifyReply: 'code getHeader header raw removeHeader send',
    FastifyRequest: 'ip raw routeOptions',
    HeaderOptions: 'legacy name partitionKey unit version wallNow',
    RequestLimiter: 'check refund',
    RequestSource: 'address header method url',
    exposedHeaders: '',
    rateLimit: '',
  },
  'tierlimit/hono': {
    DecisionAbout: 'client cost refused request tier',
    Extractor: '',
    HeaderOptions: 'legacy name partitionKey unit version wallNow',
    HonoContext: 'env finalized req res',
    HonoOnlyOptions: 'address',
    HonoOptions:
      'address body client contentType cost counts headers isFailure limiter noClient onDecision onWarning preflight ' +
      'refundAborted shadow skip status tier',
    HonoRequest: 'header method raw url',
    RequestLimiter: 'check refund',
    RequestSource: 'address header method url',
    exposedHeaders: '',
    rateLimit: '',
  },
  'tierlimit/websocket': {
    AnySocket: 'bufferedAmount close send',
    ConnectionExtractor: '',
    EmitterSocket: 'bufferedAmount close off on send',
    MessageConnection: 'admits check client wrap',
    MessageCost: '',
    MessageDecisionAbout: 'client cost message refused tier',
    MessageHandle: 'check',
    MessageLimiter: 'check client',
    MessageLimitOptions:
      'client closeCode cost limiter noClient onDecision onRefusal onWarning shadow tier',
    MessageListener: '',
    MessageRefusal: '',
    MessageVerdict: 'allowed client cost decision reason retryAfterMs',
    RequestSource: 'address header method url',
    TargetSocket: 'addEventListener bufferedAmount close removeEventListener send',
    byBytes: '',
    messageLimit: '',
  },
  'tierlimit/clients': {
    AddressOptions: 'header hops prefix4 prefix6 trusted',
    ApiKeyOptions: 'header isKnown scheme',
    ClientExtractor: 'kind',
    CloudflareOptions: 'prefix4 prefix6 trusted',
    PathOptions: 'caseSensitive',
    RequestSource: 'address header method url',
    address: '',
    apiKey: '',
    claim: '',
    cloudflare: '',
    every: '',
    firstOf: '',
    header: '',
    named: '',
    path: '',
  },
  'tierlimit/policies': {
    FollowOptions: 'documents limiter onApplied onRefused signal timeoutMs wallNow',
    FollowedSource: 'close done status [Symbol.dispose]',
    KvNamespace: 'get getWithMetadata',
    LookOutcome: '',
    PolicyDocument: '',
    PolicySource: 'close status [Symbol.dispose]',
    PolicyTarget: 'setPolicies',
    PollKvOptions:
      'intervalMs key limiter maxBytes namespace now onApplied onRefused signal timeoutMs wallNow',
    PollOptions: 'from intervalMs limiter now onApplied onRefused read signal timeoutMs wallNow',
    PollUrlOptions:
      'fetch headers intervalMs limiter maxBytes now onApplied onRefused signal timeoutMs url wallNow',
    PolledSource: 'close refresh status [Symbol.dispose]',
    ReadContext: 'signal version',
    SourceOptions: 'limiter onApplied onRefused signal timeoutMs wallNow',
    SourceStatus:
      'appliedAtMs from readAtMs refused rejected revision state unreadable version warnings',
    SourceTrouble: 'error sinceMs times',
    VersionedDocument: 'document version',
    follow: '',
    poll: '',
    pollKv: '',
    pollUrl: '',
  },
  'tierlimit/policies/file': {
    LookOutcome: '',
    PolicySource: 'close status [Symbol.dispose]',
    PolicyTarget: 'setPolicies',
    SourceOptions: 'limiter onApplied onRefused signal timeoutMs wallNow',
    SourceStatus:
      'appliedAtMs from readAtMs refused rejected revision state unreadable version warnings',
    SourceTrouble: 'error sinceMs times',
    WatchFileOptions:
      'limiter maxBytes onApplied onRefused path persistent pollMs settleMs signal timeoutMs wallNow',
    WatchedFile: 'close refresh status [Symbol.dispose]',
    watchFile: '',
  },
  'tierlimit/metrics': {
    Meter:
      'addBatchObservableCallback createHistogram createObservableCounter createObservableGauge ' +
      'removeBatchObservableCallback',
    MetricsOptions: 'limiter maxLimits maxTiers retryAfterBoundsSeconds source',
    OtelMetrics: 'close record',
    OtelOptions:
      'attributes limiter maxLimits maxTiers meter remainingBounds retryAfterBoundsSeconds source',
    PrometheusMetrics: 'labels record',
    PrometheusOptions:
      'labels limiter maxLimits maxTiers remainingBounds retryAfterBoundsSeconds source',
    otelMetrics: '',
    prometheusContentType: '',
    prometheusMetrics: '',
    prometheusText: '',
  },
};
// Not what the class is over, but what it does is the same, and so are the types that it deals in.
surface['tierlimit/slim'] = {
  ...surface.tierlimit,
  LimiterClass: `${limiterMembers} static forIsolate static restore`,
  withModule: '',
};
delete surface['tierlimit/slim'].TierLimiter;

/** @param {string} members */
const listed = (members) =>
  (members === '' ? [] : members.replace(/\bstatic /g, 'static:').split(' ')).toSorted();

const options = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  types: [],
};

/** A language service, as editors have it, over files that may be written and written anew. */
function languageService() {
  /** @type {Map<string, string>} */
  const written = new Map();
  let version = 0;
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...written.keys()],
    getScriptVersion: (path) => (written.has(path) ? String(version) : '0'),
    getScriptSnapshot: (path) => {
      const text = written.get(path) ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => project.folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => written.has(path) || ts.sys.fileExists(path),
    readFile: (path) => written.get(path) ?? ts.sys.readFile(path),
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  return {
    service,
    /** @param {string} path @param {string} text */
    write(path, text) {
      version += 1;
      written.set(path, text);
    },
  };
}

/**
 * The name by which a member is listed.
 * @param {ts.Symbol} symbol
 */
function nameOf(symbol) {
  const name = symbol.getName();
  return name.startsWith('__@dispose') ? '[Symbol.dispose]' : name;
}

/**
 * Whether the package declares it, and not the language.
 * @param {ts.Symbol} symbol
 */
const isOurs = (symbol) =>
  symbol.declarations?.some((it) =>
    it.getSourceFile().fileName.includes('/node_modules/tierlimit/'),
  ) ?? false;

/**
 * What an entry exports, each with its members.
 * @param {string} entry
 * @returns {Record<string, { symbol: ts.Symbol, members: Record<string, ts.Symbol> }>}
 */
function exportsOf(entry) {
  const { service, write } = languageService();
  const path = project.at('names.ts');
  write(path, `import * as it from '${entry}';\nexport { it };\n`);
  const program = /** @type {ts.Program} */ (service.getProgram());
  const checker = program.getTypeChecker();
  const [statement] = /** @type {ts.SourceFile} */ (program.getSourceFile(path)).statements;
  const module = checker.getSymbolAtLocation(
    /** @type {ts.ImportDeclaration} */ (statement).moduleSpecifier,
  );
  assert.notEqual(module, undefined, `${entry} has no types`);
  return Object.fromEntries(
    checker.getExportsOfModule(/** @type {ts.Symbol} */ (module)).map((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      /** @type {Record<string, ts.Symbol>} */
      const members = {};
      const add = (/** @type {ts.Type} */ type, prefix = '') => {
        for (const member of type.getProperties()) {
          if (isOurs(member) && !/#|^prototype$/.test(member.getName()))
            members[prefix + nameOf(member)] = member;
        }
      };
      if (symbol.flags & ts.SymbolFlags.Type) {
        const type = checker.getDeclaredTypeOfSymbol(symbol);
        const [made] = type.getConstructSignatures();
        if (made === undefined) add(type);
        else if (symbol.getName() === 'LimiterClass') {
          add(made.getReturnType());
          add(type, 'static:');
        }
      }
      if (symbol.flags & ts.SymbolFlags.Class) {
        add(checker.getTypeOfSymbol(symbol), 'static:');
      }
      return [exported.getName(), { symbol, members }];
    }),
  );
}

/** Classes whose instances others make. */
const onlyTypes =
  /^(Client|MessageConnection|Reservation|(Policy|Polled|Followed)Source|WatchedFile|\w+Metrics)$/;

for (const entry of Object.keys(surface)) {
  test(`${entry}: its names and their members are these`, () => {
    const actual = Object.entries(exportsOf(entry)).map(([name, { members }]) => [
      name,
      Object.keys(members).toSorted(),
    ]);
    const expected = Object.entries(surface[entry]).map(([name, members]) => [
      name,
      listed(members),
    ]);
    assert.deepEqual(Object.fromEntries(actual), Object.fromEntries(expected));
  });

  test(`${entry}: an editor has words for each name, member and parameter`, () => {
    const { service, write } = languageService();
    const path = project.at('probe.ts');
    // A line for each thing that somebody may point at; what is pointed at stands behind the mark.
    const lines = [];
    for (const [name, { symbol, members }] of Object.entries(exportsOf(entry))) {
      const isType = (symbol.flags & ts.SymbolFlags.Type) !== 0;
      const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0 && !onlyTypes.test(name);
      const isValue = isClass || !isType;
      lines.push(isValue ? `it./*?*/${name};` : `type T${lines.length} = it./*?*/${name};`);
      if (isClass) lines.push(`new it./*?*/${name}(0 as never);`);
      const instance = name === 'LimiterClass' ? `InstanceType<it.${name}>` : `it.${name}`;
      for (const member of Object.keys(members)) {
        if (member.startsWith('static:')) {
          const holder = isClass ? `it.${name}` : `(0 as unknown as it.${name})`;
          lines.push(`${holder}./*?*/${member.slice('static:'.length)};`);
        } else if (!member.startsWith('[')) {
          lines.push(`(0 as unknown as ${instance})./*?*/${member};`);
        }
      }
    }
    const text = `import * as it from '${entry}';\n${lines.join('\n')}\n`;
    write(path, text);
    const missing = [];
    for (const { index } of text.matchAll(/\/\*\?\*\//g)) {
      const at = index + '/*?*/'.length;
      const line = text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at));
      const info = service.getQuickInfoAtPosition(path, at);
      const words = ts.displayPartsToString(info?.documentation);
      const tags = info?.tags ?? [];
      const shown = ts.displayPartsToString(info?.displayParts);
      if (words.length < 10) missing.push(`${line}: no description`);
      if (/@(typedef|property|import)\b/.test(words)) missing.push(`${line}: ${words}`);
      if (/\bany\b/.test(shown)) missing.push(`${line}: ${shown}`);
      if (/\b(HotPath|Decider|CoreModule)\b/.test(shown) && entry !== 'tierlimit/module') {
        missing.push(`${line} shows what is internal: ${shown}`);
      }
      if (!/^(\(method\)|constructor|function|const createModule)/.test(shown)) continue;
      if (!tags.some(({ name }) => name === 'example') && !/Error\(/.test(line)) {
        missing.push(`${line}: no example`);
      }
      const documented = tags
        .filter(({ name }) => name === 'param')
        .map(({ text: parts }) => ts.displayPartsToString(parts))
        .filter((param) => /^\w+ \S/.test(param));
      // A parameter of a parameter is not one of its own.
      const signature = /\((.*)\): /s.exec(shown.replace(/^\(method\) /, ''))?.[1] ?? '';
      const parameters = signature === '' ? [] : signature.split(/, (?=\w+\??: )/);
      if (documented.length < parameters.length) {
        missing.push(`${line}: ${documented.length} of the parameters ${signature} are described`);
      }
    }
    assert.deepEqual(missing, []);
  });
}

test('what is private is in no declaration', () => {
  const text = ['index', 'slim', 'limiter', 'client', 'reservation', 'errors', 'types']
    .map((name) =>
      readFileSync(project.at(`node_modules/tierlimit/js/dist/types/${name}.d.ts`), 'utf8'),
    )
    .join('\n');
  for (const word of [
    '@internal',
    '@typedef',
    '@import',
    'HotPath',
    'Decider',
    'coreOf',
    'kindOf',
    'checkNumber',
    'CoreModule',
  ]) {
    assert.ok(!text.includes(word), word);
  }
});
