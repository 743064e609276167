/**
 * The simulation done over again by other means, to compare with: nothing of it is shared with the
 * tool or the core. Lines are taken apart by one regular expression, sorted as a whole, and judged by
 * whole-number buckets over BigInt.
 */

const LINE = /^(\S+) .*? \[(\d+)\/(\w+)\/(\d+):([\d:]+) ([+-]\d{4})\] "/;

/**
 * @typedef {object} Terms a token bucket: room for `halfTokens` / 2 tokens, `tokens` more every `seconds`
 * @property {bigint} halfTokens
 * @property {bigint} tokens
 * @property {bigint} seconds
 */

/** @typedef {{ admitted: number, denied: number }} Counts */

/**
 * @param {string[]} lines
 * @param {Record<string, Terms>} tiers
 * @param {(client: string) => string} tierOf
 */
export function judge(lines, tiers, tierOf) {
  const requests = lines.map((line) => {
    const [, client, day, month, year, time, zone] = LINE.exec(line) ?? [];
    return { client, seconds: Date.parse(`${day} ${month} ${year} ${time} ${zone}`) / 1000 };
  });
  // Array.prototype.sort keeps the order of those that compare equal.
  requests.sort((a, b) => a.seconds - b.seconds);

  /** @type {Map<string, { balance: bigint, seconds: bigint }>} A balance of 2 `seconds` is a token. */
  const buckets = new Map();
  /** @type {Map<string, Counts>} */
  const perTier = new Map();
  /** @type {Map<string, Counts>} */
  const perClient = new Map();
  for (const request of requests) {
    const { client } = request;
    const seconds = BigInt(request.seconds);
    const tier = tierOf(client);
    const terms = tiers[tier];
    const token = 2n * terms.seconds;
    const full = terms.halfTokens * terms.seconds;
    const bucket = buckets.get(client) ?? { balance: full, seconds };
    const grown = bucket.balance + (seconds - bucket.seconds) * 2n * terms.tokens;
    const balance = grown < full ? grown : full;
    const admitted = balance >= token;
    buckets.set(client, { balance: admitted ? balance - token : balance, seconds });
    add(perTier, tier, admitted);
    add(perClient, client, admitted);
  }
  return { perTier, perClient };
}

/**
 * @param {Map<string, Counts>} counts
 * @param {string} name
 * @param {boolean} admitted
 */
function add(counts, name, admitted) {
  const known = counts.get(name) ?? { admitted: 0, denied: 0 };
  counts.set(name, {
    admitted: known.admitted + Number(admitted),
    denied: known.denied + Number(!admitted),
  });
}
