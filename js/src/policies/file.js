/**
 * Policies in a file that is watched: for Node.js, Deno and Bun. It is an entry of its own because it takes Node's API, by
 * static imports: bundlers for runtimes that do not have that never see it.
 * @module
 */

/**
 * @typedef {import('./source.js').PolicySource} PolicySource
 * @typedef {import('./types.js').LookOutcome} LookOutcome
 * @typedef {import('./types.js').PolicyTarget} PolicyTarget
 * @typedef {import('./types.js').SourceOptions} SourceOptions
 * @typedef {import('./types.js').SourceStatus} SourceStatus
 * @typedef {import('./types.js').SourceTrouble} SourceTrouble
 * @typedef {import('./watched-file.js').WatchFileOptions} WatchFileOptions
 * @typedef {import('./watched-file.js').WatchedFile} WatchedFile
 */

export { watchFile } from './watched-file.js';
