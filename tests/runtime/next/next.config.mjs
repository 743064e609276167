// In the package.json beside it there is no "type": "module": with one, webpack as Next.js 16.4.6 has it does not build any
// route for the edge, be there nothing in it (no file route_client-reference-manifest.js).
const root = import.meta.dirname;

export default {
  // Each bundler builds into a folder of its own, so that one does not serve what the other has built.
  distDir: `built-${process.env.BUNDLER}`,
  // Else Next.js takes the repository, which has a lock file too, for the project.
  outputFileTracingRoot: root,
  turbopack: { root },
};
