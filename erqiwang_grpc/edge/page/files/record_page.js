/**
 * A record, stepped through with all cards open.
 *
 * @import { MatchRecord } from './messages.d.ts'
 * @import { Step } from './record_steps.js'
 * @import { Child } from './dom.js'
 * @import { Scene } from './scene.js'
 */

import { button } from './actions.js';
import { row } from './card_face.js';
import { h, replace, update } from './dom.js';
import { around, auction, panel, trick } from './felt.js';
import { joined, t } from './language.js';
import { steps } from './record_steps.js';
import { say } from './saying.js';
import { named, seatName, toldOf } from './scene.js';
import { fairness, settlementPanel } from './settlement.js';
import { sentences } from './telling.js';
import { facts, top } from './top.js';

export class RecordPage {
  #match = 0;
  #deal = 0;
  #at = 0;
  /** @type {Step[]} */
  #steps = [];
  /** @type {import('./settlement.js').Fairness | undefined} */
  #fair;
  // It takes the focus where a reader clicks beside everything, so that the arrow keys go on.
  #element = h('div', {
    class: 'record',
    tabindex: -1,
    keydown: (event) => this.#key(/** @type {KeyboardEvent} */ (event)),
  });

  /**
   * @param {Element} root
   * @param {readonly MatchRecord[]} records  At least one. The reader chooses among several.
   * @param {{back: () => void, languages: () => void}} exits
   */
  constructor(root, records, exits) {
    this.records = records;
    this.exits = exits;
    this.#choose(0);
    replace(root, this.#element);
    // The arrow keys work from the beginning.
    this.#element.focus({ preventScroll: true });
  }

  get #record() {
    return /** @type {MatchRecord} */ (this.records[this.#match]);
  }

  /** Show the record again, for example in another language. */
  redraw() {
    document.title = `${t('record')} · ${t('title')}`;
    update(this.#element, ...this.#content());
  }

  /** @param {number} match */
  #chooseMatch(match) {
    this.#match = match;
    this.#choose(0);
  }

  /** @param {number} deal */
  #choose(deal) {
    this.#deal = deal;
    this.#steps = steps(this.#record, deal);
    this.#at = 0;
    this.#fair = undefined;
    const { commitment = '', salt = '', deck = [] } = this.#record.deals[deal] ?? {};
    void fairness(commitment, salt, deck).then((found) => {
      if (this.#record.deals[this.#deal]?.salt !== salt) return;
      this.#fair = found;
      if (this.#at === this.#steps.length - 1) this.redraw();
    });
    this.redraw();
  }

  /** @param {number} at */
  #go(at) {
    this.#at = Math.max(0, Math.min(at, this.#steps.length - 1));
    this.redraw();
    say(this.#said());
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // Such keys are the browser's own, as for its history.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#go(this.#at + step);
  }

  /** What happened in this step. */
  #said() {
    const step = this.#steps[this.#at];
    if (step === undefined) return t('record_none');
    return joined(sentences({ version: '0', ...step.event }, toldOf(step.parts)));
  }

  /** @returns {Child[]} */
  #content() {
    const step = this.#steps[this.#at];
    const back = button('back-to-table', t('record_leave'), this.exits.back, 'slight');
    if (step === undefined)
      return [top(this.exits.languages, null, back), h('main', {}, h('p', { class: 'nothing' }, t('record_none')))];
    /** @type {Scene} */
    const scene = {
      parts: step.parts,
      seats: step.hands.length,
      bottom: 0,
      own: false,
      present: [],
      signals: new Map(),
    };
    return [
      top(this.exits.languages, facts(step.parts), back),
      h(
        'main',
        { class: 'felt', 'data-phase': step.parts.progress?.phase ?? '' },
        h('div', { class: `around seats-${scene.seats}` }, ...around(scene)),
        h('div', { class: 'middle' }, this.#middle(scene)),
        h('div', { class: 'asking' }, panel(scene, 0), h('p', { class: 'prompt', tabindex: -1, 'data-refuge': true }, this.#said())),
      ),
      this.#controls(),
      this.#hands(step),
    ];
  }

  /** @param {Scene} scene */
  #middle(scene) {
    const phase = scene.parts.progress?.phase;
    if (phase === 'PHASE_SETTLED') return settlementPanel(scene.parts, this.#fair);
    if (phase === 'PHASE_BIDDING') return auction(scene);
    return scene.parts.table?.trick ? trick(scene) : h('p', { class: 'nothing' }, t('nothing_yet'));
  }

  #controls() {
    const last = this.#steps.length - 1;
    const at = this.#at;
    const step = t('record_step', { step: at + 1, steps: last + 1 });
    const slider = h('input', {
      type: 'range',
      min: 0,
      max: last,
      'data-key': 'slider',
      'aria-label': step,
      'aria-valuetext': this.#said(),
      input: (event) => this.#go(Number(/** @type {HTMLInputElement} */ (event.target).value)),
    });
    slider.value = String(at);
    return h(
      'nav',
      { class: 'controls', 'aria-label': t('record') },
      this.#matches(),
      this.#deals(),
      button('first', '«', () => this.#go(0), '', { 'aria-label': t('record_first'), disabled: at === 0 }),
      button('previous', '‹', () => this.#go(at - 1), '', { 'aria-label': t('record_back'), disabled: at === 0 }),
      slider,
      button('next', '›', () => this.#go(at + 1), 'primary', { 'aria-label': t('record_next'), disabled: at === last }),
      button('last', '»', () => this.#go(last), '', { 'aria-label': t('record_last'), disabled: at === last }),
      h('span', { class: 'quiet count' }, `${at + 1} / ${last + 1}`),
    );
  }

  /** The choice among several matches. */
  #matches() {
    if (this.records.length < 2) return null;
    const names = this.records.map(({ summary }, at) => `${at + 1}: ${(summary?.players ?? []).join(', ')}`);
    return choice('match', t('record_match'), names, this.#match, (match) => this.#chooseMatch(match));
  }

  #deals() {
    const numbers = this.#record.deals.map((deal) => String(deal.deal));
    return choice('deal', t('record_deal'), numbers, this.#deal, (deal) => this.#choose(deal));
  }

  /** @param {Step} step */
  #hands(step) {
    const trump = named(step.parts);
    /** @type {[string, number[]][]} */
    const lines = [
      ...step.hands.map((hand, seat) => /** @type {[string, number[]]} */ ([seatName(step.parts, seat), hand])),
      [t('record_kitty'), step.kitty],
      [t('record_buried'), step.buried],
    ];
    return h(
      'section',
      { class: 'hands', 'aria-label': t('record_hands') },
      ...lines
        .filter(([, cards]) => cards.length > 0)
        .map(([name, cards]) =>
          h('div', { class: 'line' }, h('h3', { class: 'by' }, name), row(cards, trump, { small: true })),
        ),
    );
  }
}

/**
 * @param {string} key
 * @param {string} name
 * @param {readonly string[]} texts
 * @param {number} chosen
 * @param {(at: number) => void} does
 */
function choice(key, name, texts, chosen, does) {
  const id = `record-${key}`;
  return h(
    'label',
    { class: `field ${key}`, for: id, 'data-key': `choice-${key}` },
    name,
    h(
      'select',
      {
        id,
        'data-key': key,
        change: (event) => does(/** @type {HTMLSelectElement} */ (event.target).selectedIndex),
      },
      ...texts.map((text, at) => h('option', { value: at, selected: at === chosen }, text)),
    ),
  );
}
