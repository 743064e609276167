// An implementation and the model, asked the same.
import { fromBits } from './double.js';
import { jsonText } from './json.js';
import { ModelLimiter } from './limiter.js';
import { ALGORITHMS, LIMIT_NAMES } from './random-policy.js';
import { ask, count, counter, makeScenario } from './scenario.js';
import { evictedIn, operationLine, readable, withEvicted, writtenKey } from './transcript.js';

/**
 * @typedef {object} Implementation
 * @property {string} name
 * @property {(operations: import('./scenario.js').Operation[]) => Promise<string[]>} perform an answer line for each,
 *   with who was evicted by it if the limiter has a table of a given size
 * @property {(answer: object) => string} expectedLine
 */

/**
 * @param {Implementation} implementation
 * @param {number} seed
 * @param {number} length operations
 * @param {import('./scenario.js').Options} [options]
 */
export async function compare(implementation, seed, length, options = {}) {
  const scenario = makeScenario(seed, length, options);
  const { operations } = scenario;
  const actual = await implementation.perform(operations);
  if (actual.length !== length) {
    throw new Error(`${implementation.name} answered ${actual.length} of ${length} operations`);
  }
  const { answers, coverage } = options.isSmall ? told(operations, actual) : scenario;
  const expected = answers.map(({ evicted = [], ...answer }) => {
    const turns = [...new Set(evicted.map(({ turn }) => turn))];
    const groups = turns.map((one) =>
      evicted.filter(({ turn }) => turn === one).map((key) => writtenKey(key)),
    );
    return withEvicted(implementation.expectedLine(answer), groups);
  });
  const differences = [];
  for (let index = 0; index < length; index += 1) {
    if (comparable(actual[index]) !== comparable(expected[index])) differences.push(index);
  }
  return {
    coverage,
    differences: differences.length,
    explanation: differences.length === 0 ? '' : explain(differences[0]),
  };

  function explain(first) {
    const steps = history(operations, first).map(
      (index) => `  #${index} ${shown(operations[index])} -> ${readable(expected[index])}`,
    );
    return [
      `seed ${seed}, operation ${first} of ${length}, ${differences.length} differences`,
      ...steps,
      `model:  ${readable(expected[first])}`,
      `${implementation.name}: ${readable(actual[first])}`,
    ]
      .join('\n')
      .replace(/(.)\1{50,}/gu, (run, [character]) => `${character}…(${run.length})…`);
  }
}

/**
 * The model's answers where it is told who was evicted. Whom a full table evicts depends on where its secret puts the
 * clients, which a model by the book does not know; it does know who may go, when somebody has to, and what is given
 * away by it. A limiter may differ in nothing else; and with it alone in who was evicted: all others are answered as
 * where there is room for everybody.
 *
 * @param {import('./scenario.js').Operation[]} operations
 * @param {string[]} actual
 */
function told(operations, actual) {
  const { coverage, observe } = counter();
  const keys = new Map();
  const keyOf = (text) => {
    if (!keys.has(text)) throw new Error(`${readable(text)} is no bucket`);
    return keys.get(text);
  };
  for (const { client, clients = [client] } of operations) {
    for (const each of clients) {
      if (each === undefined) continue;
      for (const kind of BUCKETS)
        keys.set(writtenKey({ ...kind, client: each }), { ...kind, client: each });
    }
  }
  let model;
  let unbounded; // the same without a bound
  let reset = new Set(); // who was forgotten so far
  let left; // of those that the implementation has named, who are still to go
  const whoGoes = (first, lastOf) => {
    while (left.length > 0 && left[0].length === 0) left.shift();
    const key = left.length === 0 ? undefined : lastOf(left[0].map(keyOf));
    if (key === undefined) return first;
    left[0].splice(left[0].indexOf(writtenKey(key)), 1);
    return key;
  };
  const answers = operations.map((operation, index) => {
    const { kind, strict, table, tier } = operation;
    if (kind === 'open') {
      model = new ModelLimiter({ strict, observe, ...table, whoGoes });
      unbounded = table.onFull === 'deny' ? null : new ModelLimiter({ strict });
      reset = new Set();
    }
    left = evictedIn(actual[index]);
    const answer = ask(model, operation);
    count(answer, observe);
    if (operation.byHandle) observe('by handle');
    const free = unbounded && ask(unbounded, operation);
    const evicted = model.evicted.splice(0);
    for (const { client } of evicted) reset.add(client);
    const concerned = operation.clients ?? [operation.client];
    // What a denied request has not charged is full, and not remembered where there is no room.
    if (DECIDES.has(kind)) {
      for (const client of concerned) if (!model.has(client, tier)) reset.add(client);
    }
    if (unbounded && kind !== 'stats') {
      const isSame = JSON.stringify(answer, whole) === JSON.stringify(free, whole);
      if (!isSame) observe('answered otherwise for an eviction');
      if (!isSame && !concerned.some((client) => reset.has(client))) {
        throw new Error(`the model differs for ${JSON.stringify(concerned)}, never forgotten`);
      }
      // A batch is for all of its clients or for none: what differs for one may differ for the others from now on.
      if (!isSame) for (const client of concerned) reset.add(client);
    }
    return { ...answer, evicted };
  });
  return { answers, coverage };
}

const BUCKETS = LIMIT_NAMES.flatMap((name) => ALGORITHMS.map((algorithm) => ({ name, algorithm })));
const DECIDES = new Set(['allow', 'allowMany', 'check', 'reserve']);
const whole = (_, value) => (typeof value === 'bigint' ? `${value}` : value);

/** In which order the tokens of several buckets were summed is not told: of such a sum the last digits count nothing. */
function comparable(line) {
  if (!line.startsWith('stats ')) return line;
  return line.replace(/\bd([0-9a-f]{16})\b/u, (_, bits) => fromBits(bits).toPrecision(12));
}

/** The operations that the answer to one depends on: the latest of its client, and the policies in force. */
function history(operations, last) {
  const { client, clients = [client] } = operations[last];
  const found = [];
  let decisions = 0;
  let documents = 0;
  for (let index = last; index >= 0; index -= 1) {
    const { kind, client: one, clients: others = [one] } = operations[index];
    const isDocument = ['open', 'policies', 'promote', 'restore', 'shadow'].includes(kind);
    if (
      isDocument &&
      (index === last || (documents < 4 && client !== undefined) || kind === 'open')
    ) {
      documents += 1;
      found.push(index);
    } else if (
      kind !== 'stats' &&
      others.some((each) => clients.includes(each)) &&
      decisions < 10
    ) {
      decisions += 1;
      found.push(index);
    }
    if (kind === 'open') break;
  }
  return found.reverse();
}

function shown(operation) {
  const { kind, document, strict, nowMs = '' } = operation;
  if (!document) return readable(operationLine(operation));
  return `${kind}${strict ? ' strict' : ''} ${nowMs} ${jsonText(document)}`;
}
