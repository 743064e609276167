/** The policy editor: a text area with line numbers and colours that can show a place in it. */

const MAX_COLOURED = 50_000;

/** A JSON token in four groups: a member name, another string, a number, a word. */
const TOKEN =
  /("(?:[^"\\\n]|\\.)*"(?=\s*:))|("(?:[^"\\\n]|\\.)*"?)|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;
const TOKEN_CLASSES = ['name', 'string', 'number', 'word'];

export class PolicyEditor {
  #area;
  #colours;
  #gutter;
  #band;
  #saved = '';

  /**
   * @param {HTMLElement} root holds a textarea, .colours, .gutter and .band
   * @param {{ onApply: () => void, onEdit: (edited: boolean) => void }} handlers
   */
  constructor(root, { onApply, onEdit }) {
    this.#area = root.querySelector('textarea');
    this.#colours = root.querySelector('.colours');
    this.#gutter = root.querySelector('.gutter');
    this.#band = root.querySelector('.band');
    this.#area.addEventListener('input', () => {
      this.#band.hidden = true;
      this.#paint();
      onEdit(this.edited);
    });
    this.#area.addEventListener('scroll', () => this.#follow());
    this.#area.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onApply();
    });
  }

  get text() {
    return this.#area.value;
  }

  /** Whether the text differs from the one last shown or saved. */
  get edited() {
    return this.text !== this.#saved;
  }

  /** Shows the policies in force. */
  show(text) {
    this.#area.value = text;
    this.#area.setSelectionRange(0, 0);
    this.#band.hidden = true;
    this.markSaved(text);
    this.#paint();
  }

  /** Takes a text for the one that is saved, whatever was typed since. */
  markSaved(text) {
    this.#saved = text;
    this.#band.hidden = true;
  }

  /**
   * Puts the caret at a line and column (from 1, the column in UTF-16 units), selects what stands
   * there and brings it into view.
   */
  goTo({ line, column }) {
    const lines = this.text.split('\n');
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const start = Math.min(before + column - 1, this.text.length);
    const end = Math.min(start + 1, before + (lines[line - 1] ?? '').length);
    this.#area.focus({ preventScroll: true });
    this.#area.setSelectionRange(start, Math.max(start, end));

    const { lineHeight, paddingTop } = getComputedStyle(this.#area);
    const top = (line - 1) * parseFloat(lineHeight);
    this.#area.scrollTop = top - this.#area.clientHeight / 2;
    this.#area.scrollLeft = 0;
    this.#band.style.setProperty('top', `${top + parseFloat(paddingTop)}px`);
    this.#band.hidden = false;
    this.#follow();
  }

  #paint() {
    const { text } = this;
    const lines = text.split('\n').length;
    if (this.#gutter.childElementCount !== lines) {
      this.#gutter.replaceChildren(
        ...Array.from({ length: lines }, (_, index) => element('span', `${index + 1}`)),
      );
    }
    this.#colours.replaceChildren(...(text.length > MAX_COLOURED ? [text] : coloured(text)), '\n');
    this.#follow();
  }

  #follow() {
    const { scrollLeft, scrollTop } = this.#area;
    this.#colours.style.setProperty('transform', `translate(${-scrollLeft}px, ${-scrollTop}px)`);
    this.#band.style.setProperty('transform', `translateY(${-scrollTop}px)`);
    this.#gutter.style.setProperty('transform', `translateY(${-scrollTop}px)`);
  }
}

function coloured(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    nodes.push(text.slice(end, match.index));
    const group = match.slice(1).findIndex((part) => part !== undefined);
    nodes.push(element('span', match[0], TOKEN_CLASSES[group]));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)];
}

function element(name, text, className = '') {
  const node = document.createElement(name);
  node.textContent = text;
  node.className = className;
  return node;
}
