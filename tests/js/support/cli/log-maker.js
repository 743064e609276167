/** Makes access logs: a small web server's traffic from a seed, and single lines. */

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * A line in the Combined Log Format.
 *
 * @param {object} fields
 * @param {number} fields.seconds since 1970 UTC
 * @param {string} [fields.host]
 * @param {string} [fields.user]
 * @param {string} [fields.agent]
 * @param {number} [fields.zoneMinutes] east of Greenwich
 */
export function logLine({
  seconds,
  host = '192.0.2.1',
  user = '-',
  agent = 'Mozilla/5.0 (X11; Linux x86_64)',
  zoneMinutes = 0,
}) {
  const local = new Date((seconds + zoneMinutes * 60) * 1000);
  const [date, time] = local.toISOString().slice(0, 19).split('T');
  const [year, month, day] = date.split('-');
  const east = Math.abs(zoneMinutes);
  const zone = [Math.floor(east / 60), east % 60].map((n) => String(n).padStart(2, '0')).join('');
  const when = `${day}/${MONTHS[Number(month) - 1]}/${year}:${time} ${zoneMinutes < 0 ? '-' : '+'}${zone}`;
  return `${host} - ${user} [${when}] "GET /a?q=\\"x\\" HTTP/1.1" 200 5120 "-" "${agent}"`;
}

/**
 * Lines of a server that notes a request when it ends: out of order by up to `slowestSeconds`. A few
 * clients send most of the requests, now and then in bursts.
 *
 * @param {object} traffic
 * @param {number} traffic.seed
 * @param {number} traffic.lines
 * @param {number} traffic.clients
 * @param {number} [traffic.slowestSeconds]
 * @returns {string[]}
 */
export function makeLog({ seed, lines, clients, slowestSeconds = 45 }) {
  const random = randomNumbers(seed);
  const requests = [];
  let seconds = Date.UTC(2024, 1, 28, 22) / 1000;
  while (requests.length < lines) {
    // Cubed, so that low numbers are by far the most frequent.
    const client = Math.floor(random() ** 3 * clients);
    const burst = random() < 0.1 ? Math.floor(random() * 30) : 1;
    for (let n = 0; n < burst && requests.length < lines; n++) {
      const endSeconds = seconds + Math.floor(random() ** 2 * slowestSeconds);
      requests.push({ host: host(client), seconds, endSeconds });
    }
    seconds += Math.floor(random() * 6);
  }
  requests.sort((a, b) => a.endSeconds - b.endSeconds);
  return requests.map((request, index) =>
    logLine({ ...request, zoneMinutes: [0, 120, -210][index % 3] }),
  );
}

/** @param {number} client */
function host(client) {
  return client % 5 === 0
    ? `2001:db8::${client.toString(16)}`
    : `10.0.${client >> 8}.${client & 255}`;
}

/**
 * Numbers from 0 to below 1: mulberry32.
 *
 * @param {number} seed
 */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
