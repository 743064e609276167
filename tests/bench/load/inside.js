// node tests/bench/load/inside.js [--rounds 60 --only fastify --variants empty,tierlimit]: what a limiter takes of a request
// in JavaScript alone. Each server is a process of its own, which hands itself requests by connections that are no sockets:
// neither the kernel nor wrk is in it, so that tenths of a microsecond can be told apart, also where others use the machine.
// What is compared is the quickest twentieth of the rounds: what others do to the caches is in the rest. npm run bench:http
// brings what it needs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { quantile } from '../statistics.js';
import { frameworks } from './frameworks.js';

const connections = 32;
const requestsOfRound = 100 * connections;
const warmRounds = 20;
const processes = 2;

/** A connection that asks once more whenever it is answered. */
class Connection extends Duplex {
  remoteAddress = '127.0.0.1';
  #left = 0;
  #ended = () => {};

  /** @param {number} count */
  ask(count) {
    this.#left = count;
    return new Promise((resolve) => {
      this.#ended = () => resolve(undefined);
      this.#next();
    });
  }

  _read() {}

  /** @override @param {unknown} _chunk @param {string} _encoding @param {() => void} done */
  _write(_chunk, _encoding, done) {
    done();
    this.#answered();
  }

  /** @override @param {unknown} _chunks @param {() => void} done */
  _writev(_chunks, done) {
    done();
    this.#answered();
  }

  setTimeout() {}
  setNoDelay() {}
  setKeepAlive() {}
  ref() {}
  unref() {}

  #answered() {
    this.#left -= 1;
    if (this.#left === 0) this.#ended();
    else setImmediate(() => this.#next());
  }

  #next() {
    this.push('GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n');
  }
}

/**
 * @param {string} framework
 * @param {string} limiter
 */
async function serve(framework, limiter) {
  const server = await frameworks[framework](limiter);
  const clients = Array.from({ length: connections }, () => new Connection());
  for (const client of clients) server.emit('connection', client);
  process.on('message', async () => {
    const start = process.cpuUsage();
    await Promise.all(clients.map((client) => client.ask(requestsOfRound / connections)));
    const { user, system } = process.cpuUsage(start);
    process.send?.((user + system) / requestsOfRound);
  });
  process.send?.('ready');
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>}
 */
async function ask(child) {
  child.send('go');
  return (await once(child, 'message'))[0];
}

/**
 * @param {string} framework
 * @param {string[]} variants
 * @param {number} rounds
 */
async function compared(framework, variants, rounds) {
  const all = variants.map(() => /** @type {number[]} */ ([]));
  for (let i = 0; i < processes; i += 1) {
    const children = variants.map((it) => fork(fileURLToPath(import.meta.url), [framework, it]));
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) for (let j = 0; j < warmRounds; j += 1) await ask(child);
    for (let round = 0; round < rounds / processes; round += 1) {
      for (let turn = 0; turn < children.length; turn += 1) {
        const at = (round + turn) % children.length;
        all[at].push(await ask(children[at]));
      }
    }
    for (const child of children) child.kill();
  }
  const quickest = all.map((values) => quantile(Float64Array.from(values).sort(), 0.05));
  quickest.forEach((us, at) => {
    const more = us - quickest[0];
    console.log(`| ${framework} | ${variants[at]} | ${us.toFixed(2)} | ${more.toFixed(2)} |`);
  });
}

if (process.send) {
  await serve(process.argv[2], process.argv[3]);
} else {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '60' },
      only: { type: 'string', default: 'fastify,hono' },
      variants: { type: 'string', default: 'empty,fields,head,tierlimit' },
    },
  });
  console.log('| framework | | µs a request | more than bare |\n|---|---|--:|--:|');
  for (const framework of values.only.split(',')) {
    await compared(framework, ['bare', ...values.variants.split(',')], Number(values.rounds));
  }
}
