// A program of a user of TypeScript whose policies come from elsewhere: as main.ts, it is compiled and not run.
import { TierLimiter } from 'tierlimit';
import type { PolicyReport } from 'tierlimit';
import { follow, poll, pollKv, pollUrl } from 'tierlimit/policies';
import type {
  FollowedSource,
  KvNamespace,
  LookOutcome,
  PolicyDocument,
  PolicySource,
  PolicyTarget,
  PollUrlOptions,
  PolledSource,
  ReadContext,
  SourceOptions,
  SourceStatus,
  VersionedDocument,
} from 'tierlimit/policies';
import { watchFile } from 'tierlimit/policies/file';
import type { WatchedFile, WatchFileOptions } from 'tierlimit/policies/file';

const limiter = new TierLimiter({ policies: { default: { capacity: 5, refillPerSecond: 1 } } });
const later: PolicyTarget = { setPolicies: async (policies) => limiter.setPolicies(policies) };
const shared: SourceOptions = {
  limiter: later,
  onApplied: (report: PolicyReport, { version }: SourceStatus) =>
    report.rejected.length > 0 && version,
  onRefused: (error: Error, { refused, unreadable }) => (refused ?? unreadable)?.sinceMs.toFixed(),
  timeoutMs: 5000,
  signal: new AbortController().signal,
  wallNow: Date.now,
};
const byUrl: PollUrlOptions = {
  ...shared,
  url: new URL('https://config.example/policies.json'),
  headers: { authorization: 'Bearer 5' },
  intervalMs: 10_000,
  now: () => performance.now(),
};
const polled: PolledSource = pollUrl(byUrl);
pollUrl({ limiter, url: 'https://config.example/', headers: new Headers() });
const outcome: Promise<LookOutcome> = polled.refresh();
polled.refresh({ waitUntil: (promise: Promise<unknown>) => void promise });

const namespace: KvNamespace = { get: async () => null };
pollKv({ limiter, namespace, key: 'policies' }).close();
const read = async ({ signal, version }: ReadContext): Promise<VersionedDocument | null> =>
  signal.aborted ? null : { document: new Uint8Array(), version };
const source: PolicySource = poll({ limiter, read, from: 'a table' });
const state: 'open' | 'ended' | 'failed' | 'closed' = source.status().state;

async function* documents(): AsyncGenerator<PolicyDocument> {
  yield '{}';
  yield { default: { capacity: 5, refillPerSecond: 1 } };
}
const followed: FollowedSource = follow({ limiter, documents: documents() });
const done: Promise<void> = followed.done;

const options: WatchFileOptions = { limiter, path: 'policies.json', pollMs: null, settleMs: 10 };
const file: WatchedFile = watchFile(options);
const looked: Promise<LookOutcome> = file.refresh();

// @ts-expect-error there is no such option
pollUrl({ limiter, url: 'https://config.example/', interval: 5 });
// @ts-expect-error a limiter takes documents
follow({ limiter: {}, documents: documents() });
// @ts-expect-error a list is no iterator of what comes
follow({ limiter, documents: ['{}'] });
// @ts-expect-error what is read comes later
poll({ limiter, read: () => '{}' });
// @ts-expect-error it has its own watchers to ask
followed.refresh();

export { done, looked, outcome, state };
