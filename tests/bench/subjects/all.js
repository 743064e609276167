// All that is measured in one process.
import { map, mapWithTier } from './map.js';
import { expressRateLimit, limiter, rateLimiterFlexible } from './peers.js';
import * as tierlimit from './tierlimit.js';

export const makers = [
  tierlimit.allow,
  tierlimit.allowByOwnClock,
  tierlimit.allowWithTier,
  tierlimit.check,
  ...(tierlimit.hasHandles ? [tierlimit.handle] : []),
  ...(tierlimit.hasMany ? [tierlimit.allowMany] : []),
  tierlimit.embind,
  map,
  mapWithTier,
  limiter,
  rateLimiterFlexible,
  expressRateLimit,
];
