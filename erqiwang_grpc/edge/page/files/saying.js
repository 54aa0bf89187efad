/** What a screen reader says: a live region that nobody sees. */

import { h } from './dom.js';

const KEPT = 20;

/** @param {string} text */
export function say(text) {
  const region = document.querySelector('#said');
  if (region === null || !text) return;
  region.append(h('p', {}, text));
  while (region.children.length > KEPT) region.firstElementChild?.remove();
}
