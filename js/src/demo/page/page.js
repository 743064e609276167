/** The demo's page: sends requests, watches balances, edits policies. */
import * as api from './api.js';
import { Fields } from './fields.js';
import { Lane } from './lane.js';
import { AnswerLog } from './log.js';
import { Policies } from './policies.js';
import { count, figure, judgedBy, limitInShort, ratePerSecond, verdict } from './words.js';

const PICKS = ['alice', 'bob', 'acme'];
const MAX_LANES = 6;
const PEEK_MS = 500;
const STATS_MS = 2000;
const RETRY_MS = 2000;
const FRAME_MS = 30;
const CALM_FRAME_MS = 1000;

const $ = (id) => document.getElementById(id);
const [form, clientField, tierField, costField] = [$('send'), $('client'), $('tier'), $('cost')];
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Watched clients by name, the one used last at the end. */
const lanes = new Map();
const log = new AnswerLog($('log'));
const fields = new Fields($('fields'), $('problem'));
const policies = new Policies({ onApply: () => act(apply), onChange: showForm });
/** The server's clock less this page's, by the quickest answer so far. */
let clockOffset = -Infinity;
let drawnAt = -Infinity;
let turn = Promise.resolve();

/** Runs what the user asked for; a server that does not answer is said at the top of the page. */
async function act(action) {
  try {
    await action();
  } catch (error) {
    reportOffline(error);
  }
}

function reportOffline(error) {
  if (!(error instanceof api.Unreachable)) throw error;
  $('offline').textContent = `The server does not answer: ${error.message}. Trying again…`;
  $('offline').hidden = false;
}

// --- Requests ---

function caller() {
  return { client: clientField.value, tier: tierField.value.trim(), cost: Number(costField.value) };
}

/** Sends one request and shows what came of it everywhere but in the announced answer. */
async function send(request, batch) {
  const answer = await api.request(request);
  if (answer.body.decision) learn(watch(request), answer.body);
  log.add(request, answer, batch);
  return answer;
}

async function sendOne() {
  const request = caller();
  const { client } = request;
  const answer = await send(request, null);
  fields.show(answer);
  const { decision, error } = answer.body;
  if (!decision) return say('error', error.message);
  const why = decision.fallback ? ` (${judgedBy(decision)})` : '';
  if (decision.allowed) return say('ok', `Allowed. ${client} has ${verdict(decision)}${why}.`);
  return say('denied', `Denied: ${client}, ${verdict(decision)}${why}.`);
}

async function sendBurst() {
  const request = caller();
  const batch = Symbol('burst');
  const size = Number($('burst-size').value);
  const answers = await Promise.all(Array.from({ length: size }, () => send(request, batch)));
  const refused = answers.find(({ body }) => !body.decision);
  if (refused) {
    fields.show(refused);
    return say('error', refused.body.error.message);
  }
  const denied = answers.filter(({ status }) => status === 429);
  const [last] = (denied.length ? denied : answers).sort(api.latestFirst);
  const { body } = last;
  fields.show(last);
  const counted = `${size - denied.length} of ${size} allowed`;
  const others = denied.length ? `, ${denied.length} denied` : '';
  const kind = denied.length ? 'denied' : 'ok';
  return say(kind, `${request.client}: ${counted}${others}; ${verdict(body.decision)}.`);
}

function toggleStream() {
  const request = caller();
  const lane = watch(request);
  if (lane.streaming) {
    lane.stopStream();
    say('ok', `The stream of ${request.client} has stopped.`);
  } else {
    const perSecond = Number($('stream-rate').value);
    lane.startStream(perSecond, () => act(async () => fields.show(await send(request, lane))));
    say('ok', `Streaming ${figure(perSecond)} per second as ${request.client}.`);
  }
  showForm();
}

async function assign() {
  const { client, tier } = caller();
  const { ok, body } = await api.assignTier(client, tier || null);
  if (!ok) return say('error', body.error.message);
  tierField.value = '';
  learn(watch({ client, tier: '' }), body);
  showForm();
  const what = tier ? `is now assigned to “${tier}”` : 'has no assigned tier any more';
  return say('ok', `${client} ${what}.`);
}

function say(kind, text) {
  $('answer').dataset.kind = kind;
  $('answer').textContent = text;
}

// --- Balances ---

/** The lane of a request's client, made if need be; unused ones make room, or the least recent. */
function watch({ client, tier }) {
  let lane = lanes.get(client);
  if (!lane) {
    for (const other of lanes.values()) if (!other.used) unwatch(other);
    const others = [...lanes.values()];
    if (others.length >= MAX_LANES) {
      unwatch(others.find(({ streaming }) => !streaming) ?? others[0]);
    }
    lane = newLane(client);
  }
  lanes.delete(client);
  lanes.set(client, lane);
  lane.tier = tier;
  return lane;
}

function newLane(client) {
  const taken = new Set([...lanes.values()].map(({ series }) => series));
  let series = 0;
  while (taken.has(series)) series += 1;
  const lane = new Lane(client, series, {
    onPick: () => {
      clientField.value = client;
      tierField.value = lane.tier;
      showForm();
      clientField.focus();
    },
    onClose: () => {
      unwatch(lane);
      showForm();
      $('balances').focus();
    },
  });
  $('lanes').append(lane.node);
  return lane;
}

function unwatch(lane) {
  lane.stopStream();
  lane.node.remove();
  lanes.delete(lane.client);
}

function learn(lane, answer) {
  const offset = answer.nowMs - performance.now();
  if (offset > clockOffset || offset < clockOffset - 1000) clockOffset = offset;
  lane.learn(answer, ratePerSecond(policies.limitOf(answer.decision)));
}

async function look(lane) {
  const { client, tier } = lane;
  const { ok, body } = await api.peek({ client, tier });
  if (ok && lane.tier === tier) learn(lane, body);
}

const lookAtAll = () => Promise.all([...lanes.values()].map(look));

function draw() {
  const view = { now: performance.now() + clockOffset, spanMs: Number($('span').value) * 1000 };
  for (const lane of lanes.values()) lane.draw(view);
}

/** Draws while somebody can see it; once a second for people who asked for less motion. */
function animate(time) {
  if (time - drawnAt >= (calm.matches ? CALM_FRAME_MS : FRAME_MS)) {
    drawnAt = time;
    draw();
  }
  requestAnimationFrame(animate);
}

// --- What others do, and the policies ---

/** Looks at the watched clients and the totals, over and over while somebody can see them. */
async function poll() {
  let statsAt = -Infinity;
  for (;;) {
    await shown();
    let pause = PEEK_MS;
    try {
      if (performance.now() - statsAt >= STATS_MS) {
        statsAt = performance.now();
        await inTurn(showStats);
      }
      await lookAtAll();
      $('offline').hidden = true;
    } catch (error) {
      reportOffline(error);
      pause = RETRY_MS;
    }
    await new Promise((wake) => setTimeout(wake, pause));
  }
}

/** Resolves when somebody can see the page. */
async function shown() {
  while (document.hidden) {
    await new Promise((wake) =>
      document.addEventListener('visibilitychange', wake, { once: true }),
    );
  }
}

async function showStats() {
  const { body } = await api.stats();
  $('total-allowed').textContent = count(body.allowed);
  $('total-denied').textContent = count(body.denied);
  $('total-clients').textContent = count(body.buckets);
  $('total-revision').textContent = `rev ${body.revision}`;
  await policies.follow(body);
}

async function apply() {
  await inTurn(() => policies.apply());
  await lookAtAll();
}

/** One after the other, so that nobody takes the page's own change for another's. */
function inTurn(action) {
  const result = turn.then(action);
  turn = result.catch(() => {});
  return result;
}

// --- The form ---

function chips(container, field, picks) {
  const nodes = picks.map(({ value, label = value, note }) => {
    const chip = document.createElement('button');
    chip.type = 'button';
    chip.className = 'chip';
    chip.textContent = label;
    chip.title = label;
    if (note) chip.append(Object.assign(document.createElement('small'), { textContent: note }));
    chip.ariaPressed = `${field.value === value}`;
    chip.addEventListener('click', () => {
      field.value = value;
      showForm();
      container.querySelector('[aria-pressed=true]').focus();
    });
    return chip;
  });
  container.replaceChildren(...nodes);
}

/** Brings everything that depends on the form's fields up to date. */
function showForm() {
  const { client, tier, cost } = caller();
  const clients = [...new Set([...PICKS, ...lanes.keys()])].map((value) => ({ value }));
  const tiers = Object.entries(policies.tiers);
  chips($('client-chips'), clientField, clients);
  chips($('tier-chips'), tierField, [
    { value: '', label: 'as assigned' },
    ...tiers.map(([value, limit]) => ({ value, note: limitInShort(limit) })),
  ]);
  const streaming = lanes.get(client)?.streaming ?? false;
  $('stream').textContent = streaming ? 'Stop stream' : 'Start stream';
  $('stream').ariaPressed = `${streaming}`;
  // A shell reads '…' as it stands; an apostrophe in the query is encoded as %27.
  const path = api.address('/api/hello', { client, tier, cost: cost > 1 && cost });
  $('curl').textContent = `curl -i '${location.origin}${path}'`;
}

async function copyCurl() {
  await navigator.clipboard.writeText($('curl').textContent);
  say('ok', 'The command is in the clipboard.');
}

const onClick = (id, action) => $(id).addEventListener('click', () => act(action));
const whenValid = (action) => () => (form.reportValidity() ? action() : undefined);

form.addEventListener('input', showForm);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  act(sendOne);
});
onClick('burst', whenValid(sendBurst));
onClick('stream', whenValid(toggleStream));
onClick('assign', whenValid(assign));
onClick('copy-curl', copyCurl);
onClick('clear-log', () => log.clear());
onClick('apply', apply);
onClick('revert', () => inTurn(() => policies.revert()));
$('span').addEventListener('change', draw);
$('copy-curl').hidden = !navigator.clipboard;
$('host').textContent = location.host;

watch(caller());
showForm();
poll();
requestAnimationFrame(animate);
