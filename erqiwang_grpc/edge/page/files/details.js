/**
 * The details beside the table: this deal, its tricks, the log, and the scores. On a small screen they lie over the table.
 *
 * @import { Scene } from './scene.js'
 * @import { RoomOptions, Trick } from './messages.d.ts'
 * @import { Child } from './dom.js'
 * @typedef {'now' | 'tricks' | 'log' | 'scores'} Tab
 * @typedef {object} Detailed
 * @property {Scene} scene
 * @property {RoomOptions | undefined} options
 * @property {(() => string[])[]} log  The sentences of each entry, oldest first.
 * @property {(() => void) | null} record  Asks for the record; null if there is none to ask for.
 */

import { row } from './card_face.js';
import { groupText, points } from './cards.js';
import { h, update } from './dom.js';
import { counted, joined, t } from './language.js';
import { auction } from './felt.js';
import { named, seatName } from './scene.js';
import { scores } from './settlement.js';
import { disclosed } from './telling.js';

/** @type {Tab[]} */
const TABS = ['now', 'tricks', 'log', 'scores'];

export class Details {
  element = h('aside', {
    class: 'details',
    id: 'details',
    keydown: (event) => this.#escape(/** @type {KeyboardEvent} */ (event)),
  });
  /** @type {Tab} */
  #tab = 'now';
  /** @type {Detailed | null} */
  #detailed = null;
  /** @type {Element | null} */
  #opener = null;

  /** @param {Detailed} detailed */
  show(detailed) {
    this.#detailed = detailed;
    this.element.setAttribute('aria-label', t('menu'));
    update(this.element, this.#tabs(), this.#panel(detailed));
  }

  /** Lay the details over the table, on a small screen. */
  open() {
    this.#opener = document.activeElement;
    this.element.classList.add('open');
    this.#focusTab();
  }

  #close() {
    this.element.classList.remove('open');
    if (this.#opener instanceof HTMLElement && this.#opener.isConnected) this.#opener.focus();
    else /** @type {HTMLElement | null} */ (document.querySelector('#details-opener'))?.focus();
  }

  #tabs() {
    return h(
      'div',
      { class: 'tabs' },
      h(
        'div',
        {
          role: 'tablist',
          'aria-label': t('menu'),
          keydown: (event) => this.#key(/** @type {KeyboardEvent} */ (event)),
        },
        ...TABS.map((tab) =>
          h(
            'button',
            {
              type: 'button',
              role: 'tab',
              id: `tab-${tab}`,
              'data-key': `tab-${tab}`,
              'aria-selected': String(tab === this.#tab),
              'aria-controls': 'tab-panel',
              tabindex: tab === this.#tab ? 0 : -1,
              click: () => this.#choose(tab),
            },
            t(`tab_${tab}`),
          ),
        ),
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'button slight closer',
          'data-key': 'close',
          'aria-label': t('close'),
          click: () => this.#close(),
        },
        '✕',
      ),
    );
  }

  /** @param {Tab} tab */
  #choose(tab) {
    this.#tab = tab;
    if (this.#detailed) this.show(this.#detailed);
    this.element.querySelector('[role="tabpanel"]')?.scrollTo(0, 0);
    this.#focusTab();
  }

  #focusTab() {
    const tab = this.element.querySelector(`#tab-${this.#tab}`);
    if (tab instanceof HTMLElement) tab.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tab = step && TABS[(TABS.indexOf(this.#tab) + step + TABS.length) % TABS.length];
    if (!tab) return;
    event.preventDefault();
    this.#choose(tab);
  }

  /** @param {KeyboardEvent} event */
  #escape(event) {
    if (event.key === 'Escape' && this.element.classList.contains('open')) this.#close();
  }

  /** @param {Detailed} detailed */
  #panel(detailed) {
    const content = { now, tricks, log, scores: totals }[this.#tab](detailed);
    return h(
      'div',
      { role: 'tabpanel', id: 'tab-panel', 'aria-labelledby': `tab-${this.#tab}`, tabindex: 0 },
      ...content,
    );
  }
}

/**
 * A heading and what stands below it; nothing if there is nothing.
 *
 * @param {string} title
 * @param {...Child} what
 */
function block(title, ...what) {
  return h('section', { class: 'block' }, h('h3', {}, title), ...what);
}

/**
 * @param {Detailed} detailed
 * @returns {Child[]}
 */
function now({ scene: { parts }, options }) {
  const cards = { small: true };
  const captured = parts.capturedCards?.cards ?? [];
  const kitty = parts.kitty?.cards ?? [];
  const buried = parts.buried?.cards ?? [];
  const told = disclosed(parts.disclosure?.disclosure);
  const blocks = [
    (parts.auction?.calls.length ?? 0) > 0 && block(t('now_bidding'), auction(/** @type {Scene} */ ({ parts }))),
    told && block(t('now_disclosure'), h('p', {}, told)),
    captured.length > 0 && block(t('now_captured_cards'), row(captured, named(parts), cards)),
    kitty.length > 0 && block(t('now_kitty'), row(kitty, named(parts), cards)),
    buried.length > 0 &&
      block(
        t('now_buried'),
        row(buried, named(parts), cards),
        h(
          'p',
          { class: 'quiet' },
          counted(
            'points',
            buried.reduce((sum, card) => sum + points(card), 0),
          ),
        ),
      ),
    proven(parts),
  ].filter(Boolean);
  const nothing = !parts.turn?.number && h('p', { class: 'quiet' }, t('now_none'));
  return [nothing, ...blocks, options && block(t('now_options'), room(options))];
}

/** @param {import('./messages.d.ts').Parts} parts */
function proven(parts) {
  const lines = (parts.inference?.seats ?? []).flatMap(({ voidGroups, pairlessGroups }, seat) => {
    const pairless = pairlessGroups.filter((group) => !voidGroups.includes(group));
    const what = [
      ...voidGroups.map((group) => t('proven_void', { group: groupText(group) })),
      ...pairless.map((group) => t('proven_pairless', { group: groupText(group) })),
    ];
    return what.length ? [h('li', {}, h('b', {}, seatName(parts, seat)), ` ${what.join(t('comma'))}`)] : [];
  });
  return lines.length > 0 && block(t('now_proven'), h('ul', { class: 'plain' }, ...lines));
}

/** @param {RoomOptions} options */
function room(options) {
  const { threePlayer, fourPlayer, deals, noReview } = options;
  const said = [
    t(fourPlayer ? 'game_four' : 'game_three'),
    t('deals_n', { n: deals }),
    t(noReview ? 'option_no_review' : 'option_review'),
    ...(threePlayer?.climb ? [t('option_climb')] : []),
    ...(threePlayer?.jokerBonus ? [t('option_joker_bonus')] : []),
    ...(fourPlayer ? [t(fourPlayer.deck === 'DECK_FULL' ? 'option_full_deck' : 'option_short_deck')] : []),
  ];
  return h('ul', { class: 'chips' }, ...said.map((each) => h('li', {}, each)));
}

/**
 * @param {Detailed} detailed
 * @returns {Child[]}
 */
function tricks({ scene: { parts }, options }) {
  const played = parts.history?.tricks ?? [];
  if (options?.noReview) return [h('p', { class: 'quiet' }, t('tricks_not_here'))];
  if (!played.length) return [h('p', { class: 'quiet' }, t('tricks_none'))];
  const declarer = parts.contract?.declarer ?? parts.settlement?.settlement?.declarer;
  return [
    h(
      'ol',
      { class: 'past', reversed: true },
      ...played.map((each, at) => past(each, at + 1, declarer, parts)).reverse(),
    ),
  ];
}

/**
 * @param {Trick} trick
 * @param {number} number
 * @param {number | undefined} declarer
 * @param {import('./messages.d.ts').Parts} parts
 */
function past(trick, number, declarer, parts) {
  const worth = trick.plays.flatMap((play) => play.cards).reduce((sum, card) => sum + points(card), 0);
  const key = trick.ahead === declarer ? 'trick_points_gone' : 'trick_points';
  return h(
    'li',
    { 'data-key': `trick-${number}` },
    h(
      'p',
      { class: 'over-line' },
      t('trick_n', { number }),
      worth > 0 && ` · ${t(key, { points: counted('points', worth) })}`,
      trick.failedThrow && ` · ${t('failed_throw')}`,
    ),
    ...trick.plays.map((play) =>
      h(
        'p',
        { class: play.seat === trick.ahead ? 'line ahead' : 'line' },
        h(
          'span',
          { class: 'by' },
          play.seat === trick.ahead && h('span', { class: 'crown', role: 'img', 'aria-label': t('leading') }, '♛ '),
          seatName(parts, play.seat),
        ),
        row(play.cards, named(parts), { small: true }),
      ),
    ),
  );
}

/**
 * @param {Detailed} detailed
 * @returns {Child[]}
 */
function log({ log: entries }) {
  const lines = entries.map((each) => joined(each())).filter(Boolean);
  return [h('ol', { class: 'log' }, ...lines.reverse().map((line) => h('li', {}, line)))];
}

/**
 * @param {Detailed} detailed
 * @returns {Child[]}
 */
function totals({ scene: { parts }, record }) {
  const account = parts.account?.account;
  const settled = (parts.progress?.deal ?? 0) - (parts.settlement?.settlement ? 0 : 1);
  const asks =
    record &&
    settled > 0 &&
    h('button', { type: 'button', class: 'button', 'data-key': 'record', click: record }, t('to_record'));
  const sums = parts.progress?.totals ?? [];
  return [
    scores(parts, account?.deals.map((deal) => deal.scores) ?? [], sums),
    settled > 0 ? asks : h('p', { class: 'quiet' }, t('scores_none')),
  ];
}
