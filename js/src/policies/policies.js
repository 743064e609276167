/**
 * Policy sources: where new limits come from while a service runs. This entry works in every runtime; a watched file, for
 * which it takes Node's API, is in `tierlimit/policies/file`.
 * @module
 */

/**
 * @typedef {import('./follow.js').FollowOptions} FollowOptions
 * @typedef {import('./follow.js').FollowedSource} FollowedSource
 * @typedef {import('./kv.js').KvNamespace} KvNamespace
 * @typedef {import('./kv.js').PollKvOptions} PollKvOptions
 * @typedef {import('./poll.js').PollOptions} PollOptions
 * @typedef {import('./poll.js').PolledSource} PolledSource
 * @typedef {import('./poll.js').ReadContext} ReadContext
 * @typedef {import('./poll.js').VersionedDocument} VersionedDocument
 * @typedef {import('./source.js').PolicySource} PolicySource
 * @typedef {import('./types.js').LookOutcome} LookOutcome
 * @typedef {import('./types.js').PolicyDocument} PolicyDocument
 * @typedef {import('./types.js').PolicyTarget} PolicyTarget
 * @typedef {import('./types.js').SourceOptions} SourceOptions
 * @typedef {import('./types.js').SourceStatus} SourceStatus
 * @typedef {import('./types.js').SourceTrouble} SourceTrouble
 * @typedef {import('./url.js').PollUrlOptions} PollUrlOptions
 */

export { follow } from './follow.js';
export { pollKv } from './kv.js';
export { poll } from './poll.js';
export { pollUrl } from './url.js';
