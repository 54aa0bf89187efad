/**
 * Elements, made from text only: nothing here ever reads text as HTML.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {{[name: string]: string | number | boolean | null | undefined | ((event: Event) => void)}} Attributes
 */

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
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
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
 * Put the children in the place of what the element holds. The focus stays on the element with the same `data-key`; if
 * there is none any more, it goes to the nearest element that says `data-refuge`.
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

/** @param {string | undefined} key */
function restore(key) {
  const same = key === undefined ? null : document.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
  const refuge = same ?? document.querySelector('[data-refuge]');
  if (refuge instanceof HTMLElement) refuge.focus({ preventScroll: true });
}
