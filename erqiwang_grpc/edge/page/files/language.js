/** The language of the page, and its texts. */

import english from './texts.en.js';
import chinese from './texts.zh.js';

/**
 * @typedef {'en' | 'zh'} Language
 * @typedef {keyof typeof english} Key
 * @typedef {{[name: string]: string | number}} Values
 */

const STORED = 'erqiwang.language';

/** @type {Language} */
let current = first();

/** @returns {Language} */
function first() {
  try {
    const stored = localStorage.getItem(STORED);
    if (stored === 'en' || stored === 'zh') return stored;
  } catch {
    // The browser keeps nothing for this page.
  }
  return navigator.languages.some((each) => each.toLowerCase().startsWith('zh')) ? 'zh' : 'en';
}

/** The language in use. */
export function language() {
  return current;
}

/** @param {Language} chosen */
export function choose(chosen) {
  current = chosen;
  try {
    localStorage.setItem(STORED, chosen);
  } catch {
    // The choice lasts as long as the page.
  }
}

/**
 * The text with that key in the language in use. `{name}` in it stands for the value of that name.
 *
 * @param {Key} key
 * @param {Values} [values]
 */
export function t(key, values = {}) {
  const texts = current === 'zh' ? chinese : english;
  const text = texts[key] ?? texts[generic(key)] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * A value of an enum that is newer than this page is told as one that is not specified.
 *
 * @param {Key} key
 * @returns {Key}
 */
function generic(key) {
  const kind = /^[a-z_]+_(?=[A-Z\d])/.exec(key)?.[0];
  const keys = /** @type {Key[]} */ (Object.keys(english));
  const found = keys.find((each) => kind !== undefined && each.startsWith(kind) && each.endsWith('_UNSPECIFIED'));
  return found ?? key;
}

/**
 * A number of things: `2 cards`, `2 张`.
 *
 * @param {'cards' | 'pairs' | 'trumps' | 'tractors' | 'points' | 'chips' | 'levels' | 'seconds'} things
 * @param {number} number
 */
export function counted(things, number) {
  return t(number === 1 ? `one_${things}` : `many_${things}`, { n: number });
}

/**
 * `a`, `a and b`, `a, b and c`.
 *
 * @param {string[]} parts
 */
export function listed(parts) {
  const last = parts[parts.length - 1] ?? '';
  return parts.length < 2 ? last : t('list', { first: parts.slice(0, -1).join(t('comma')), last });
}

/** Sentences, one after another.
 * @param {string[]} sentences */
export function joined(sentences) {
  return sentences.join(t('between_sentences'));
}

/** @param {number} amount */
export function signed(amount) {
  return amount > 0 ? `+${amount}` : amount < 0 ? `−${-amount}` : '0';
}
