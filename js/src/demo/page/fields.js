/** What the last answer says beside its body: the header fields of the limiter, and why it refuses. */

const NAMES = ['RateLimit-Policy', 'RateLimit', 'Retry-After'];

/** So much of a problem document is the limiter's; the rest is what all answers of this API say. */
const MEMBERS = ['type', 'title', 'status', 'violated-policies'];

export class Fields {
  #list;
  #problem;

  /**
   * @param {HTMLElement} list a dl
   * @param {HTMLElement} problem a pre
   */
  constructor(list, problem) {
    this.#list = list;
    this.#problem = problem;
  }

  /** @param {{ headers: Headers, body: object }} answer */
  show({ headers, body }) {
    const fields = NAMES.filter((name) => headers.has(name)).map((name) => {
      const row = document.createElement('div');
      const [term, value] = ['dt', 'dd'].map((tag) => document.createElement(tag));
      term.textContent = `${name}:`;
      value.textContent = headers.get(name);
      row.append(term, ' ', value);
      return row;
    });
    this.#list.replaceChildren(...fields);
    this.#list.hidden = fields.length === 0;
    const type = headers.get('content-type') ?? '';
    this.#problem.hidden = !type.startsWith('application/problem+json');
    if (this.#problem.hidden) return;
    const members = MEMBERS.map((name) => [name, body[name]]);
    const text = JSON.stringify(Object.fromEntries(members), null, 2);
    this.#problem.textContent = `${type}\n${text}`;
  }
}
