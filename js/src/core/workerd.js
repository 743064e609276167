/**
 * `#core` in workerd (Cloudflare Workers), which compiles what is imported and nothing else.
 * @module
 */

import module from '../../dist/core.wasm';

export const compiled = () => module;
