// All subjects.
import { map, mapWithTier } from './map.js';
import { expressRateLimit, limiter, rateLimiterFlexible } from './peers.js';
import * as tierlimit from './tierlimit.js';

/** Measured side by side. */
export const sideBySide = [
  tierlimit.allow,
  tierlimit.allowWithTier,
  tierlimit.check,
  tierlimit.handle,
  tierlimit.allowMany,
  tierlimit.embind,
  map,
  mapWithTier,
  limiter,
  rateLimiterFlexible,
  expressRateLimit,
];

// Beside others of tierlimit it would slow them down: what always calls one and the same clock is compiled to better
// code. So it has a process of its own, and the peers that it is compared with.
export const byOwnClock = [
  tierlimit.allowByOwnClock,
  limiter,
  rateLimiterFlexible,
  expressRateLimit,
];

/** @type {import('./subject.js').Maker[]} */
export const makers = [...new Set([...sideBySide, ...byOwnClock])];
