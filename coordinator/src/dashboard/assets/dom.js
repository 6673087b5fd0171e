// Building and changing elements. Text from outside only ever becomes text: nothing here takes markup.

const SVG = 'http://www.w3.org/2000/svg';

/** @param {string} id @returns {HTMLElement} an element of index.html */
export const byId = (id) => document.getElementById(id);

/** Sets attributes: `true` is an empty attribute, `false`, null and undefined remove it. Only what differs is touched. */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) {
      if (node.hasAttribute(name)) node.removeAttribute(name);
    } else {
      const text = value === true ? '' : String(value);
      if (node.getAttribute(name) !== text) node.setAttribute(name, text);
    }
  }
  return node;
}

/**
 * An HTML element.
 * @param {string} tag
 * @param {Object<string, string|number|boolean|null>} [attributes]
 * @param {...(Node|string)} children strings become text nodes
 */
export function el(tag, attributes = {}, ...children) {
  const node = setAttributes(document.createElement(tag), attributes);
  node.append(...children);
  return node;
}

/** An SVG element, with the same arguments as `el`. */
export function svg(tag, attributes = {}, ...children) {
  const node = setAttributes(document.createElementNS(SVG, tag), attributes);
  node.append(...children);
  return node;
}

/** Sets a node's text if it differs: an unchanged text costs no layout, and a screen reader does not repeat it. */
export function setText(node, text) {
  const value = text === null || text === undefined ? '' : String(text);
  const only = node.firstChild;
  if (only && only === node.lastChild && only.nodeType === Node.TEXT_NODE) {
    if (only.data !== value) only.data = value;
  } else if (only || value !== '') {
    node.textContent = value;
  }
}

/** Shows or hides a node. */
export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

/**
 * Makes the children of `parent` those of `items`, in their order, keeping the elements of keys that stay.
 * @template T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => string|number} keyOf
 * @param {(item: T) => Element} create
 * @param {(node: Element, item: T, index: number) => void} update
 */
export function keyed(parent, items, keyOf, create, update) {
  const old = new Map();
  for (const child of parent.children) old.set(child.dataset.key, child);
  let place = parent.firstElementChild;
  items.forEach((item, index) => {
    const key = String(keyOf(item));
    let node = old.get(key);
    if (node) {
      old.delete(key);
    } else {
      node = create(item);
      node.dataset.key = key;
    }
    update(node, item, index);
    if (node === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(node, place);
    }
  });
  for (const node of old.values()) node.remove();
}

/**
 * Fills a `<dl>` with pairs of a name and a text; null texts are left out.
 * @param {Element} list
 * @param {[string, string|null][]} pairs
 */
export function setFacts(list, pairs) {
  const shown = pairs.filter(([, text]) => text !== null);
  keyed(
    list,
    shown,
    ([name]) => name,
    ([name]) => el('div', {}, el('dt', {}, name), el('dd')),
    (node, [, text]) => setText(node.lastChild, text),
  );
}

/** Whether the reader asked for less motion. */
const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');
export const motionAllowed = () => !lessMotion.matches;
