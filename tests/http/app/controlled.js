// An app in a process of its own, which the test makes anew and asks about at /control.
import { World } from './world.js';

/**
 * A fetch handler that serves the app of the latest setup.
 * @param {(world: World) => (request: Request, ...rest: any[]) => Response | Promise<Response>} makeApp
 * @returns {(request: Request, ...rest: any[]) => Promise<Response>}
 */
export function controlled(makeApp) {
  /** @type {World} */
  let world;
  /** @type {ReturnType<typeof makeApp>} */
  let app;

  return async function serve(request, ...rest) {
    if (new URL(request.url).pathname !== '/control') return app(request, ...rest);
    const { setup, command } = await request.json();
    if (setup) {
      world = new World(setup);
      app = makeApp(world);
    }
    return Response.json(world.control(command));
  };
}
