/** Cards as elements, drawn with text. */

import { cardName, cardsText, face, pipText, points, rankText, sorted, suitText } from './cards.js';
import { h } from './dom.js';

/** @import { Trump } from './messages.d.ts' */

/**
 * What stands on a card.
 *
 * @param {number} card
 */
export function drawn(card) {
  return [
    h('span', { class: face(card).rank === 10 ? 'rank ten' : 'rank' }, rankText(card)),
    h('span', { class: 'suit' }, suitText(card)),
    h('span', { class: 'pip' }, pipText(card)),
  ];
}

/**
 * The classes of a card: its colour, and whether it is a joker.
 *
 * @param {number} card
 */
export function classes(card) {
  const { suit, rank } = face(card);
  const red = suit === 0 || suit === 2 || (suit < 0 && rank === 1);
  return `card ${red ? 'red' : 'black'}${suit < 0 ? ' joker' : ''}`;
}

/**
 * Cards side by side that are only looked at. A screen reader reads them as one list of names.
 *
 * @param {readonly number[]} cards
 * @param {Trump} [trump]
 * @param {{small?: boolean, marked?: ReadonlySet<number>}} [look]
 */
export function row(cards, trump, look = {}) {
  const inOrder = sorted(cards, trump);
  return h(
    'span',
    {
      class: look.small ? 'cards small' : 'cards',
      role: 'img',
      'aria-label': inOrder.map(cardName).join(', '),
      title: cardsText(cards, trump),
    },
    ...inOrder.map((card) =>
      h(
        'span',
        { class: `${classes(card)}${look.marked?.has(card) ? ' gone' : ''}`, 'data-points': points(card) || null },
        ...drawn(card),
      ),
    ),
  );
}
