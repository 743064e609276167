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
  const request = () => `${double(nowMs)} ${string(client)} ${cost} ${string(tier)}`;
  switch (kind) {
    case 'open': {
      const { maxClients = 0, onFull = 'evict' } = operation.table ?? {};
      const probes = (operation.probes ?? []).map((probe) => ' ' + string(probe)).join('');
      return `open ${flag(operation.strict)} ${maxClients} ${onFull} ${string(operation.text)}${probes}`;
    }
    case 'policies':
      return `policies ${double(nowMs)} ${string(operation.text)}`;
    case 'setTier':
      return `setTier ${double(nowMs)} ${string(client)} ${string(tier)} ${operation.onRaise ?? 'keep'}`;
    case 'allowMany': {
      const clients = operation.clients.map((each) => ' ' + string(each)).join('');
      return `allow-many ${double(nowMs)} ${cost} ${string(tier)}${clients}`;
    }
    case 'reserve':
      return `reserve ${request()} ${double(operation.ttlMs)}`;
    case 'settle':
      return `settle ${double(nowMs)} ${operation.reservation} ${operation.actual}`;
    case 'cancel':
      return `cancel ${double(nowMs)} ${operation.reservation}`;
    case 'shadow':
      return `shadow ${string(operation.text)}`;
    case 'promote':
      return `promote ${double(nowMs)}`;
    case 'shadowStats':
      return 'shadow-stats';
    case 'restore':
      return `restore ${double(nowMs)} ${double(operation.restoredMs)}`;
    case 'stats':
      return kind;
    default:
      return `${kind} ${request()}`;
  }
}

/** @param {object} answer of the model or in its form; `remaining` may be a bigint or a number */
export function answerLine(answer) {
  switch (answer.kind) {
    case 'report':
      return `report ${answer.revision}${problems(answer.rejected)} |${problems(answer.warnings)}`;
    case 'shadow':
      return `shadow${problems(answer.rejected)} |${problems(answer.warnings)}`;
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
    case 'settlement':
      return `settlement ${answer.outcome} ${answer.returned} ${answer.debt}`;
    case 'shadowStats':
      return 'shadow-stats' + answer.rows.map(row).sort().join('');
    case 'decision':
      return [
        'decision',
        flag(answer.allowed),
        numbers(answer),
        string(answer.tier),
        string(answer.limitName),
        answer.reason,
        answer.fallback ?? '-',
        ...answer.limits.map(
          (limit) => `| ${string(limit.name)} ${numbers(limit)} ${double(limit.moreAfterMs)}`,
        ),
      ].join(' ');
    default:
      return answer.kind;
  }
}

/** What a decision says of all limits and of each. */
function numbers({ limit, remaining, retryAfterMs, resetMs, windowMs }) {
  const times = [retryAfterMs, resetMs, windowMs].map(double).join(' ');
  return `${double(limit)} ${remaining} ${times}`;
}

function row({ tier, clientClass, bothAllow, bothDeny, onlyLiveAllows, onlyShadowAllows }) {
  const counts = [bothAllow, bothDeny, onlyLiveAllows, onlyShadowAllows].join(' ');
  return ` | ${string(tier)} ${clientClass} ${counts}`;
}

const evictedMark = ' evicted';

/**
 * An answer and which buckets were evicted meanwhile.
 * @param {string} line
 * @param {string[][]} evicted as `writtenKey` has them: for each decision that evicted any, those, in any order
 */
export function withEvicted(line, evicted) {
  if (evicted.length === 0) return line;
  return line + evictedMark + evicted.map((keys) => ' ' + [...keys].sort().join(' ')).join(' ;');
}

/** Which buckets were evicted, as `withEvicted` was given them. */
export function evictedIn(line) {
  const at = line.indexOf(evictedMark);
  if (at === -1) return [];
  const groups = line.slice(at + evictedMark.length + 1).split(' ; ');
  return groups.map((keys) => keys.split(' '));
}

/** A bucket as the transcript has it. @param {import('./table.js').Key} key */
export function writtenKey({ client, name, algorithm }) {
  return `${string(client)}/${name}/${algorithm}`;
}

/** The tier by which to ask whether there is a bucket: its one limit is of that name and algorithm. */
export function probeTier({ name, algorithm }) {
  return `?${name}/${algorithm}`;
}

/** A line for people: doubles as numbers, strings as text. */
export function readable(line) {
  const word = (text) => {
    if (/^d[0-9a-f]{16}$/.test(text)) return String(fromBits(text.slice(1)));
    const [, code = '', hex, rest = ''] =
      /^([a-z-]+:)?s((?:[0-9a-f]{2})*)(\/.*)?$/.exec(text) ?? [];
    if (hex === undefined) return text;
    return code + JSON.stringify(Buffer.from(hex, 'hex').toString()) + rest;
  };
  return line.split(' ').map(word).join(' ');
}
