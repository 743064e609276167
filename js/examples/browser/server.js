// The page's files, and an API that limits for itself: whoever calls it need not be the page.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { TierLimiter } from 'tierlimit';
import { rateLimit } from 'tierlimit/node';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const limiter = new TierLimiter({ policies: read('policies/server.json') });

// 'wasm-unsafe-eval' lets the page compile WebAssembly and nothing else; the hash is that of its import map.
const [, importMap] = /<script type="importmap">(.*?)<\/script>/s.exec(read('page.html'));
const hash = createHash('sha256').update(importMap).digest('base64');
const policy = `default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'sha256-${hash}'`;

/** Besides the page's own, the files of the package. */
const isPublic = (path) =>
  /^\/(page\.(html|css|js)|throttle\.js|policies\/page\.json)$/.test(path) ||
  /^\/node_modules\/tierlimit\/js\/[\w./-]+\.js$/.test(path);

const types = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
};

/** Each address has a bucket: that is who the client is where nothing else is said. */
const answerTime = rateLimit({ limiter })((request, response) => {
  response.setHeader('cache-control', 'no-store');
  response.end(new Date().toISOString());
});

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/api/time') return answerTime(request, response);

  const path = pathname === '/' ? '/page.html' : pathname;
  if (!isPublic(path)) return response.writeHead(404).end();
  try {
    const content = await readFile(new URL(`.${path}`, import.meta.url));
    response.setHeader('content-type', `${types[path.split('.').at(-1)]}; charset=utf-8`);
    response.setHeader('content-security-policy', policy);
    return response.end(content);
  } catch {
    return response.writeHead(404).end();
  }
});

// node server.js [PORT]; 0 takes a free one.
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
