/** The policies: those in force, the editor, and what became of an attempt to replace them. */
import * as api from './api.js';
import { PolicyEditor } from './editor.js';

const $ = (id) => document.getElementById(id);

export class Policies {
  #inForce = {};
  #revision = null;
  #editor;
  #onChange;

  /** @param {{ onApply: () => void, onChange: () => void }} handlers */
  constructor({ onApply, onChange }) {
    this.#onChange = onChange;
    this.#editor = new PolicyEditor($('editor'), {
      onApply,
      onEdit: () => this.#showState(),
    });
  }

  /** The tiers in force, by name. */
  get tiers() {
    return this.#inForce.tiers ?? {};
  }

  /** The limit that made a decision, as it stands in the policies. */
  limitOf({ tier, fallback }) {
    return fallback === null ? this.tiers[tier] : this.#inForce.default;
  }

  /** Puts what was typed in force, or shows why it is refused and where. */
  async apply() {
    const { text } = this.#editor;
    const { ok, body } = await api.writePolicies(text);
    if (!ok) {
      const { message, problems = [] } = body.error;
      const why = problems.length ? '' : ` ${message};`;
      this.#report(
        'refused',
        `Refused:${why} revision ${this.#revision} stays in force.`,
        problems,
      );
      this.#showState('refused');
      const place = problems.find(({ line }) => line !== null);
      if (place) this.#editor.goTo(place);
      return;
    }
    const notes = [...body.rejected, ...body.warnings];
    const kind = notes.length ? 'tolerated' : 'applied';
    this.#editor.markSaved(text);
    await this.#read();
    this.#showState();
    this.#report(kind, `Applied as revision ${body.revision}.`, notes);
  }

  /** Shows the policies in force in place of what was typed. */
  async revert() {
    this.#editor.show(await this.#read());
    this.#showState();
    this.#report('', '', []);
  }

  /** Takes in policies that somebody else applied, but leaves alone what is being typed. */
  async follow({ revision, rejected, warnings }) {
    if (revision === this.#revision) return;
    const first = this.#revision === null;
    const { edited } = this.#editor;
    const text = await this.#read();
    if (!edited) this.#editor.show(text);
    const notes = edited ? [] : [...rejected, ...warnings];
    this.#report('changed', first ? '' : 'The policies were changed elsewhere.', notes);
    this.#showState();
  }

  async #read() {
    const { text, revision } = await api.readPolicies();
    this.#revision = revision;
    this.#inForce = JSON.parse(text.replace(/^\ufeff/, ''));
    this.#onChange();
    return text;
  }

  #showState(state = this.#editor.edited ? 'edited' : 'in force') {
    const badge = $('policy-state');
    badge.textContent = state === 'in force' ? `in force · rev ${this.#revision}` : state;
    badge.dataset.state = state;
    $('revert').disabled = state === 'in force';
  }

  /** Says what became of the policies and lists each problem with its place. */
  #report(kind, message, problems) {
    $('policy-outcome').dataset.kind = kind;
    $('policy-message').textContent = message;
    $('policy-problems').replaceChildren(...problems.map((problem) => this.#item(problem)));
  }

  #item(problem) {
    const item = document.createElement('li');
    if (problem.line !== null) {
      const place = document.createElement('button');
      place.type = 'button';
      place.className = 'place';
      place.textContent = `${problem.line}:${problem.column}`;
      place.ariaLabel = `Go to line ${problem.line}, column ${problem.column}`;
      place.addEventListener('click', () => this.#editor.goTo(problem));
      item.append(place);
    }
    item.append(problem.message);
    if (problem.path) {
      const path = document.createElement('code');
      path.textContent = problem.path;
      item.append(' ', path);
    }
    return item;
  }
}
