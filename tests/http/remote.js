// Apps in other processes, which are controlled by way of app/controlled.js.
import assert from 'node:assert/strict';

/** @import { Running } from './contract.js' */
/** @import { Command, Setup } from './app/world.js' */
/** @import { Server } from '../runtime/workerd/server.js' */

/**
 * Makes a server's app anew; what is left of the one before does not count.
 * @param {Server} server one that has started
 * @param {Setup} setup
 * @returns {Promise<Running>}
 */
export async function startAt(server, setup) {
  const control = async (/** @type {{ setup?: Setup, command?: Command }} */ body) => {
    const answer = await server.ask('/control', { method: 'POST', body: JSON.stringify(body) });
    assert.equal(answer.status, 200, `${answer.text}\n${server.output}`);
    return JSON.parse(answer.text);
  };
  await control({ setup });
  return {
    url: server.url,
    control: (command) => control({ command }),
    close: () => {},
  };
}
