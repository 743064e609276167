// Policies by a file that the program watches.
/**
 * @param {{ program: import('./program.js').Program, project: import('../../package/support/project.js').Project }}
 *   service
 * @returns {Promise<import('./uuid-service.js').Loading>}
 */
export async function loadingByWatching({ program, project }) {
  // The file is read once more when it begins to be watched.
  const [, first] = await program.says(/policies\.json: revision (\d+)$/m);
  let revision = Number(first);
  const put = (/** @type {string} */ text) => project.write({ 'policies.json': text });
  return {
    async loads(text) {
      put(text);
      revision += 1;
      await program.says(new RegExp(`policies\\.json: revision ${revision}$`, 'm'));
    },
    async refuses(text) {
      put(text);
      await program.says(/policies\.json: .*line 1, column 14.*the policies before stay in force/);
    },
  };
}
