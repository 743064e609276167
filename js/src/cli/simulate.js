/** `tierlimit simulate`: replays access logs through a limiter, by the logs' own time. */

import { stat } from 'node:fs/promises';
import { FileError, UsageError } from './errors.js';
import { parseOptions, wholeNumber } from './options.js';
import { print } from './output.js';
import { describe, loadPolicies, readPolicies } from './policy-file.js';
import { Progress } from './progress.js';
import { reportText } from './report-text.js';
import { CLIENT_FIELDS, ReadCounts, mergeByTime, readRequests } from './request-stream.js';
import { makeReport } from './report.js';
import { Tally } from './tally.js';
import { displayName, json } from './text.js';
import { TierRules } from './tier-rules.js';
import { TimeOrder } from './time-order.js';
import { Timeline } from './timeline.js';

/** Memory for buckets: a bound for a tool that runs by itself, not a share of an isolate's. */
const MAX_BYTES = 1024 * 1024 * 1024;

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit status: 0 replayed, 1 the policies or all of the lines were refused
 */
export async function simulate(args) {
  const settings = parseSettings(args);
  const totalBytes = await sizeOf(settings.logs);

  let nowMs = 0;
  const { limiter, problems, warnings } = loadPolicies(await readPolicies(settings.policies), {
    now: () => nowMs,
    strict: settings.strict,
    maxClients: settings.maxClients,
    maxBytes: MAX_BYTES,
  });
  for (const problem of problems) console.error(describe(settings.policies, 'error', problem));
  for (const warning of warnings) console.error(describe(settings.policies, 'warning', warning));
  if (limiter === null) return 1;

  const read = new ReadCounts();
  const tally = new Tally(settings.countClients);
  const timeline = new Timeline();
  const order = new TimeOrder(settings.reorderSeconds, (client, seconds) => {
    nowMs = seconds * 1000;
    const tier = settings.rules.tierOf(client);
    const decision = limiter.check(client, { cost: settings.cost, tier });
    tally.count(client, decision);
    timeline.count(seconds, decision.allowed);
  });

  const progress = new Progress(process.stderr, totalBytes);
  try {
    const logs = settings.logs.map((log) => readRequests(log, settings.client, read));
    for await (const requests of mergeByTime(logs)) {
      for (const request of requests) order.add(request);
      progress.update(read);
    }
    order.end();
  } finally {
    progress.end();
  }

  const report = makeReport({
    settings,
    problems,
    warnings,
    read,
    order,
    tally,
    timeline,
    limiter,
  });
  limiter.dispose();
  print(settings.json ? json(report) : reportText(report, terminal()));
  return read.unparseable > 0 && tally.admitted + tally.denied === 0 ? 1 : 0;
}

/** What standard output can show. Colours are for a terminal only, and not where NO_COLOR is set. */
function terminal() {
  const { stdout } = process;
  // A terminal that does not know its size says 0 columns.
  return { width: stdout.columns || 80, color: stdout.isTTY && stdout.hasColors() };
}

/** @typedef {ReturnType<typeof parseSettings>} Settings */

/** @param {string[]} args */
function parseSettings(args) {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      policies: { type: 'string', short: 'p' },
      strict: { type: 'boolean', default: false },
      client: { type: 'string', default: 'host' },
      tier: { type: 'string' },
      assign: { type: 'string', multiple: true, default: [] },
      cost: { type: 'string', default: '1' },
      'reorder-seconds': { type: 'string', default: '60' },
      'max-clients': { type: 'string', default: '1000000' },
      'count-clients': { type: 'string', default: '100000' },
      top: { type: 'string', default: '10' },
      json: { type: 'boolean', default: false },
    },
  });
  const { policies, tier, assign } = values;
  if (policies === undefined) throw new UsageError('--policies FILE is needed');
  const client = CLIENT_FIELDS.find((field) => field === values.client);
  if (client === undefined) {
    throw new UsageError(`--client takes ${CLIENT_FIELDS.join(', ')}, not '${values.client}'`);
  }
  if (positionals.length === 0 && process.stdin.isTTY) {
    throw new UsageError('an access log is needed, as a file or on standard input');
  }
  const logs = positionals.length === 0 ? ['-'] : positionals;
  if ([policies, ...logs].filter((path) => path === '-').length > 1) {
    throw new UsageError('standard input can be read once only');
  }
  return {
    policies,
    logs,
    client,
    rules: new TierRules(assign, tier),
    strict: values.strict,
    cost: wholeNumber('--cost', values.cost, 1, Number.MAX_SAFE_INTEGER),
    reorderSeconds: wholeNumber('--reorder-seconds', values['reorder-seconds'], 0, 86400),
    maxClients: wholeNumber('--max-clients', values['max-clients'], 8, 100_000_000),
    countClients: wholeNumber('--count-clients', values['count-clients'], 2, 10_000_000),
    top: values.top === 'all' ? Infinity : wholeNumber('--top', values.top, 0, 10_000_000),
    json: values.json,
  };
}

/**
 * How much there is to read, so that a name that cannot be read is told before the work begins.
 *
 * @param {string[]} logs
 * @returns {Promise<number | null>} null when a log is not a plain file
 */
async function sizeOf(logs) {
  let total = 0;
  let known = true;
  for (const log of logs) {
    if (log === '-') {
      known = false;
      continue;
    }
    try {
      const file = await stat(log);
      if (file.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
      known &&= file.isFile();
      total += file.size;
    } catch (error) {
      throw new FileError(displayName(log), error);
    }
  }
  return known ? total : null;
}
