/**
 * Something that decides, in the form in which it is measured.
 *
 * @template [Input=any]
 * @typedef {object} Subject
 * @property {string} name
 * @property {boolean} [async] whether `run` must be awaited
 * @property {(batch: Batch, first: number) => void | Promise<void>} meet lets clients that are new spend so many tokens
 * @property {(batch: Batch) => Input} prepare what `run` takes; not timed
 * @property {(input: Input) => number | Promise<number>} run one request of each client of the batch; returns how many
 *   were admitted
 * @property {() => void} [dispose]
 */

/** @typedef {(setting: import('../settings.js').Setting) => Subject} Maker */

/**
 * Clients, and for each its name and its tier.
 *
 * @typedef {{ clients: number[], names: string[], tiers: string[] }} Batch
 */

export {};
