/**
 * Elements, made from text only: nothing here ever reads text as HTML.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {{[name: string]: string | number | boolean | null | undefined | ((event: Event) => void)}} Attributes
 */

/**
 * What listens to the events of an element, by the name of the event; null if nothing does any more.
 *
 * @type {WeakMap<Element, Map<string, ((event: Event) => void) | null>>}
 */
const listening = new WeakMap();

/**
 * An element. An attribute that is a function listens to the event of that name; one that is false, null or undefined is
 * left out.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...shown(children));
  return made;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') listen(element, name, value);
    else if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {(event: Event) => void} does
 */
function listen(element, name, does) {
  let known = listening.get(element);
  if (known === undefined) listening.set(element, (known = new Map()));
  if (!known.has(name)) element.addEventListener(name, (event) => listening.get(element)?.get(name)?.(event));
  known.set(name, does);
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function shown(children) {
  const kept = [];
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    kept.push(child instanceof Node ? child : String(child));
  }
  return kept;
}

/**
 * Put the children in the place of what the element holds, for example one page in the place of another. If the focus was
 * there, it goes to the element that says `data-refuge`.
 *
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  const focused = document.activeElement;
  const inside = focused instanceof HTMLElement && element.contains(focused);
  element.replaceChildren(...shown(children));
  if (inside && !focused.isConnected) restore(focused.dataset.key);
}

/**
 * Make the element hold what the children say. An element that was there before stays the same element, so that nobody loses a
 * press that has begun, the focus, or the place to which something was scrolled. It is known by its `data-key` or its `id`;
 * without one it is the next with the same tag. The children must be new: what they listen to is taken over, and they are dropped.
 * If the focused element goes or is disabled, the focus goes to the element that says `data-refuge`.
 *
 * @param {Element} element
 * @param {...Child} children
 */
export function update(element, ...children) {
  const focused = document.activeElement;
  const inside = focused instanceof HTMLElement && element !== focused && element.contains(focused);
  fill(element, shown(children));
  if (inside && (!focused.isConnected || focused.matches(':disabled'))) restore(focused.dataset.key);
}

/**
 * @param {Element} element
 * @param {(Node | string)[]} children
 */
function fill(element, children) {
  const old = new Set(element.childNodes);
  const nodes = children.map((child) => {
    const node = typeof child === 'string' ? document.createTextNode(child) : child;
    const same = [...old].find((each) => isSame(each, node));
    if (same === undefined) return node;
    old.delete(same);
    become(same, node);
    return same;
  });
  for (const each of old) each.remove();
  let at = element.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else element.insertBefore(node, at);
  }
}

/**
 * @param {Node} old
 * @param {Node} made
 */
function isSame(old, made) {
  if (old.nodeName !== made.nodeName) return false;
  return !(old instanceof HTMLElement && made instanceof HTMLElement) || key(old) === key(made);
}

/** @param {HTMLElement} element */
function key(element) {
  return element.dataset.key ?? element.id;
}

/**
 * @param {Node} old
 * @param {Node} made
 */
function become(old, made) {
  if (old instanceof HTMLElement && made instanceof HTMLElement) {
    for (const { name } of [...old.attributes]) if (!made.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const name of listening.get(old)?.keys() ?? []) listening.get(old)?.set(name, null);
    for (const [name, does] of listening.get(made) ?? []) if (does) listen(old, name, does);
    const value = made instanceof HTMLInputElement || made instanceof HTMLSelectElement ? made.value : null;
    fill(old, [...made.childNodes]);
    if (value !== null && (old instanceof HTMLInputElement || old instanceof HTMLSelectElement)) valued(old, value);
  } else if (old.nodeValue !== made.nodeValue) {
    old.nodeValue = made.nodeValue;
  }
}

/**
 * @param {HTMLInputElement | HTMLSelectElement} field
 * @param {string} value
 */
function valued(field, value) {
  if (field.value !== value) field.value = value;
}

/** @param {string | undefined} key */
function restore(key) {
  const same = key === undefined ? null : document.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
  const refuge = same ?? document.querySelector('[data-refuge]');
  if (refuge instanceof HTMLElement) refuge.focus({ preventScroll: true });
}
