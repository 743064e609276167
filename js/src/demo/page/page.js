/** The demo's page: sends requests, watches balances, edits policies. */
import * as api from './api.js';
import { PolicyEditor } from './editor.js';
import { History } from './history.js';
import { plot } from './plot.js';
import {
  balance,
  count,
  duration,
  figure,
  judgedBy,
  limitInShort,
  ratePerSecond,
  verdict,
} from './words.js';

const PICKS = ['alice', 'bob', 'acme'];
const MAX_LANES = 6;
const MAX_ENTRIES = 100;
const MAX_SPAN_MS = 300_000;
const PEEK_MS = 500;
const STATS_MS = 2000;
const RETRY_MS = 2000;
const FRAME_MS = 30;
const CALM_FRAME_MS = 1000;

const $ = (id) => document.getElementById(id);
const [clientField, tierField, costField] = [$('client'), $('tier'), $('cost')];
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Watched clients by name, the one used last at the end. */
const lanes = new Map();
let policies = {};
let revision = null;
/** The server's clock less this page's, by the quickest answer so far. */
let clockOffset = -Infinity;
let drawnAt = -Infinity;

const serverNow = () => performance.now() + clockOffset;

// --- Requests ---

function caller() {
  return { client: clientField.value, tier: tierField.value.trim(), cost: Number(costField.value) };
}

/** Sends one request and shows what came of it everywhere but in the announced answer. */
async function send(request, batch) {
  let answer;
  try {
    answer = await api.request(request);
  } catch (error) {
    reportOffline(error);
    return null;
  }
  const { status, body } = answer;
  if (body.decision) {
    learn(request, body, { spent: true });
    logAnswer(request, status, batch, verdict(body.decision), judgedBy(body.decision));
  } else {
    logAnswer(request, status, batch, body.error.message);
  }
  return answer;
}

async function sendOne() {
  const request = caller();
  const answer = await send(request, null);
  if (!answer) return;
  const { decision, error } = answer.body;
  if (!decision) return say('error', error.message);
  const { client } = request;
  const why = decision.fallback ? ` (${judgedBy(decision)})` : '';
  if (decision.allowed) say('ok', `Allowed. ${client} has ${verdict(decision)}${why}.`);
  else say('denied', `Denied: ${client}, ${verdict(decision)}${why}.`);
}

async function sendBurst() {
  const request = caller();
  const size = Number($('burst-size').value);
  const batch = Symbol('burst');
  const answers = (
    await Promise.all(Array.from({ length: size }, () => send(request, batch)))
  ).filter(Boolean);
  if (answers.length === 0) return;
  const refused = answers.find(({ body }) => !body.decision);
  if (refused) return say('error', refused.body.error.message);
  const denied = answers.filter(({ status }) => status === 429);
  const last = (denied.at(-1) ?? answers.at(-1)).body.decision;
  const words = denied.length
    ? `, ${denied.length} denied; ${verdict(last)}`
    : `; ${verdict(last)}`;
  say(
    denied.length ? 'denied' : 'ok',
    `${request.client}: ${answers.length - denied.length} of ${size} allowed${words}.`,
  );
}

function toggleStream() {
  const request = caller();
  const lane = lanes.get(request.client);
  if (lane?.stream) {
    stopStream(lane);
    say('ok', `The stream of ${request.client} has stopped.`);
  } else {
    const perSecond = Number($('stream-rate').value);
    watch(request).stream = {
      timer: setInterval(() => send(request, 'stream'), 1000 / perSecond),
      perSecond,
    };
    send(request, 'stream');
    say('ok', `Streaming ${figure(perSecond)} per second as ${request.client}.`);
  }
  showForm();
}

function stopStream(lane) {
  clearInterval(lane.stream?.timer);
  lane.stream = null;
}

async function assign() {
  const { client, tier } = caller();
  const { ok, body } = await api.assignTier(client, tier || null);
  if (!ok) return say('error', body.error.message);
  tierField.value = '';
  watch({ client, tier: '' });
  learn({ client, tier: '' }, body, { spent: false });
  say(
    'ok',
    tier ? `${client} is now assigned to “${tier}”.` : `The assignment of ${client} is removed.`,
  );
  showForm();
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
    const others = [...lanes.values()];
    for (const other of others) if (other.allowed + other.denied === 0) unwatch(other);
    if (lanes.size >= MAX_LANES) unwatch(others.find(({ stream }) => !stream) ?? others[0]);
    lane = newLane(client);
  }
  lanes.delete(client);
  lanes.set(client, lane);
  lane.tier = tier;
  return lane;
}

function newLane(client) {
  const node = $('lane').content.cloneNode(true).firstElementChild;
  const part = (name) => node.querySelector(`.lane-${name}`);
  const lane = {
    client,
    node,
    tier: '',
    history: new History(),
    decision: null,
    stream: null,
    allowed: 0,
    denied: 0,
  };
  // The colour that is not taken; colours stay with their lane.
  const taken = new Set([...lanes.values()].map((other) => other.node.dataset.series));
  node.dataset.series = Array.from({ length: MAX_LANES }, (_, index) => `${index}`).find(
    (index) => !taken.has(index),
  );
  part('name').textContent = client;
  part('name').addEventListener('click', () => {
    clientField.value = client;
    tierField.value = lane.tier;
    showForm();
    clientField.focus();
  });
  const close = node.querySelector('.close');
  close.setAttribute('aria-label', `Stop watching ${client}`);
  close.addEventListener('click', () => {
    unwatch(lane);
    showForm();
    $('balances').focus();
  });
  $('lanes').append(node);
  return lane;
}

function unwatch(lane) {
  stopStream(lane);
  lane.node.remove();
  lanes.delete(lane.client);
}

/** Takes in a decision: what a request was answered, or what it would be. */
function learn(request, { nowMs, decision }, { spent }) {
  const offset = nowMs - performance.now();
  if (offset > clockOffset || offset < clockOffset - 1000) clockOffset = offset;
  const lane = spent ? watch(request) : lanes.get(request.client);
  if (!lane) return;
  if (spent) lane[decision.allowed ? 'allowed' : 'denied'] += 1;
  lane.tier = request.tier;
  lane.decision = decision;
  const rate = ratePerSecond(judging(decision));
  lane.history.add(nowMs, decision, { rate, cost: request.cost ?? 1, spent });
  lane.history.trim(nowMs - MAX_SPAN_MS);
}

/** The limit that judged, as it stands in the policies. */
function judging({ tier, fallback }) {
  return fallback === null ? policies.tiers?.[tier] : policies.default;
}

function drawLane(lane, spanMs) {
  const { node, decision, history } = lane;
  if (!decision) return;
  const now = serverNow();
  const tokens = history.at(now);
  const untilFull = history.untilFull(now);
  const setText = (selector, text) => {
    const target = node.querySelector(selector);
    if (target.textContent !== text) target.textContent = text;
  };
  setText('.lane-tier', judgedBy(decision));
  setText('.lane-balance b', balance(tokens, decision.limit));
  setText('.lane-limit', `/ ${figure(decision.limit)}`);
  setText('.lane-counts', `${count(lane.allowed)} allowed · ${count(lane.denied)} denied`);
  if (untilFull) setText('.lane-wait', `full in ${duration(untilFull)}`);
  else if (untilFull === 0) setText('.lane-wait', 'full');
  else setText('.lane-wait', decision.resetMs === null ? 'does not refill' : '');
  setText('.live', lane.stream ? `${figure(lane.stream.perSecond)}/s` : '');
  node.querySelector('.live').hidden = !lane.stream;
  const canvas = node.querySelector('canvas');
  canvas.setAttribute('aria-label', `Balance of ${lane.client} over the last ${duration(spanMs)}`);
  plot(canvas, history, { now, spanMs });
}

function drawLanes() {
  const spanMs = Number($('span').value) * 1000;
  for (const lane of lanes.values()) drawLane(lane, spanMs);
}

/** Draws while somebody can see it; once a second for people who asked for less motion. */
function animate(time) {
  if (time - drawnAt >= (calm.matches ? CALM_FRAME_MS : FRAME_MS)) {
    drawnAt = time;
    drawLanes();
  }
  requestAnimationFrame(animate);
}

/** Looks at the watched clients and the totals, over and over while somebody can see them. */
async function poll() {
  let statsAt = -Infinity;
  for (;;) {
    if (document.hidden)
      await new Promise((wake) =>
        document.addEventListener('visibilitychange', wake, { once: true }),
      );
    let pause = PEEK_MS;
    try {
      if (performance.now() - statsAt >= STATS_MS) {
        statsAt = performance.now();
        await showStats();
      }
      await Promise.all([...lanes.values()].map(look));
      $('offline').hidden = true;
    } catch (error) {
      reportOffline(error);
      pause = RETRY_MS;
    }
    await new Promise((wake) => setTimeout(wake, pause));
  }
}

async function look({ client, tier }) {
  const { ok, body } = await api.peek({ client, tier });
  if (ok) learn({ client, tier }, body, { spent: false });
}

async function showStats() {
  const { body } = await api.stats();
  $('total-allowed').textContent = count(body.allowed);
  $('total-denied').textContent = count(body.denied);
  $('total-clients').textContent = count(body.buckets);
  $('total-revision').textContent = `rev ${body.revision}`;
  if (body.revision === revision) return;
  const first = revision === null;
  const wasEdited = editor.edited;
  const text = await loadPolicies();
  if (first || !wasEdited) editor.show(text);
  if (!first)
    outcome(
      'changed',
      'The policies were changed elsewhere.',
      wasEdited ? [] : [...body.rejected, ...body.warnings],
    );
  showPolicyState();
}

function reportOffline(error) {
  if (!(error instanceof api.Unreachable)) throw error;
  $('offline').textContent =
    `The server does not answer: ${error.message}. Is it running? Trying again…`;
  $('offline').hidden = false;
}

// --- The log ---

/** Adds an answer. Answers alike, of one burst or stream, are counted in one entry. */
function logAnswer(request, status, batch, words, judge = '') {
  const list = $('log');
  const kind = [request.client, status, request.cost, judge].join('\n');
  let entry = [...list.children]
    .slice(0, 4)
    .find((other) => batch && other.batch === batch && other.kind === kind);
  if (!entry) {
    entry = $('entry').content.cloneNode(true).firstElementChild;
    Object.assign(entry, { batch, kind, times: 0 });
    entry.dataset.status = status;
    entry.querySelector('.status').textContent = `${status}`;
    const cost = request.cost > 1 ? `, cost ${count(request.cost)}` : '';
    entry.querySelector('.who').textContent = `${request.client}${cost}`;
    list.prepend(entry);
    while (list.childElementCount > MAX_ENTRIES) list.lastElementChild.remove();
  }
  entry.times += 1;
  entry.querySelector('.times').textContent = entry.times > 1 ? `× ${count(entry.times)}` : '';
  entry.querySelector('.said').textContent = judge ? `${judge} · ${words}` : words;
  const now = new Date();
  entry.querySelector('time').dateTime = now.toISOString();
  entry.querySelector('time').textContent = now.toLocaleTimeString('en-GB');
}

// --- Policies ---

const editor = new PolicyEditor($('editor'), { onApply: apply, onEdit: showPolicyState });

async function loadPolicies() {
  const read = await api.readPolicies();
  revision = read.revision;
  policies = JSON.parse(read.text.replace(/^\ufeff/, ''));
  showForm();
  return read.text;
}

async function apply() {
  const { ok, body } = await api.writePolicies(editor.text).catch((error) => {
    reportOffline(error);
    return { ok: false, body: { error: { message: error.message } } };
  });
  if (ok) {
    editor.markSaved();
    const notes = [...body.rejected, ...body.warnings];
    await loadPolicies();
    outcome(notes.length ? 'tolerated' : 'applied', `Applied as revision ${body.revision}.`, notes);
    showPolicyState();
    await Promise.all([...lanes.values()].map(look));
  } else {
    const { message, problems = [] } = body.error;
    const what = problems.length ? '' : ` ${message}.`;
    outcome('refused', `Refused:${what} revision ${revision} stays in force.`, problems);
    showPolicyState('refused');
    const place = problems.find(({ line }) => line !== null);
    if (place) editor.goTo(place);
  }
}

async function revert() {
  editor.show(await loadPolicies());
  outcome('', '', []);
  showPolicyState();
}

/** Says what became of the policies and lists each problem with its place. */
function outcome(kind, message, problems) {
  $('policy-outcome').dataset.kind = kind;
  $('policy-message').textContent = message;
  $('policy-problems').replaceChildren(
    ...problems.map((problem) => {
      const item = document.createElement('li');
      if (problem.line !== null) {
        const place = document.createElement('button');
        place.type = 'button';
        place.className = 'place';
        place.textContent = `${problem.line}:${problem.column}`;
        place.setAttribute('aria-label', `Go to line ${problem.line}, column ${problem.column}`);
        place.addEventListener('click', () => editor.goTo(problem));
        item.append(place);
      }
      item.append(problem.message);
      if (problem.path)
        item.append(
          ' ',
          Object.assign(document.createElement('code'), { textContent: problem.path }),
        );
      return item;
    }),
  );
}

function showPolicyState(refused) {
  const state = refused === 'refused' ? 'refused' : editor.edited ? 'edited' : 'in force';
  $('policy-state').textContent = state === 'in force' ? `in force · rev ${revision}` : state;
  $('policy-state').dataset.state = state;
  $('revert').disabled = !editor.edited;
}

// --- The form ---

function chips(container, field, picks) {
  $(container).replaceChildren(
    ...picks.map(({ value, label, note }) => {
      const chip = document.createElement('button');
      chip.type = 'button';
      chip.className = 'chip';
      chip.textContent = label ?? value;
      if (note) chip.append(Object.assign(document.createElement('small'), { textContent: note }));
      chip.setAttribute('aria-pressed', `${field.value === value}`);
      chip.addEventListener('click', () => {
        field.value = value;
        showForm();
        [...$(container).children]
          .find((other) => other.getAttribute('aria-pressed') === 'true')
          ?.focus();
      });
      return chip;
    }),
  );
}

/** Brings everything that depends on the form's fields up to date. */
function showForm() {
  const { client, ...request } = caller();
  chips(
    'client-chips',
    clientField,
    [...new Set([...PICKS, ...lanes.keys()])].map((value) => ({ value })),
  );
  chips('tier-chips', tierField, [
    { value: '', label: 'as assigned' },
    ...Object.entries(policies.tiers ?? {}).map(([value, limit]) => ({
      value,
      note: limitInShort(limit),
    })),
  ]);
  const streaming = Boolean(lanes.get(client)?.stream);
  $('stream').textContent = streaming ? 'Stop stream' : 'Start stream';
  $('stream').setAttribute('aria-pressed', `${streaming}`);
  const path = api.address('/api/hello', {
    client,
    ...request,
    cost: request.cost > 1 && request.cost,
  });
  // A shell reads '…' as it stands; an apostrophe in the query is encoded as %27.
  $('curl').textContent = `curl -i '${location.origin}${path}'`;
}

function start() {
  const form = $('send');
  const whenValid = (action) => () => form.reportValidity() && action();
  form.addEventListener('input', showForm);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sendOne();
  });
  $('burst').addEventListener('click', whenValid(sendBurst));
  $('stream').addEventListener('click', whenValid(toggleStream));
  $('assign').addEventListener('click', whenValid(assign));
  $('copy-curl').hidden = !navigator.clipboard;
  $('copy-curl').addEventListener('click', async () => {
    await navigator.clipboard.writeText($('curl').textContent);
    say('ok', 'The command is in the clipboard.');
  });
  $('clear-log').addEventListener('click', () => $('log').replaceChildren());
  $('span').addEventListener('change', drawLanes);
  $('apply').addEventListener('click', apply);
  $('revert').addEventListener('click', revert);
  $('host').textContent = location.host;
  watch(caller());
  showForm();
  poll();
  requestAnimationFrame(animate);
}

start();
