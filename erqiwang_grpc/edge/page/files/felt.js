/**
 * The felt: the seats around the table, and what lies in the middle.
 *
 * @import { Scene } from './scene.js'
 * @import { Group } from './messages.d.ts'
 */

import { row } from './card_face.js';
import { groupSymbol, groupText, points } from './cards.js';
import { h } from './dom.js';
import { counted, signed, t } from './language.js';
import { named, others, place, seatName } from './scene.js';
import { disclosed } from './telling.js';

/** The panels of the other seats.
 * @param {Scene} scene */
export function around(scene) {
  return others(scene).map((seat) => panel(scene, seat));
}

/**
 * One seat: who sits there, and all that is known of it.
 *
 * @param {Scene} scene
 * @param {number} seat
 */
export function panel(scene, seat) {
  const { parts } = scene;
  const acting = parts.turn?.seat === seat;
  const own = scene.own && seat === scene.bottom;
  return h(
    'article',
    { class: `seat ${place(scene, seat)}${acting ? ' acting' : ''}`, 'data-seat': seat },
    h(
      'div',
      { class: 'who' },
      h('h3', { class: 'name' }, seatName(parts, seat)),
      own && h('span', { class: 'badge quiet' }, t('you')),
      role(scene, seat),
      presence(scene, seat),
    ),
    h(
      'div',
      { class: 'facts' },
      h('span', { class: 'score', title: t('scores_total') }, signed(parts.progress?.totals[seat] ?? 0)),
      acting && timer(scene),
      ...said(scene, seat),
      ...known(scene, seat),
    ),
  );
}

/**
 * Whether the seat is free, or its player away. After the match nobody need be there.
 *
 * @param {Scene} scene
 * @param {number} seat
 */
function presence({ parts, present }, seat) {
  if (!parts.chairs?.players[seat]) return h('span', { class: 'badge quiet' }, t('free'));
  const away = present[seat] === false && parts.progress?.phase !== 'PHASE_OVER';
  return away && h('span', { class: 'badge alert' }, t('away'));
}

/**
 * @param {Scene} scene
 * @param {number} seat
 */
function role({ parts }, seat) {
  const declarer = parts.contract?.declarer ?? parts.settlement?.settlement?.declarer;
  if (declarer === seat) return h('span', { class: 'badge gold' }, t('declarer'));
  const bidding = parts.progress?.phase === 'PHASE_BIDDING';
  if (bidding && parts.progress?.firstBidder === seat) return h('span', { class: 'badge quiet' }, t('first_bidder'));
  return null;
}

/** What is left of the countdown. The page keeps the text up to date by `data-began`.
 * @param {Scene} scene */
export function timer({ parts }) {
  const { countdown = 0, began } = parts.turn ?? {};
  if (!countdown || began === undefined) return h('span', { class: 'timer' }, t('their_turn'));
  return h('span', { class: 'timer', role: 'timer', 'data-countdown': countdown, 'data-began': began });
}

/**
 * What a seat has said: its last call, a signal, that it is ready.
 *
 * @param {Scene} scene
 * @param {number} seat
 */
function said({ parts, signals }, seat) {
  const calls = parts.auction?.calls.filter((call) => call.seat === seat) ?? [];
  const call = calls[calls.length - 1];
  const signal = signals.get(seat);
  return [
    call && h('span', { class: call.passed ? 'badge quiet' : 'badge' }, call.passed ? t('passed') : (call.points ?? 0)),
    signal && h('span', { class: 'badge bubble' }, t(`signal_${signal}`)),
    parts.settlement?.ready[seat] && h('span', { class: 'badge good' }, `✓ ${t('ready_mark')}`),
  ];
}

/**
 * What everybody knows of a seat's cards.
 *
 * @param {Scene} scene
 * @param {number} seat
 */
function known({ parts }, seat) {
  const proven = parts.inference?.seats[seat];
  const pairless = proven?.pairlessGroups.filter((group) => !proven.voidGroups.includes(group)) ?? [];
  const count = parts.trumpCounts?.counts.find((each) => each.seat === seat);
  const stated = parts.trumpVoid?.statements.find((each) => each.seat === seat);
  const shown = seat === parts.contract?.declarer ? disclosed(parts.disclosure?.disclosure) : null;
  return [
    shown && h('span', { class: 'badge quiet long', title: t('now_disclosure') }, shown),
    parts.trumpVoid?.voidSeats.includes(seat) && h('span', { class: 'badge alert' }, t('void_of_trump')),
    count &&
      h(
        'span',
        { class: 'badge quiet' },
        t('holds', { trumps: counted('trumps', count.trumps), pairs: counted('pairs', count.pairs) }),
      ),
    stated &&
      h(
        'span',
        { class: 'badge quiet' },
        t('stated', { trumps: counted('trumps', stated.trumps), pair: t(stated.hasPair ? 'a_pair' : 'no_pair') }),
      ),
    ...(proven?.voidGroups.map((group) => lacking('proven_void', '∅', group)) ?? []),
    ...pairless.map((group) => lacking('proven_pairless', '≠', group)),
  ];
}

/**
 * @param {'proven_void' | 'proven_pairless'} key
 * @param {string} mark
 * @param {Group} group
 */
function lacking(key, mark, group) {
  const name = t(key, { group: groupText(group) });
  return h(
    'span',
    { class: 'badge quiet', role: 'img', 'aria-label': name, title: name },
    `${mark}${groupSymbol(group)}`,
  );
}

/** The trick on the table.
 * @param {Scene} scene */
export function trick(scene) {
  const { parts } = scene;
  const lying = parts.table?.trick;
  if (lying === undefined) return h('p', { class: 'nothing' }, t('nothing_yet'));
  const worth = lying.plays.flatMap((play) => play.cards).reduce((sum, card) => sum + points(card), 0);
  return h(
    'div',
    { class: `trick seats-${scene.seats}`, 'data-key': `trick-${parts.table?.number ?? 0}` },
    h(
      'p',
      { class: 'number' },
      t('trick_n', { number: parts.table?.number ?? 0 }),
      worth > 0 && h('span', { class: 'worth' }, ` · ${counted('points', worth)}`),
      lying.failedThrow && h('span', { class: 'badge alert' }, t('failed_throw')),
    ),
    ...lying.plays.map((play) =>
      h(
        'div',
        {
          class: `play ${place(scene, play.seat)}${play.seat === lying.ahead ? ' ahead' : ''}`,
          'data-key': `play-${play.seat}`,
        },
        h(
          'p',
          { class: 'by' },
          h('span', { class: 'of' }, seatName(parts, play.seat)),
          play.seat === lying.ahead && h('span', { class: 'crown' }, `♛ ${t('leading')}`),
        ),
        row(play.cards, named(parts)),
      ),
    ),
  );
}

/** The bidding so far.
 * @param {Scene} scene */
export function auction({ parts }) {
  return h(
    'ol',
    { class: 'auction' },
    ...(parts.auction?.calls ?? []).map((call) =>
      h(
        'li',
        { class: call.passed ? 'quiet' : '' },
        seatName(parts, call.seat),
        h('b', {}, call.passed ? t('passed') : (call.points ?? 0)),
      ),
    ),
  );
}
