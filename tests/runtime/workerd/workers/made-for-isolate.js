import { policies, requests } from './requests.js';
// Behind what counts its instances.
import { TierLimiter } from 'tierlimit';

export default requests(TierLimiter, () => TierLimiter.forIsolate('requests', { policies }));
