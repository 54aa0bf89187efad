/**
 * The viewer's own hand: a button for each card. Arrow keys move between the cards, Space and Enter choose.
 *
 * @import { Trump } from './messages.d.ts'
 * @typedef {object} Marks
 * @property {ReadonlySet<number>} chosen
 * @property {ReadonlySet<number>} must
 * @property {ReadonlySet<number> | null} may  The cards that may be played; null if every card may.
 * @property {ReadonlySet<number>} kitty
 */

import { classes, drawn } from './card_face.js';
import { cardName, group, groupText, sorted } from './cards.js';
import { h, set } from './dom.js';
import { counted, language, t } from './language.js';

export class Hand {
  element = h('div', {
    class: 'hand',
    role: 'group',
    keydown: (event) => this.#key(/** @type {KeyboardEvent} */ (event)),
  });
  /** @type {Map<number, HTMLButtonElement>} */
  #buttons = new Map();
  /** @type {number[]} */
  #order = [];
  /** The card that the Tab key reaches. */
  #current = -1;
  #language = language();

  /** @param {(card: number) => void} toggle */
  constructor(toggle) {
    this.toggle = toggle;
  }

  /**
   * @param {readonly number[]} cards
   * @param {Trump | undefined} trump
   * @param {Marks} marks
   */
  show(cards, trump, marks) {
    const focused = this.#order.findIndex((card) => this.#buttons.get(card) === document.activeElement);
    const order = sorted(cards, trump);
    if (this.#language !== language()) this.#buttons.clear();
    this.#language = language();
    for (const card of this.#buttons.keys()) if (!order.includes(card)) this.#buttons.delete(card);
    const buttons = order.map((card) => this.#button(card));
    const changed =
      order.length !== this.element.children.length || buttons.some((each, at) => this.element.children[at] !== each);
    if (changed) this.element.replaceChildren(...buttons);
    this.#order = order;
    this.element.style.setProperty('--count', String(Math.max(1, order.length)));
    if (!order.includes(this.#current)) this.#current = order[Math.min(Math.max(focused, 0), order.length - 1)] ?? -1;
    order.forEach((card, at) => this.#mark(card, order[at - 1], trump, marks));
    set(this.element, {
      'aria-label': t('your_hand', { cards: counted('cards', order.length) }),
      hidden: order.length === 0,
    });
    if (focused >= 0 && !this.element.contains(document.activeElement)) this.#focus(this.#current);
  }

  /** @param {number} card */
  #button(card) {
    let button = this.#buttons.get(card);
    if (button === undefined) {
      button = h('button', { type: 'button', 'data-card': card, click: () => this.#choose(card) }, ...drawn(card));
      this.#buttons.set(card, button);
    }
    return button;
  }

  /**
   * @param {number} card
   * @param {number | undefined} before
   * @param {Trump | undefined} trump
   * @param {Marks} marks
   */
  #mark(card, before, trump, { chosen, must, may, kitty }) {
    const barred = may !== null && !may.has(card);
    const begins = before !== undefined && group(before, trump) !== group(card, trump);
    const label = must.has(card) ? 'card_must' : barred ? 'card_may_not' : kitty.has(card) ? 'card_kitty' : null;
    const name = cardName(card);
    set(this.#button(card), {
      class: [
        classes(card),
        chosen.has(card) ? 'chosen' : '',
        must.has(card) ? 'must' : '',
        barred ? 'barred' : '',
        kitty.has(card) ? 'kitty' : '',
        begins ? 'begins' : '',
        group(card, trump) === 'GROUP_TRUMPS' ? 'trump' : '',
      ].join(' '),
      'aria-pressed': String(chosen.has(card)),
      'aria-disabled': barred ? 'true' : null,
      'aria-label': label === null ? name : t(label, { card: name }),
      title: begins || before === undefined ? groupText(group(card, trump)) : null,
      tabindex: card === this.#current ? 0 : -1,
    });
  }

  /** @param {number} card */
  #choose(card) {
    this.#focus(card);
    this.toggle(card);
  }

  /** @param {number} card */
  #focus(card) {
    for (const [each, button] of this.#buttons) button.tabIndex = each === card ? 0 : -1;
    this.#current = card;
    this.#buttons.get(card)?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // Such keys are the browser's own, as for its history.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.#order.indexOf(this.#current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.#order.length - 1 }[event.key];
    const card = to === undefined ? undefined : this.#order[to];
    if (card === undefined) return;
    event.preventDefault();
    this.#focus(card);
  }
}
