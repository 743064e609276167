// tierlimit, by each of its ways in.
import { TierLimiter } from '../../../js/src/index.js';
import { now } from '../clock.js';
import { policies } from '../settings.js';

/** @import { Setting } from '../settings.js' */
/** @import { Batch, Subject } from './subject.js' */

const roomy = { maxBytes: 2 ** 31 };

/** @param {Setting} setting */
const limiterFor = (setting) =>
  new TierLimiter({
    policies: policies(setting),
    now,
    maxClients: 2 * setting.clients,
    ...roomy,
  });

/**
 * @param {TierLimiter} limiter
 * @returns {Subject['meet']}
 */
const meeting =
  (limiter) =>
  ({ names, tiers }, first) =>
    names.forEach((name, i) => limiter.allow(name, first, tiers[i]));

/** @type {(setting: Setting) => Subject<string[]>} */
export function allow(setting) {
  const limiter = limiterFor(setting);
  return {
    name: 'allow',
    meet: ({ names }, first) => names.forEach((name) => limiter.allow(name, first)),
    prepare: ({ names }) => names,
    run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) if (limiter.allow(names[i])) admitted += 1;
      return admitted;
    },
    dispose: () => limiter.dispose(),
  };
}

/** @type {(setting: Setting) => Subject<Batch>} */
export function allowWithTier(setting) {
  const limiter = limiterFor(setting);
  return {
    name: 'allow with a tier',
    meet: meeting(limiter),
    prepare: (batch) => batch,
    run({ names, tiers }) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) {
        if (limiter.allow(names[i], 1, tiers[i])) admitted += 1;
      }
      return admitted;
    },
    dispose: () => limiter.dispose(),
  };
}

/** @type {(setting: Setting) => Subject<string[]>} */
export function check(setting) {
  const limiter = limiterFor(setting);
  return {
    name: 'check',
    meet: ({ names }, first) => names.forEach((name) => limiter.allow(name, first)),
    prepare: ({ names }) => names,
    run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) if (limiter.check(names[i]).allowed) admitted += 1;
      return admitted;
    },
    dispose: () => limiter.dispose(),
  };
}
