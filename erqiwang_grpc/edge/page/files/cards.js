/**
 * What a card is, and in which order a player holds cards. docs/cards.json says the same, and a test compares them.
 *
 * @import { Group, Trump } from './messages.d.ts'
 * @typedef {{suit: number, rank: number}} Face  Suit 0 to 3: diamonds, clubs, hearts, spades. Rank 1 to 13. Jokers have
 *   suit -1, and rank 0 for the small and 1 for the big one.
 */

import { t } from './language.js';

const KINDS = 54;
const SYMBOLS = ['♦', '♣', '♥', '♠'];
const RANKS = ['', 'A', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'J', 'Q', 'K'];
/** @type {Trump[]} */
const SUIT_TRUMPS = ['TRUMP_DIAMONDS', 'TRUMP_CLUBS', 'TRUMP_HEARTS', 'TRUMP_SPADES'];
/** @type {Group[]} */
const SIDE_SUITS = ['GROUP_DIAMONDS', 'GROUP_CLUBS', 'GROUP_HEARTS', 'GROUP_SPADES'];
const SUIT_NAMES = /** @type {const} */ (['diamonds', 'clubs', 'hearts', 'spades']);

/**
 * @param {number} card
 * @returns {Face}
 */
export function face(card) {
  const kind = card % KINDS;
  return kind >= 52 ? { suit: -1, rank: kind - 52 } : { suit: Math.floor(kind / 13), rank: (kind % 13) + 1 };
}

/** The suit of a trump choice, 0 to 3; -1 for no trump and while none is named.
 * @param {Trump | undefined} trump */
export function suitOf(trump) {
  return trump === undefined ? -1 : SUIT_TRUMPS.indexOf(trump);
}

/**
 * The group that a card belongs to.
 *
 * @param {number} card
 * @param {Trump} [trump]
 * @returns {Group}
 */
export function group(card, trump) {
  const { suit, rank } = face(card);
  if (suit < 0 || rank === 7 || rank === 2 || suit === suitOf(trump)) return 'GROUP_TRUMPS';
  return SIDE_SUITS[suit] ?? 'GROUP_UNSPECIFIED';
}

/**
 * How high a card stands within its group. Equal cards have the same number.
 *
 * @param {number} card
 * @param {Trump} [trump]
 */
function height(card, trump) {
  const { suit, rank } = face(card);
  const onSuit = suit === suitOf(trump) ? 1 : 0;
  if (suit < 0) return 40 + rank;
  if (rank === 7) return 30 + onSuit;
  if (rank === 2) return 20 + onSuit;
  return rank === 1 ? 14 : rank;
}

/**
 * The cards as a player holds them: trumps first, from the highest, then the suits.
 *
 * @param {readonly number[]} cards
 * @param {Trump} [trump]
 */
export function sorted(cards, trump) {
  const groups = ['GROUP_TRUMPS', 'GROUP_SPADES', 'GROUP_HEARTS', 'GROUP_CLUBS', 'GROUP_DIAMONDS'];
  /** @param {number} card */
  const place = (card) => [groups.indexOf(group(card, trump)), -height(card, trump), -face(card).suit, card];
  return [...cards].sort((one, other) => {
    const [a, b] = [place(one), place(other)];
    const at = a.findIndex((value, index) => value !== b[index]);
    return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
  });
}

/** The points of a card.
 * @param {number} card */
export function points(card) {
  const { suit, rank } = face(card);
  if (suit < 0) return 0;
  return rank === 5 ? 5 : rank === 10 || rank === 13 ? 10 : 0;
}

/** The rank in the corner of a card.
 * @param {number} card */
export function rankText(card) {
  const { suit, rank } = face(card);
  return suit < 0 ? t(rank ? 'big_joker_rank' : 'small_joker_rank') : (RANKS[rank] ?? '');
}

/** What stands below the rank.
 * @param {number} card */
export function suitText(card) {
  const { suit, rank } = face(card);
  return suit < 0 ? t(rank ? 'big_joker_mark' : 'small_joker_mark') : (SYMBOLS[suit] ?? '');
}

/** The large symbol of a card.
 * @param {number} card */
export function pipText(card) {
  const { suit, rank } = face(card);
  return suit < 0 ? (rank ? '★' : '☆') : (SYMBOLS[suit] ?? '');
}

/** The name of a card, to be read aloud.
 * @param {number} card */
export function cardName(card) {
  const { suit, rank } = face(card);
  if (suit < 0) return t(rank ? 'big_joker' : 'small_joker');
  const name = SUIT_NAMES[suit] ?? 'diamonds';
  return t('card_name', { suit: t(name), rank: t(/** @type {import('./language.js').Key} */ (`rank_${rank}`)) });
}

/** @param {number} card */
function jokerText(card) {
  return t(face(card).rank ? 'big_joker_short' : 'small_joker_short');
}

/** Cards on a line, as in `♠A ♠A ★`.
 * @param {readonly number[]} cards
 * @param {Trump} [trump] */
export function cardsText(cards, trump) {
  return sorted(cards, trump)
    .map((card) => (face(card).suit < 0 ? jokerText(card) : suitText(card) + rankText(card)))
    .join(' ');
}

/** @param {Trump} trump */
export function trumpText(trump) {
  const suit = suitOf(trump);
  return suit < 0 ? t('no_trump') : `${SYMBOLS[suit]} ${t(SUIT_NAMES[suit] ?? 'diamonds')}`;
}

/** @param {Trump} trump */
export function trumpSymbol(trump) {
  const suit = suitOf(trump);
  return suit < 0 ? t('no_trump_short') : (SYMBOLS[suit] ?? '');
}

/** @param {Group} of */
export function groupText(of) {
  const suit = SIDE_SUITS.indexOf(of);
  return suit < 0 ? t('trumps') : t(SUIT_NAMES[suit] ?? 'diamonds');
}

/** @param {Group} of */
export function groupSymbol(of) {
  const suit = SIDE_SUITS.indexOf(of);
  return suit < 0 ? t('trump_short') : (SYMBOLS[suit] ?? '');
}
