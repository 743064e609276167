import { TierLimiter } from 'tierlimit';
import { header } from 'tierlimit/clients';
import { rateLimit } from 'tierlimit/fetch';

export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

const limiter = new TierLimiter({ policies: { default: { capacity: 2, refillPerSecond: 0 } } });
const limited = rateLimit({ limiter, client: header('x-api-key') });

export const GET = limited((request) => Response.json(request.nextUrl.pathname));
