// What wrangler bundles and serves: the workers that tests/runtime/workerd/ has for the bare binary.
import clock from './clock.js';
import contract from './contract.js';

export default {
  fetch(request) {
    const worker = new URL(request.url).pathname === '/clock' ? clock : contract;
    return worker.fetch(request);
  },
};
