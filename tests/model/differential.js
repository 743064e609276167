// An implementation and the model, asked the same.
import { jsonText } from './json.js';
import { makeScenario } from './scenario.js';
import { operationLine, readable } from './transcript.js';

/**
 * @typedef {object} Implementation
 * @property {string} name
 * @property {(operations: import('./scenario.js').Operation[]) => Promise<string[]>} perform an answer line for each
 * @property {(answer: object) => string} expectedLine
 */

/**
 * @param {Implementation} implementation
 * @param {number} seed
 * @param {number} count operations
 */
export async function compare(implementation, seed, count) {
  const { operations, answers, coverage } = makeScenario(seed, count);
  const expected = answers.map(implementation.expectedLine);
  const actual = await implementation.perform(operations);
  if (actual.length !== count) {
    throw new Error(`${implementation.name} answered ${actual.length} of ${count} operations`);
  }
  const differences = [];
  for (let index = 0; index < count; index += 1) {
    if (actual[index] !== expected[index]) differences.push(index);
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
      `seed ${seed}, operation ${first} of ${count}, ${differences.length} differences`,
      ...steps,
      `model:  ${readable(expected[first])}`,
      `${implementation.name}: ${readable(actual[first])}`,
    ]
      .join('\n')
      .replace(/(.)\1{50,}/gu, (run, [character]) => `${character}…(${run.length})…`);
  }
}

/** The operations that the answer to one depends on: the latest of its client, and the policies in force. */
function history(operations, last) {
  const { client } = operations[last];
  const found = [];
  let decisions = 0;
  let documents = 0;
  for (let index = last; index >= 0; index -= 1) {
    const { kind, client: other } = operations[index];
    const isDocument = kind === 'open' || kind === 'policies';
    if (isDocument && (index === last || documents < 3)) {
      documents += 1;
      found.push(index);
    } else if (!isDocument && client !== undefined && other === client && decisions < 8) {
      decisions += 1;
      found.push(index);
    }
    if (kind === 'open') break;
  }
  return found.reverse();
}

function shown(operation) {
  const { kind, document, strict } = operation;
  if (!document) return readable(operationLine(operation));
  return `${kind}${strict ? ' strict' : ''} ${jsonText(document)}`;
}
