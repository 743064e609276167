/**
 * `#core` in edge runtimes after Vercel's, which compile what is imported with `?module` and nothing else.
 * @module
 */

import module from '../../dist/core.wasm?module';

export const compiled = () => module;
