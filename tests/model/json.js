// JSON text from a structure whose numbers are texts, so that no digit is lost on the way.
// Objects are Maps (any member name, order kept), numbers are `Digits`, the rest is what it is in JavaScript.

export class Digits {
  /** @param {string} text a number as JSON spells it */
  constructor(text) {
    this.text = text;
  }
}

/**
 * @param {unknown} value
 * @param {{ space?: () => string, quote?: (text: string) => string }} [style] what to put between tokens, and how to
 *   spell a string
 */
export function jsonText(value, style = {}) {
  const { space = () => '', quote = JSON.stringify } = style;
  const write = (node) => {
    if (node instanceof Digits) return node.text;
    if (typeof node === 'string') return quote(node);
    if (Array.isArray(node)) return list('[', node.map(write), ']');
    if (node instanceof Map) {
      const member = ([name, child]) => quote(name) + space() + ':' + space() + write(child);
      return list('{', [...node].map(member), '}');
    }
    return String(node);
  };
  const list = (open, items, close) =>
    open + space() + items.map((item) => item + space()).join(',' + space()) + close;
  return space() + write(value) + space();
}

/** A member name as one step of a JSON Pointer (RFC 6901). */
export function pointerStep(name) {
  return '/' + name.replaceAll('~', '~0').replaceAll('/', '~1');
}
