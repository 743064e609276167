import { policies, requests } from './requests.js';
// Behind what counts its instances.
import { TierLimiter } from 'tierlimit';

const limiter = new TierLimiter({ policies });

export default requests(TierLimiter, () => limiter);
