import { policies, requests } from './requests.js';
// Behind what counts its instances.
import { TierLimiter } from 'tierlimit';

let limiter;

export default requests(TierLimiter, () => {
  limiter ??= new TierLimiter({ policies });
  return limiter;
});
