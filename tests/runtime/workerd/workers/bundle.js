// Bundled twice, for one isolate.
export { TierLimiter } from 'tierlimit';
