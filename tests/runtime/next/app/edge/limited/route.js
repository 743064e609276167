import { TierLimiter } from 'tierlimit';

export const runtime = 'edge';
export const dynamic = 'force-dynamic';

const limiter = TierLimiter.forIsolate('api', {
  policies: { default: { capacity: 3, refillPerSecond: 0 } },
});

export function GET(request) {
  const client = new URL(request.url).searchParams.get('client') ?? 'nobody';
  const { allowed, remaining } = limiter.check(client);
  return Response.json({ remaining }, { status: allowed ? 200 : 429 });
}
