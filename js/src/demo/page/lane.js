/** One watched client: its balance, its plot, and the stream of requests sent in its name. */
import { History } from './history.js';
import { plot } from './plot.js';
import { balance, count, duration, figure, judgedBy } from './words.js';

const MAX_SPAN_MS = 300_000;

export class Lane {
  /** The tier to ask about it with; '' leaves it to the server. */
  tier = '';
  allowed = 0;
  denied = 0;
  #history = new History();
  #decision = null;
  #stream = null;
  #perSecond = 0;

  /**
   * @param {string} client
   * @param {number} series which of the page's colours it has
   * @param {{ onPick: () => void, onClose: () => void }} handlers
   */
  constructor(client, series, { onPick, onClose }) {
    this.client = client;
    this.series = series;
    this.node = document.getElementById('lane').content.cloneNode(true).firstElementChild;
    this.node.dataset.series = series;
    const name = this.#part('.lane-name');
    name.firstChild.textContent = client;
    name.title = `Use ${client} in the form`;
    name.addEventListener('click', onPick);
    const close = this.#part('.close');
    close.setAttribute('aria-label', `Stop watching ${client}`);
    close.addEventListener('click', onClose);
  }

  /** Whether anything was sent in its name. */
  get used() {
    return this.allowed + this.denied > 0;
  }

  get streaming() {
    return this.#stream !== null;
  }

  startStream(perSecond, send) {
    this.#stream = setInterval(send, 1000 / perSecond);
    this.#perSecond = perSecond;
    send();
  }

  stopStream() {
    clearInterval(this.#stream);
    this.#stream = null;
  }

  /**
   * Takes in what a request was answered, or a peek, which has no cost.
   * @param {{ nowMs: number, decision: object, cost?: number }} answer
   * @param {number | null} rate as History.add has it
   */
  learn({ nowMs, decision, cost = 0 }, rate) {
    if (cost > 0) this[decision.allowed ? 'allowed' : 'denied'] += 1;
    this.#decision = decision;
    this.#part('.lane-tier').title = judgedBy(decision);
    this.#history.add(nowMs, decision, { rate, cost });
    this.#history.trim(nowMs - MAX_SPAN_MS);
  }

  /** @param {{ now: number, spanMs: number }} view as plot has it */
  draw({ now, spanMs }) {
    const decision = this.#decision;
    if (!decision) return;
    const untilFull = this.#history.untilFull(now);
    let wait = decision.resetMs === null ? 'does not refill' : '';
    if (untilFull !== null) wait = untilFull > 0 ? `full in ${duration(untilFull)}` : 'full';
    this.#say('.lane-tier', judgedBy(decision));
    this.#say('.lane-balance b', balance(this.#history.at(now), decision.limit));
    this.#say('.lane-limit', `/ ${figure(decision.limit)}`);
    this.#say('.lane-counts', `${count(this.allowed)} allowed · ${count(this.denied)} denied`);
    this.#say('.lane-wait', wait);
    this.#say('.live', `${figure(this.#perSecond)}/s`);
    this.#part('.live').hidden = !this.streaming;
    const canvas = this.#part('canvas');
    canvas.ariaLabel = `Balance of ${this.client} over the last ${duration(spanMs)}`;
    plot(canvas, this.#history, { now, spanMs });
  }

  #part(selector) {
    return this.node.querySelector(selector);
  }

  #say(selector, text) {
    const part = this.#part(selector);
    if (part.textContent !== text) part.textContent = text;
  }
}
