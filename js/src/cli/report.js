/** The result of a simulation: what `--json` prints, and what the text is made from. */

/** @import { TierLimiter } from '../index.js' */
/** @import { PolicyProblem } from '../types.js' */
/** @import { ReadCounts } from './request-stream.js' */
/** @import { Settings } from './simulate.js' */
/** @import { Tally } from './tally.js' */
/** @import { TimeOrder } from './time-order.js' */
/** @import { Timeline } from './timeline.js' */

/** A terminal page, less the rest of the report. */
const MAX_BUCKETS = 24;

/**
 * @param {object} run
 * @param {Settings} run.settings
 * @param {readonly PolicyProblem[]} run.problems
 * @param {readonly PolicyProblem[]} run.warnings
 * @param {ReadCounts} run.read
 * @param {TimeOrder} run.order
 * @param {Tally} run.tally
 * @param {Timeline} run.timeline
 * @param {TierLimiter} run.limiter
 */
export function makeReport({
  settings,
  problems,
  warnings,
  read,
  order,
  tally,
  timeline,
  limiter,
}) {
  const { bucketSeconds, buckets } = timeline.rows(MAX_BUCKETS);
  const { evictions, evictedTokens } = limiter.stats();
  return {
    format: 1,
    policies: settings.policies,
    logs: settings.logs,
    client: settings.client,
    cost: settings.cost,
    rejected: problems,
    warnings,
    lines: {
      total: read.lines,
      blank: read.blank,
      unparseable: read.unparseable,
      withoutClient: read.withoutClient,
      outOfOrder: read.outOfOrder,
      maxOutOfOrderSeconds: read.maxOutOfOrderSeconds,
      reorderSeconds: settings.reorderSeconds,
      late: order.late,
      maxLateSeconds: order.maxLateSeconds,
    },
    unparseable: read.samples,
    firstEpochMs: epochMs(read.earliestSeconds),
    lastEpochMs: epochMs(read.latestSeconds),
    requests: tally.admitted + tally.denied,
    admitted: tally.admitted,
    denied: tally.denied,
    deniedBy: Object.fromEntries(tally.deniedBy),
    tiers: tally.tiers().map(({ tier, fallback, clients, admitted, denied }) => ({
      tier,
      fallback,
      clients,
      requests: admitted + denied,
      admitted,
      denied,
    })),
    clients: {
      total: tally.clientCount,
      forgotten: tally.forgottenClients,
      deniedMissedAtMost: tally.deniedMissedAtMost,
      mostLimited: tally
        .mostLimited(settings.top)
        .map(({ client, tier: { tier, fallback }, admitted, denied, exact }) => ({
          client,
          tier,
          fallback,
          requests: admitted + denied,
          admitted,
          denied,
          exact,
        })),
    },
    limiter: { maxClients: settings.maxClients, evictions, evictedTokens },
    timeline: {
      bucketSeconds,
      buckets: buckets.map(({ startSeconds, admitted, denied }) => ({
        startEpochMs: startSeconds * 1000,
        admitted,
        denied,
      })),
    },
  };
}

/** @typedef {ReturnType<typeof makeReport>} Report */

/** @param {number} seconds - not finite when there was no request */
function epochMs(seconds) {
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
