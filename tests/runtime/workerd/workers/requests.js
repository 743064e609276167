// Requests that meet in one isolate. How they come by the limiter is up to the caller.
import { instances } from './count-instances.js';

export const policies = { default: { capacity: 20, refillPerSecond: 0 } };

/** A promise that belongs to the request that made it. */
let kept;

/**
 * @param {typeof import('tierlimit').TierLimiter} TierLimiter
 * @param {() => import('tierlimit').TierLimiter} limiterOf
 * @returns {{ fetch(request: Request, env: any): Promise<Response> }}
 */
export const requests = (TierLimiter, limiterOf) => ({
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const times = Number(searchParams.get('times') ?? 1);
    const upstream = (path = '/') => env.UPSTREAM.fetch(`http://upstream${path}`);
    const take = () => {
      // One more limiter is no more of an instance.
      new TierLimiter({ policies }).dispose();
      const decisions = Array.from({ length: times }, () => limiterOf().check('acme'));
      return Response.json({
        admitted: decisions.filter(({ allowed }) => allowed).length,
        remaining: decisions.at(-1)?.remaining,
        instances: instances(),
      });
    };

    if (pathname === '/take') return take();
    if (pathname === '/wait-and-take') {
      await upstream();
      return take();
    }
    if (pathname === '/take-and-wait') {
      const answer = take();
      kept = upstream();
      await kept;
      return answer;
    }
    // Whether what belongs to another request is of any use to this one.
    const other = upstream('/at-once').then(() => 'not settled');
    return Response.json(await Promise.race([kept.then(() => 'settled'), other]));
  },
});
