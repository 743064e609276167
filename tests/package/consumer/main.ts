// A program of a user of TypeScript. It is compiled and not run: what it says of the types must be so, and what is marked
// as an error must be one.
import { ClockError, PolicyError, TierLimiter } from 'tierlimit';
import type {
  Accrual,
  CheckOptions,
  Client,
  ClientCheckOptions,
  ClientReserveOptions,
  Decision,
  Limit,
  LimitDecision,
  OnRaise,
  Policies,
  Policy,
  PolicyProblem,
  PolicyReport,
  Refill,
  Reservation,
  ReserveOptions,
  SetTierOptions,
  Settlement,
  SeveralLimits,
  ShadowCount,
  TierLimiterOptions,
  TierLimiterStats,
  TokenBucket,
  Window,
} from 'tierlimit';
import * as clients from 'tierlimit/clients';
import type { AddressOptions, ClientExtractor, RequestSource } from 'tierlimit/clients';
import { createModule } from 'tierlimit/module';
import type { CoreDecision, CoreLimiter, CoreModule, CoreReport } from 'tierlimit/module';
import * as slim from 'tierlimit/slim';
import type { LimiterClass } from 'tierlimit/slim';

/** Compiles where the two types are the same, `any` being the same as nothing else. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._yes: Same<A, B> extends true ? [] : ['not the same']) {}

const refill: Refill = { tokens: 100, seconds: 60 };
const pro: Policy = { capacity: 100, refill, algorithm: 'token-bucket' };
const policies: Policies = {
  default: { capacity: 5, refillPerSecond: 1 },
  tiers: { pro },
  clients: { acme: 'pro' },
};
const onRaise: OnRaise = 'proportional';
const accrual: Accrual = 'prorated';
const bucket: TokenBucket = { capacity: 100, refill, onRaise, accrual };
const window: Window = { algorithm: 'sliding-window', limit: 100, windowSeconds: 60 };
const limit: Limit = { name: 'burst', ...bucket };
const several: SeveralLimits = { onRaise: 'fill', limits: [limit, { name: 'minute', ...window }] };
const windows: Policy = {
  algorithm: 'fixed-window',
  limits: [{ name: 'day', limit: 5, windowSeconds: 86400 }],
};
const all: Record<string, Policy> = { bucket, window, several, windows };
new TierLimiter({ policies: { default: bucket, tiers: all } });
// @ts-expect-error a window has a length
new TierLimiter({ policies: { default: { algorithm: 'sliding-window', limit: 5 } } });
// @ts-expect-error a window says which
new TierLimiter({ policies: { default: { limit: 5, windowSeconds: 5 } } });
// @ts-expect-error a limit among several has a name
new TierLimiter({ policies: { default: { limits: [bucket] } } });
// @ts-expect-error there is no such mode
new TierLimiter({ policies: { default: { capacity: 1, refill, onRaise: 'double' } } });
const options: TierLimiterOptions = {
  policies,
  now: () => 0,
  onClockBackward: 'hold',
  maxClients: 100,
  maxBytes: 1e6,
  onFull: 'deny',
  strict: true,
  sweep: false,
  seed: new Uint8Array(16),
};
const limiter = new TierLimiter(options);
new TierLimiter({ policies: '{}' });
// @ts-expect-error policies are required
new TierLimiter({});
// @ts-expect-error options are required
new TierLimiter();
// @ts-expect-error there is no such option
new TierLimiter({ policies, polices: policies });
// @ts-expect-error there is no such choice
new TierLimiter({ policies, onFull: 'wait' });
// @ts-expect-error a policy has a capacity
new TierLimiter({ policies: { default: { refillPerSecond: 1 } } });
same<ConstructorParameters<typeof TierLimiter>, [options: TierLimiterOptions]>();

same<boolean, ReturnType<TierLimiter['allow']>>();
limiter.allow('acme');
limiter.allow('acme', 5, null);
// @ts-expect-error a client is a string
limiter.allow(5);
// @ts-expect-error a cost is a number
limiter.allow('acme', '5');

const check: CheckOptions = { cost: 5, tier: 'pro' };
const decision: Decision = limiter.check('acme', check);
same<Decision, ReturnType<TierLimiter['check']>>();
same<Decision, ReturnType<TierLimiter['peek']>>();
same<number | null, Decision['retryAfterMs']>();
same<null | 'no-tier' | 'unknown-tier' | 'invalid-tier-policy', Decision['fallback']>();
// @ts-expect-error it may be null
decision.retryAfterMs.toFixed();
same<LimitDecision[], Decision['limits']>();
for (const { name, remaining } of decision.limits) name.at(remaining);
if (decision.reason === 'exhausted') limiter.peek('acme', { cost: 1 });
// @ts-expect-error there is no such reason
if (decision.reason === 'tired') limiter.peek('acme');
// @ts-expect-error there is no such option
limiter.check('acme', { costs: 5 });

same<boolean[], ReturnType<TierLimiter['allowMany']>>();
limiter.allowMany(['acme', 'globex'] as const, 1, 'pro');

const report: PolicyReport = limiter.setPolicies(policies);
same<PolicyReport, ReturnType<TierLimiter['setPolicies']>>();
const problems: readonly PolicyProblem[] = [
  ...report.rejected,
  ...limiter.rejected,
  ...limiter.warnings,
];
same<number, TierLimiter['revision']>();
limiter.setTier('acme', 'pro');
limiter.setTier('acme', null);
const tierOptions: SetTierOptions = { onRaise };
limiter.setTier('acme', 'pro', tierOptions);
// @ts-expect-error there is no such mode
limiter.setTier('acme', 'pro', { onRaise: 'double' });

same<void, ReturnType<TierLimiter['refund']>>();
limiter.refund('acme', 3, 'pro');
const reserveOptions: ReserveOptions = { cost: 5, ttlMs: 1000, tier: null };
const reservation: Reservation = limiter.reserve('acme', reserveOptions);
same<Reservation, ReturnType<TierLimiter['reserve']>>();
same<Decision, Reservation['decision']>();
same<boolean, Reservation['allowed']>();
same<number, Reservation['expiresAtMs']>();
const settlement: Settlement = reservation.settle(3);
same<Settlement, ReturnType<Reservation['cancel']>>();
if (settlement.outcome === 'already-settled') settlement.debt.toFixed();
// @ts-expect-error the actual cost is said
reservation.settle();

same<PolicyReport, ReturnType<TierLimiter['setShadowPolicies']>>();
limiter.setShadowPolicies(policies);
limiter.setShadowPolicies(null);
same<ShadowCount[], ReturnType<TierLimiter['shadowStats']>>();
same<PolicyReport, ReturnType<TierLimiter['promoteShadow']>>();
// @ts-expect-error null is said, not left out
limiter.setTier('acme');

const client: Client = limiter.client('acme', 'pro');
const known: ClientCheckOptions = { cost: 2 };
same<boolean, ReturnType<Client['allow']>>();
same<Decision, ReturnType<Client['check']>>();
client.peek(known).remaining.toFixed();
const forClient: ClientReserveOptions = { cost: 5, ttlMs: 1000 };
same<Reservation, ReturnType<Client['reserve']>>();
client.reserve(forClient).cancel();
client.refund(2);
// @ts-expect-error it has its tier already
client.check({ tier: 'pro' });
// @ts-expect-error it has its name for good
client.id = 'globex';

const stats: TierLimiterStats = limiter.stats();
same<TierLimiterStats, ReturnType<TierLimiter['stats']>>();
same<void, ReturnType<TierLimiter['dispose']>>();
const shared: TierLimiter = TierLimiter.forIsolate('api', { policies });
same<void, ReturnType<TierLimiter[typeof Symbol.dispose]>>();
{
  using scoped = new TierLimiter({ policies });
  scoped.allow('acme');
}

try {
  limiter.setPolicies('{');
} catch (error) {
  if (error instanceof PolicyError) same<readonly PolicyProblem[], typeof error.problems>();
  if (error instanceof PolicyError) same<number | null, typeof error.line>();
  if (error instanceof ClockError) same<number, typeof error.touchedMs>();
}

class Mine extends TierLimiter {
  twice(name: string) {
    return this.allow(name) && this.allow(name);
  }
}
new Mine({ policies }).twice('acme');

const Slim: LimiterClass = slim.withModule(new Uint8Array(8)).TierLimiter;
same<{ TierLimiter: LimiterClass }, ReturnType<typeof slim.withModule>>();
const slimLimiter = new Slim({ policies });
same<boolean, ReturnType<typeof slimLimiter.allow>>();
// @ts-expect-error what is no object is no module
slim.withModule('core.wasm');
// @ts-expect-error a promise is to be awaited first
slim.withModule(Promise.resolve(new Uint8Array(8)));
slim.ClockError satisfies typeof ClockError;
slim.PolicyError satisfies typeof PolicyError;

const module: CoreModule = createModule();
same<CoreModule, ReturnType<typeof createModule>>();
const core: CoreLimiter = new module.TierLimiter('{}');
new module.TierLimiter('{}', 100, 1e6, false, false, true);
// @ts-expect-error all options or none
new module.TierLimiter('{}', 100);
const coreReport: CoreReport = core.report();
const answer: CoreDecision = core.check('acme', 1, 0, 'pro');
same<boolean | null, ReturnType<CoreLimiter['allow']>>();
// @ts-expect-error the time is the caller's
core.allow('acme', 1);
core.setPolicies('{}', 0);
core.setTier('acme', 'pro', 1, 0);
// @ts-expect-error both or neither
core.setTier('acme', 'pro', 1);
module._tierlimit_allow(core.handle(), 4, 1, 2, 3, 4, 5, 6, -1, 1, 0).toFixed();

export { answer, coreReport, problems, shared, stats };

const behindProxies: AddressOptions = { trusted: ['loopback', '10.0.0.0/8'] as const, prefix6: 56 };
const byAddress: ClientExtractor = clients.address(behindProxies);
const claims = (request: { auth?: { sub: string } }) => request.auth;
const bySubject: ClientExtractor<{ auth?: { sub: string } }> = clients.claim(claims);
const byAny = clients.firstOf(
  bySubject,
  clients.apiKey({ isKnown: (key) => key !== '' }),
  byAddress,
);
same<ClientExtractor<{ auth?: { sub: string } }>, typeof byAny>();
same<string | null, ReturnType<typeof byAny>>();
const byRoute = clients.named(
  'route',
  (request: { route: string }, { url }) => request.route + url,
);
const source: RequestSource = { header: () => null, address: '::1', method: 'GET', url: '/' };
clients
  .every(byRoute, clients.path({ caseSensitive: true }))({ route: '/' }, source)
  ?.at(0);
// @ts-expect-error a function of one's own has a kind
clients.firstOf((request: unknown) => 'ada', clients.cloudflare());
// @ts-expect-error a request has no route
byRoute({}, source);
// @ts-expect-error there is no such option
clients.address({ hop: 1 });
// @ts-expect-error a number is no name
clients.header(7);
// @ts-expect-error what finds a client does it at once
clients.named('user', async () => 'ada');
