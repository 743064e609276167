// Policies by a file that is loaded anew when the program gets a signal.
/**
 * @param {{ program: import('./program.js').Program, project: import('../../package/support/project.js').Project }}
 *   service
 * @returns {Promise<import('./uuid-service.js').Loading>}
 */
export async function loadingBySignal({ program, project }) {
  const [, pid] = await program.says(/kill -HUP (\d+)/);
  const put = (/** @type {string} */ text) => {
    project.write({ 'policies.json': text });
    process.kill(Number(pid), 'SIGHUP');
  };
  let revision = 1;
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
