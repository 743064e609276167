// To be imported before what it watches: notes uses of timers, the network, randomness and clocks.

/** @type {string[]} */
const used = [];

/** What was used so far. */
export const uses = () => [...used];

/**
 * @param {any} owner
 * @param {string} name
 * @param {string} [called]
 */
function watch(owner, name, called = name) {
  const original = owner[name];
  owner[name] = function noting(...values) {
    used.push(called);
    return Reflect.apply(original, this, values);
  };
}

for (const name of ['setTimeout', 'setInterval', 'queueMicrotask', 'fetch']) {
  watch(globalThis, name);
}
for (const name of ['getRandomValues', 'randomUUID']) watch(crypto, name);
watch(Math, 'random', 'Math.random');
watch(performance, 'now', 'performance.now');
watch(Date, 'now', 'Date.now');

globalThis.Date = new Proxy(Date, {
  construct(target, values, newTarget) {
    if (values.length === 0) used.push('new Date');
    return Reflect.construct(target, values, newTarget);
  },
});
