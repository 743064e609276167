// Operations and answers as lines of text, the same for every implementation, so that comparing is comparing strings.
// tests/core/replay.cpp has the format. A whole number of tokens is written in full, or as the double that JavaScript
// callers get.
import { bitsOf, fromBits } from './double.js';

/** A string as WTF-8: UTF-8 in which half a surrogate pair is three bytes as well. */
export function wtf8(text) {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes = [];
  for (const character of text) {
    const code = character.codePointAt(0);
    const isLone = code >= 0xd800 && code <= 0xdfff;
    if (isLone) bytes.push(0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else bytes.push(...Buffer.from(character));
  }
  return Buffer.from(bytes);
}

const string = (text) =>
  text === null || text === undefined ? '-' : 's' + wtf8(text).toString('hex');
const double = (number) => (number === null ? '-' : 'd' + bitsOf(number));
const flag = (value) => (value ? '1' : '0');
// Sorted: in which order the faults of one tier come is left open.
const problems = (list) =>
  list
    .map(({ path, code }) => ` ${code}:${string(path)}`)
    .sort()
    .join('');

/** @param {import('./scenario.js').Operation} operation */
export function operationLine(operation) {
  const { kind, nowMs, client, cost, tier } = operation;
  switch (kind) {
    case 'open': {
      const { maxClients = 0, onFull = 'evict' } = operation.table ?? {};
      return `open ${flag(operation.strict)} ${maxClients} ${onFull} ${string(operation.text)}`;
    }
    case 'policies':
      return `policies ${string(operation.text)}`;
    case 'setTier':
      return `setTier ${string(client)} ${string(tier)}`;
    case 'stats':
      return 'stats';
    case 'allowMany': {
      const clients = operation.clients.map((each) => ' ' + string(each)).join('');
      return `allow-many ${double(nowMs)} ${cost} ${string(tier)}${clients}`;
    }
    default:
      return `${kind} ${double(nowMs)} ${string(client)} ${cost} ${string(tier)}`;
  }
}

/** @param {object} answer of the model or in its form; `remaining` may be a bigint or a number */
export function answerLine(answer) {
  switch (answer.kind) {
    case 'report':
      return `report ${answer.revision}${problems(answer.rejected)} |${problems(answer.warnings)}`;
    case 'refused':
      return `refused${problems(answer.problems)}`;
    case 'allow':
      return `allow ${flag(answer.allowed)}`;
    case 'allowMany':
      return `allow-many ${answer.allowed.map(flag).join('')}`;
    case 'clock':
      return `clock ${double(answer.nowMs)} ${double(answer.touchedMs)}`;
    case 'stats': {
      const { buckets, assignments, allowed, denied, revision } = answer;
      const { evictions, evictedTokens, tableFull } = answer;
      const table = `${evictions} ${double(evictedTokens)} ${tableFull}`;
      return `stats ${buckets} ${assignments} ${allowed} ${denied} ${revision} ${table}`;
    }
    case 'decision':
      return [
        'decision',
        flag(answer.allowed),
        double(answer.limit),
        answer.remaining,
        double(answer.retryAfterMs),
        double(answer.resetMs),
        string(answer.tier),
        answer.limitName,
        answer.reason,
        answer.fallback ?? '-',
      ].join(' ');
    default:
      return answer.kind;
  }
}

const evictedMark = ' evicted';

/**
 * An answer and who was evicted meanwhile.
 * @param {string} line
 * @param {string[]} evicted in that order
 */
export function withEvicted(line, evicted) {
  if (evicted.length === 0) return line;
  return line + evictedMark + evicted.map((client) => ' ' + string(client)).join('');
}

/** Who was evicted, as the strings of the transcript (`written`). */
export function evictedIn(line) {
  const at = line.indexOf(evictedMark);
  return at === -1 ? [] : line.slice(at + evictedMark.length + 1).split(' ');
}

/** A client as the transcript has it. */
export const written = string;

/** A line for people: doubles as numbers, strings as text. */
export function readable(line) {
  const word = (text) => {
    if (/^d[0-9a-f]{16}$/.test(text)) return String(fromBits(text.slice(1)));
    const [, code = '', hex] = /^([a-z-]+:)?s((?:[0-9a-f]{2})*)$/.exec(text) ?? [];
    if (hex === undefined) return text;
    return code + JSON.stringify(Buffer.from(hex, 'hex').toString());
  };
  return line.split(' ').map(word).join(' ');
}
