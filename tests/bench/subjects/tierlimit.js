// tierlimit, by each of its ways in.
import { TierLimiter } from '../../../js/src/index.js';
import { createModule } from '../../../js/src/module.js';
import { now } from '../clock.js';
import { policies } from '../settings.js';

/** @import { Setting } from '../settings.js' */
/** @import { Batch, Subject } from './subject.js' */

/**
 * Room for all clients, so that nobody is forgotten.
 * @param {Setting} setting
 */
export const roomFor = ({ clients }) => ({ maxClients: 2 * clients, maxBytes: 2 ** 31 });

/** @param {Setting} setting */
function limiterFor(setting) {
  const { TierLimiter: Class = TierLimiter } = setting;
  return new Class({ policies: policies(setting), now, ...roomFor(setting) });
}

/**
 * What the subjects have in common that take names.
 * @param {TierLimiter} limiter
 * @returns {Pick<Subject<string[]>, 'meet' | 'prepare' | 'dispose'>}
 */
const byName = (limiter) => ({
  meet({ names }, first) {
    for (const name of names) limiter.allow(name, first);
  },
  prepare: ({ names }) => names,
  dispose: () => limiter.dispose(),
});

/** @type {(name: string, limiter: TierLimiter) => Subject<string[]>} */
const allowing = (name, limiter) => ({
  ...byName(limiter),
  name,
  run(names) {
    let admitted = 0;
    for (let i = 0; i < names.length; i += 1) if (limiter.allow(names[i])) admitted += 1;
    return admitted;
  },
});

/** @type {(setting: Setting) => Subject<string[]>} */
export const allow = (setting) => allowing('allow', limiterFor(setting));

/**
 * With the clock that it has when none is given: performance.now().
 * @type {(setting: Setting) => Subject<string[]>}
 */
export const allowByOwnClock = (setting) =>
  allowing(
    'allow, own clock',
    new TierLimiter({ policies: policies(setting), ...roomFor(setting) }),
  );

/** @type {(setting: Setting) => Subject<Batch>} */
export function allowWithTier(setting) {
  const limiter = limiterFor(setting);
  return {
    name: 'allow with a tier',
    meet({ names, tiers }, first) {
      names.forEach((name, i) => limiter.allow(name, first, tiers[i]));
    },
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
    ...byName(limiter),
    name: 'check',
    run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1) if (limiter.check(names[i]).allowed) admitted += 1;
      return admitted;
    },
  };
}

/** @typedef {ReturnType<TierLimiter['client']>} Client */

/**
 * A handle for every client, made once, as for connections that last.
 * @type {(setting: Setting) => Subject<Client[]>}
 */
export function handle(setting) {
  const limiter = limiterFor(setting);
  /** @type {Client[]} */
  const handles = [];
  return {
    name: 'handle',
    meet({ clients, names }, first) {
      clients.forEach((client, i) => {
        handles[client] = limiter.client(names[i]);
        handles[client].allow(first);
      });
    },
    prepare: ({ clients }) => clients.map((client) => handles[client]),
    run(chosen) {
      let admitted = 0;
      for (let i = 0; i < chosen.length; i += 1) if (chosen[i].allow()) admitted += 1;
      return admitted;
    },
    dispose: () => limiter.dispose(),
  };
}

const many = 100;

/**
 * A hundred names a call.
 * @type {(setting: Setting) => Subject<string[][]>}
 */
export function allowMany(setting) {
  const limiter = limiterFor(setting);
  return {
    ...byName(limiter),
    name: 'allowMany',
    prepare({ names }) {
      const calls = [];
      for (let from = 0; from < names.length; from += many) {
        calls.push(names.slice(from, from + many));
      }
      return calls;
    },
    run(calls) {
      let admitted = 0;
      for (let i = 0; i < calls.length; i += 1) {
        const answers = limiter.allowMany(calls[i]);
        for (let k = 0; k < answers.length; k += 1) if (answers[k]) admitted += 1;
      }
      return admitted;
    },
  };
}

/**
 * The module's own surface.
 * @type {(setting: Setting) => Subject<string[]>}
 */
export function embind(setting) {
  const { TierLimiter: Bound } = createModule();
  const { maxClients, maxBytes } = roomFor(setting);
  const text = JSON.stringify(policies(setting));
  const limiter = /** @type {any} */ (new Bound(text, maxClients, maxBytes, false, false, true));
  limiter.seed(1, 2, 3, 4);
  return {
    name: 'embind allow',
    meet({ names }, first) {
      for (const name of names) limiter.allow(name, first, now());
    },
    prepare: ({ names }) => names,
    run(names) {
      let admitted = 0;
      for (let i = 0; i < names.length; i += 1)
        if (limiter.allow(names[i], 1, now())) admitted += 1;
      return admitted;
    },
    dispose: () => limiter.delete(),
  };
}
