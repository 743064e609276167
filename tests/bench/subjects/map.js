// The hand-written limiter.
import { now } from '../clock.js';
import { MapLimiter } from '../map-limiter.js';
import { policies } from '../settings.js';

/** @import { Setting } from '../settings.js' */
/** @import { Batch, Subject } from './subject.js' */

/** @param {Setting} setting */
function limiterFor(setting) {
  const { default: limit, tiers } = policies(setting);
  return new MapLimiter(now, limit, tiers);
}

/** @type {(setting: Setting) => Subject<string[]>} */
export function map(setting) {
  const limiter = limiterFor(setting);
  return {
    name: 'Map',
    meet: ({ names }, first) => names.forEach((name) => limiter.allow(name, first)),
    prepare: ({ names }) => names,
    run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) if (limiter.allow(names[i])) admitted += 1;
      return admitted;
    },
  };
}

/** @type {(setting: Setting) => Subject<Batch>} */
export function mapWithTier(setting) {
  const limiter = limiterFor(setting);
  return {
    name: 'Map with a tier',
    meet: ({ names, tiers }, first) =>
      names.forEach((name, i) => limiter.allow(name, first, tiers[i])),
    prepare: (batch) => batch,
    run({ names, tiers }) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) {
        if (limiter.allow(names[i], 1, tiers[i])) admitted += 1;
      }
      return admitted;
    },
  };
}
