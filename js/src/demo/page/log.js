/** The list of recent answers. */
import { latestFirst } from './api.js';
import { count, judgedBy, verdict } from './words.js';

const MAX_ENTRIES = 100;
/** Bursts and streams run side by side; an answer may belong to one of so many entries. */
const OPEN_ENTRIES = 4;

export class AnswerLog {
  #list;

  /** @param {HTMLElement} list */
  constructor(list) {
    this.#list = list;
  }

  /**
   * Adds an answer. Those alike of one batch are counted in one entry, which tells the latest.
   * @param {{ client: string, cost: number }} request
   * @param {{ status: number, body: object }} answer
   * @param {unknown} batch what a burst's or a stream's answers have in common; null for a single
   */
  add(request, { status, body }, batch) {
    const { decision, error } = body;
    const judge = decision && judgedBy(decision);
    const kind = [request.client, status, request.cost, judge].join('\n');
    const entry = this.#find(batch, kind) ?? this.#start(request, status, { batch, kind });
    entry.times += 1;
    const say = (part, text) => {
      entry.querySelector(part).textContent = text;
    };
    if (entry.times > 1) say('.times', `× ${count(entry.times)}`);
    if (!entry.body || !decision || latestFirst({ body }, entry) < 0) {
      entry.body = body;
      say('.said', decision ? `${judge} · ${verdict(decision)}` : error.message);
    }
    const now = new Date();
    entry.querySelector('time').dateTime = now.toISOString();
    say('time', now.toLocaleTimeString('en-GB'));
  }

  clear() {
    this.#list.replaceChildren();
  }

  #find(batch, kind) {
    if (batch === null) return undefined;
    const recent = [...this.#list.children].slice(0, OPEN_ENTRIES);
    return recent.find((entry) => entry.batch === batch && entry.kind === kind);
  }

  #start(request, status, about) {
    const entry = document.getElementById('entry').content.cloneNode(true).firstElementChild;
    Object.assign(entry, about, { times: 0, body: null });
    entry.dataset.status = status;
    entry.querySelector('.status').textContent = status;
    const cost = request.cost > 1 ? `, cost ${count(request.cost)}` : '';
    entry.querySelector('.who').textContent = `${request.client}${cost}`;
    entry.querySelector('.who').title = request.client;
    this.#list.prepend(entry);
    while (this.#list.childElementCount > MAX_ENTRIES) this.#list.lastElementChild.remove();
    return entry;
  }
}
