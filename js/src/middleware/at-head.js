/**
 * Header fields on a response of Node's http module, while the head is written: as packages like on-headers do it. That is
 * a fraction of what it costs to set them before, since Node, Fastify and `@hono/node-server` have short ways for responses
 * on which nothing is set, and what the handler has set is known by then.
 * @module
 */

import { exposedHeaders } from './headers.js';
import { writeFields } from './outgoing.js';

/** @import { Access } from './headers.js' */
/** @import { Verdict } from './judge.js' */
/** @import { Outgoing } from './outgoing.js' */

/**
 * What is written when the head is.
 *
 * @typedef {object} Pending
 * @property {Verdict<any, any>} verdict
 * @property {string} text Its fields as lines.
 * @property {Pending | null} outer Of the limiter around this one.
 * @property {(...args: any[]) => unknown} writeHead What was there before.
 */

/**
 * @typedef {object} Head
 * @property {(...args: any[]) => unknown} writeHead Writes it.
 * @property {() => string[]} getHeaderNames Of what is set so far.
 * @property {unknown} [_header] Its text; null until it is written. Node keeps it there, and middleware has always looked at
 *   it, but it is not in Node's documentation.
 */

/** @typedef {Outgoing & Head & { [pending]?: Pending }} NodeResponse */

const pending = Symbol('tierlimit');

/**
 * Node's response to a request, where handlers of the fetch kind run on Node's http and are told of it, as by
 * `@hono/node-server`: what is written there is sent, whatever response the handler makes, and nothing has to be made of
 * that response.
 * @param {any} env what a handler is given beside the request
 * @returns {NodeResponse | null}
 */
export function outgoingOf(env) {
  const outgoing = env?.outgoing ?? env?.server?.outgoing;
  // What stands for something elsewhere, as bindings of workers do, has a function of every name.
  const isResponse =
    typeof outgoing?.writeHead === 'function' && typeof outgoing.headersSent === 'boolean';
  return isResponse ? outgoing : null;
}

/**
 * The fields that a limiter around the app has set there: a response that sends its own would replace them.
 * @param {NodeResponse | null} outgoing
 * @returns {Record<string, any>}
 */
export function fieldsOn(outgoing) {
  /** @type {Record<string, any>} */
  const fields = {};
  for (const name of outgoing === null ? [] : exposedHeaders) {
    const there = outgoing?.getHeader(name);
    if (there !== undefined) fields[name] = there;
  }
  return fields;
}

/**
 * Sets the fields of a verdict when the head of the response is written. Of several the last one is the inner one. Where a
 * limiter around this one has set its fields on the response itself, that is done at once.
 *
 * @param {Verdict<any, any>} verdict
 * @param {NodeResponse} outgoing one that has not begun
 */
export function writeAtHead(verdict, outgoing) {
  if (outgoing.getHeader('RateLimit') !== undefined) {
    writeFields(verdict, outgoing);
    return;
  }
  const outer = outgoing[pending] ?? null;
  // Here, for what an option throws is for the caller, and not for whoever writes a head.
  const text = textOf(verdict);
  outgoing[pending] = { verdict, text, outer, writeHead: outer?.writeHead ?? outgoing.writeHead };
  if (outer === null) outgoing.writeHead = writeHead;
}

/**
 * @this {NodeResponse}
 * @param {number} status
 * @param {any} [reason]
 * @param {any} [fields]
 */
function writeHead(status, reason, fields) {
  const own = /** @type {Pending} */ (this[pending]);
  const hasReason = typeof reason === 'string';
  const given = hasReason ? fields : (fields ?? reason);
  if (nodesWriteHead === undefined) nodesWriteHead = findNodesWriteHead();
  const isNodes = own.writeHead === nodesWriteHead && this._header === null;
  if (isNodes && own.outer === null && hasNone(this, given)) {
    const result = own.writeHead.call(this, status, reason, fields);
    // Given to `writeHead` each field is looked at by two regular expressions and compared with the names that mean
    // something to Node, and what else is given has to be copied, which takes more time than deciding. What is written is
    // a structured field, so nothing in it can end the line.
    this._header = `${String(this._header).slice(0, -2)}${own.text}\r\n`;
    return result;
  }
  const all = Array.isArray(given) ? fromList(given) : copied(given);
  const head = { fields: all, response: this };
  for (let at = /** @type {Pending | null} */ (own); at !== null; at = at.outer) {
    at.verdict.write(head, onHead, true);
  }
  return hasReason
    ? own.writeHead.call(this, status, reason, all)
    : own.writeHead.call(this, status, all);
}

/**
 * Node's own `writeHead`, after which the head is there as text until it is sent; null where not: other runtimes have
 * Node's http module, too, but not its way to keep a head. (Whoever wraps `writeHead` for a response, as for requests that
 * are made up in tests, reads off it what is sent.)
 * @type {Head['writeHead'] | null | undefined}
 */
let nodesWriteHead;

function findNodesWriteHead() {
  const { process, WebSocketPair } = /** @type {any} */ (globalThis);
  const { bun, deno } = process?.versions ?? {};
  if (bun !== undefined || deno !== undefined || WebSocketPair !== undefined) return null;
  return process?.getBuiltinModule?.('http')?.ServerResponse.prototype.writeHead ?? null;
}

/**
 * Whether there are no fields yet that may have to be joined.
 * @param {NodeResponse} response
 * @param {Record<string, any> | any[] | undefined} given
 */
function hasNone(response, given) {
  if (Array.isArray(given)) return false;
  for (const name in given) if (isOfLimiter(name)) return false;
  return !response.getHeaderNames().some(isOfLimiter);
}

/** @param {string} name */
const isOfLimiter = (name) => name.length > 8 && name.toLowerCase().includes('ratelimit');

/** @param {Verdict<any, any>} verdict */
function textOf(verdict) {
  const head = { text: '' };
  verdict.write(head, onText, true);
  return head.text;
}

/** @type {Access<{ text: string }>} */
const onText = {
  get: () => null,
  set(head, name, value) {
    head.text += `${name}: ${value}\r\n`;
  },
};

/**
 * An object that may be added to: who calls writeHead may keep its own. V8 takes microseconds to add to `{ ...given }`.
 * @param {Record<string, any> | undefined} given
 */
function copied(given) {
  /** @type {Record<string, any>} */
  const fields = {};
  for (const name of Object.keys(given ?? {})) fields[name] = /** @type {any} */ (given)[name];
  return fields;
}

/**
 * @param {any[]} list names and values in turn, or pairs of them
 * @returns {Record<string, any>}
 */
function fromList(list) {
  /** @type {Record<string, any>} */
  const fields = Object.create(null);
  /** How a name was spelled first. @type {Map<string, string>} */
  const spelled = new Map();
  const flat = Array.isArray(list[0]) ? list.flat() : list;
  for (let i = 0; i < flat.length; i += 2) {
    const lower = String(flat[i]).toLowerCase();
    const name = spelled.get(lower) ?? (lower.includes('ratelimit') ? lower : String(flat[i]));
    fields[name] = spelled.has(lower) ? [fields[name], flat[i + 1]].flat() : flat[i + 1];
    spelled.set(lower, name);
  }
  return fields;
}

/**
 * Names as they are written here, or in lower case, as Headers tell them. The two that are in every response are spelled
 * out: by names that are not known before it takes several times as long.
 * @type {Access<Record<string, any>>}
 */
export const onRecord = {
  get(fields, name) {
    if (name === 'RateLimit') return fields.ratelimit ?? fields.RateLimit;
    return fields[name.toLowerCase()] ?? fields[name];
  },
  set(fields, name, value) {
    if (name === 'RateLimit') {
      if (fields.ratelimit === undefined) fields.RateLimit = value;
      else fields.ratelimit = value;
    } else if (name === 'RateLimit-Policy') {
      if (fields['ratelimit-policy'] === undefined) fields['RateLimit-Policy'] = value;
      else fields['ratelimit-policy'] = value;
    } else {
      const lower = name.toLowerCase();
      fields[lower in fields ? lower : name] = value;
    }
  },
  remove(fields, name) {
    delete fields[name];
    delete fields[name.toLowerCase()];
  },
};

/**
 * The head of a response: what is given with it and, beneath it, what is set on the response already.
 * @type {Access<{ fields: Record<string, any>, response: NodeResponse }>}
 */
const onHead = {
  get: ({ fields, response }, name) => onRecord.get(fields, name) ?? response.getHeader(name),
  set: ({ fields }, name, value) => onRecord.set(fields, name, value),
};
