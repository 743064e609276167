// A site of files, whose pages say by a request what they found out. So nothing has to be run in a page from outside,
// where its Content-Security-Policy would not count.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

/** No page here takes that long, however busy the machine is. */
const patienceMs = 120_000;

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** Files of a folder, served on a port of this machine that is free. */
export class Site {
  /** @type {Map<string, (found: unknown) => void>} who waits for what a page says, by its path */
  #waiting = new Map();
  #server;

  /** @param {import('node:http').Server} server */
  constructor(server) {
    this.#server = server;
  }

  /**
   * @param {string} folder
   * @param {object} [options]
   * @param {string} [options.policy] the Content-Security-Policy of all files
   * @param {boolean} [options.charset] whether the types of files name theirs
   */
  static async of(folder, { policy, charset = true } = {}) {
    const server = createServer(async (request, response) => {
      try {
        const { pathname } = new URL(request.url, 'http://localhost');
        if (request.method === 'POST') {
          const chunks = [];
          for await (const chunk of request) chunks.push(chunk);
          site.#waiting.get(pathname)?.(JSON.parse(Buffer.concat(chunks).toString()));
          response.writeHead(204).end();
          return;
        }
        const path = join(folder, normalize(pathname));
        const content = await readFile(path);
        const type = types[extname(path)] ?? 'application/octet-stream';
        response.setHeader('Content-Type', charset ? type : type.split(';')[0]);
        if (policy !== undefined) response.setHeader('Content-Security-Policy', policy);
        response.end(content);
      } catch (error) {
        response.writeHead(error.code === 'ENOENT' ? 404 : 500).end(`${error}`);
      }
    });
    const site = new Site(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    site.url = `http://127.0.0.1:${server.address().port}`;
    return site;
  }

  /**
   * Opens a page and waits until it posts to `/said` what it found out.
   * @param {import('playwright-core').Browser} browser
   * @param {string} path
   * @returns {Promise<{ found: any, complaints: string[] }>} and what the browser complained of meanwhile; `found` is
   *   undefined where an error that nobody caught came first
   */
  async visit(browser, path) {
    const complaints = [];
    // Of its own: nothing is there from another one.
    const page = await browser.newPage();
    let timer;
    try {
      const found = new Promise((resolve, reject) => {
        this.#waiting.set('/said', resolve);
        const complained = () =>
          `${path} said nothing: ${complaints.join('\n') || 'no complaints'}`;
        timer = setTimeout(() => reject(new Error(complained())), patienceMs);
        page.on('pageerror', (error) => {
          complaints.push(error.stack);
          resolve(undefined);
        });
        page.on('crash', () => reject(new Error(`${path} crashed. ${complained()}`)));
        page.on('console', (message) => {
          if (message.type() !== 'log') complaints.push(message.text());
        });
        page.on('requestfailed', (request) => {
          complaints.push(`${request.url()}: ${request.failure()?.errorText}`);
        });
      });
      const [{ value }] = await Promise.all([
        found.then((value) => ({ value })),
        page.goto(`${this.url}${path}`),
      ]);
      return { found: value, complaints };
    } finally {
      clearTimeout(timer);
      this.#waiting.delete('/said');
      await page.close();
    }
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
