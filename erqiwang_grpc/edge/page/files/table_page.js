/**
 * A live table: a seat that is played, or a table that is watched.
 *
 * @import { Command, Notice, Parts, Refusal, SeatMessage, SignalKind, TrumpsShown } from './messages.d.ts'
 * @import { State } from './connection.js'
 * @import { Child } from './dom.js'
 * @import { Fairness } from './settlement.js'
 * @typedef {object} Exits
 * @property {(why?: string) => void} door  Goes back to the door.
 * @property {(record: import('./messages.d.ts').MatchRecord, back: () => void) => void} record  Shows a record.
 * @property {() => void} languages  The language was switched.
 */

import { actions, button } from './actions.js';
import { asked, awaited, hintText, wanted } from './asking.js';
import { row } from './card_face.js';
import { cardsText, trumpText } from './cards.js';
import { ServerClock } from './clock.js';
import { Connection } from './connection.js';
import { Details } from './details.js';
import { h, replace, update } from './dom.js';
import { around, auction, panel, trick } from './felt.js';
import { Folded } from './fold.js';
import { Hand } from './hand.js';
import { counted, joined, t } from './language.js';
import { explained, legal } from './refusals.js';
import { say } from './saying.js';
import { live, named, seatName, toldOf } from './scene.js';
import { accountPanel, fairness, settlementPanel } from './settlement.js';
import { sentences } from './telling.js';
import { facts, top } from './top.js';

const KITTY_SHOWN_MS = 3_000;
const SIGNAL_SHOWN_MS = 8_000;
const LOG_KEPT = 300;

export class TablePage {
  #folded = new Folded();
  #clock = new ServerClock();
  #details = new Details();
  #hand = new Hand((card) => this.#toggle(card));
  /** The sentences of each thing that happened, in the language in use.
   * @type {(() => string[])[]} */
  #log = [];
  /** @type {Set<number>} */
  #chosen = new Set();
  /** @type {Refusal | null} */
  #refusal = null;
  /** @type {{trumps: TrumpsShown, trick: number} | null} */
  #shown = null;
  /** @type {number[]} */
  #kitty = [];
  /** @type {Map<number, SignalKind>} */
  #signals = new Map();
  /** @type {Map<string, Fairness>} */
  #fair = new Map();
  #isSure = false;
  /** The turn for which the cards were last chosen. */
  #turn = '';
  #isDrawing = false;
  /** The hint that was given last, and the version it is for.
   * @type {{version: string, text: () => string} | null} */
  #hint = null;
  /** Whether a record is shown in the place of the table. */
  #isAway = false;
  #isLeft = false;
  /** The state of the connection that was said last.
   * @type {State} */
  #said = 'open';
  #header = h('div', { class: 'header' });
  #around = h('div', { class: 'around' });
  #middle = h('div', { class: 'middle' });
  #asking = h('div', { class: 'asking' });
  #felt = h('main', { class: 'felt' }, this.#around, this.#middle, this.#asking, this.#hand.element);
  #element = h('div', { class: 'table' }, this.#header, this.#felt, this.#details.element);
  /** @type {number} */
  #ticking;

  /**
   * @param {Element} root
   * @param {{path: string, token: string, own: boolean}} to
   * @param {Exits} exits
   */
  constructor(root, to, exits) {
    this.root = root;
    this.own = to.own;
    this.exits = exits;
    this.connection = new Connection(to.path, to.token, {
      message: (message) => this.#take(message),
      state: (state) => this.#became(state),
    });
    this.#ticking = setInterval(() => this.#tick(), 250);
    this.show();
  }

  /** Put the page in its place, also after it was away. */
  show() {
    this.#isAway = false;
    this.#draw();
    replace(this.root, this.#element);
    this.#entitle();
  }

  /** Draw everything again, for example in another language. */
  redraw() {
    this.#draw();
  }

  /** Leave the table. */
  leave() {
    this.#isLeft = true;
    clearInterval(this.#ticking);
    this.connection.close();
    document.title = t('title');
  }

  // What is heard

  /**
   * Gives false if a notice is missing before this message.
   *
   * @param {SeatMessage} message
   */
  #take(message) {
    const before = this.#folded.present;
    if (!this.#folded.take(message)) return false;
    if (message.snapshot) this.#snapshot(message.snapshot);
    else if (message.notice) this.#noticed(message.notice, true);
    else if (message.refused) this.#refused(message.refused.refusal);
    else if (message.presence) this.#presence(before, message.presence.present);
    else if (message.signalReceived) this.#signalled(message.signalReceived.seat, message.signalReceived.signal);
    else if (message.trumpsShown) this.#shown = { trumps: message.trumpsShown, trick: this.#parts.table?.number ?? 0 };
    else if (message.heartbeat) this.#clock.hear(message.heartbeat.serverTime);
    else if (message.hint) this.#hinted(message.hint);
    else if (message.recordRead?.record) this.#record(message.recordRead.record);
    this.#later();
    return true;
  }

  /** Say a hint, and choose its cards, unless the table has moved on.
   * @param {import('./messages.d.ts').Hint} hint */
  #hinted(hint) {
    if (hint.version !== String(this.#folded.version)) return;
    const { command } = hint;
    const cards = command?.playCards?.cards ?? command?.bury?.cards ?? [];
    this.#hint = { version: hint.version, text: () => t('hinted', { hint: hintText(command ?? {}, named(this.#parts)) }) };
    if (cards.length) this.#chosen = new Set(cards);
    this.#refusal = null;
    say(this.#hint.text());
  }

  /** Show the record in the place of the table. If one is shown already, the reader stays at the step where they are.
   * @param {import('./messages.d.ts').MatchRecord} record */
  #record(record) {
    if (this.#isAway) return;
    this.#isAway = true;
    this.exits.record(record, () => this.show());
  }

  /** @param {import('./messages.d.ts').Snapshot} snapshot */
  #snapshot(snapshot) {
    this.#clock.hear(snapshot.serverTime);
    if (this.#log.length) this.#tell(() => [t('reconnected')]);
    if (snapshot.missed.length) this.#keep(() => [`— ${t('missed')} —`]);
    for (const notice of snapshot.missed) this.#noticed(notice, false);
    this.#shown = null;
    this.#isSure = false;
    this.#turned();
  }

  /**
   * @param {Notice} notice
   * @param {boolean} aloud
   */
  #noticed(notice, aloud) {
    const parts = this.#parts;
    const trump = named(parts);
    const lines = () => sentences(notice, { ...toldOf(this.#parts), trump });
    if (aloud) this.#tell(lines);
    else this.#keep(lines);
    const kitty = notice.declarerFound?.shownKitty ?? [];
    if (kitty.length) this.#showKitty(kitty);
    if (notice.dealStarted) this.#signals.clear();
    if (notice.dealEnded || notice.matchEnded) this.#shown = null;
    this.#refusal = null;
    this.#turned();
  }

  /** @param {number[]} kitty */
  #showKitty(kitty) {
    this.#kitty = kitty;
    setTimeout(() => {
      this.#kitty = [];
      this.#later();
    }, KITTY_SHOWN_MS);
  }

  /** @param {Refusal | undefined} refusal */
  #refused(refusal) {
    if (refusal === undefined) return;
    this.#refusal = refusal;
    this.#isSure = false;
  }

  /**
   * @param {boolean[]} before
   * @param {boolean[]} after
   */
  #presence(before, after) {
    after.forEach((present, seat) => {
      if (before[seat] === undefined || before[seat] === present) return;
      this.#tell(() => [t(present ? 'log_back' : 'log_away', { name: seatName(this.#parts, seat) })]);
    });
  }

  /**
   * @param {number} seat
   * @param {SignalKind} signal
   */
  #signalled(seat, signal) {
    this.#signals.set(seat, signal);
    this.#tell(() => [t('log_signal', { name: seatName(this.#parts, seat), signal: t(`signal_${signal}`) })]);
    setTimeout(() => {
      if (this.#signals.get(seat) === signal) this.#signals.delete(seat);
      this.#later();
    }, SIGNAL_SHOWN_MS);
  }

  /** @param {State} state */
  #became(state) {
    if (this.#isLeft) return;
    if (state === 'refused') {
      this.leave();
      this.exits.door(t('door_bad_token'));
      return;
    }
    // It is said once, however often the page tries. That the table is back is told with the snapshot.
    if (state === 'open' || (state !== 'connecting' && state !== this.#said)) {
      this.#said = state;
      if (this.#stateText()) say(this.#stateText());
    }
    this.#later();
  }

  /** Log something and say it aloud.
   * @param {() => string[]} lines */
  #tell(lines) {
    this.#keep(lines);
    say(joined(lines()));
  }

  /** Log something.
   * @param {() => string[]} lines */
  #keep(lines) {
    this.#log.push(lines);
    if (this.#log.length > LOG_KEPT) this.#log.shift();
  }

  // What is chosen

  /** A new turn begins with the cards chosen that must be played. */
  #turned() {
    const { turn, advice, hand } = this.#parts;
    const held = new Set(hand?.cards ?? []);
    this.#chosen = new Set([...this.#chosen].filter((card) => held.has(card)));
    const key = `${this.#parts.progress?.deal} ${turn?.number} ${wanted(advice)}`;
    if (key === this.#turn) return;
    this.#turn = key;
    this.#isSure = false;
    if (advice?.follow) this.#chosen = new Set(advice.follow.must);
    else if (turn?.seat === this.#seat) this.#chosen.clear();
    const asks = this.own ? asked(this.#parts) : null;
    if (asks !== null) say(t('your_turn', { asked: asks }));
    this.#entitle();
  }

  /** The title of the tab says whether the player is asked something. While a record is shown, it has its own. */
  #entitle() {
    if (this.#isAway || this.#isLeft) return;
    const asks = this.own && asked(this.#parts) !== null;
    document.title = asks ? `${t('your_turn_title')} · ${t('title')}` : t('title');
  }

  /** @param {number} card */
  #toggle(card) {
    const { advice } = this.#parts;
    if (advice?.follow && !advice.follow.may.includes(card)) return;
    this.#refusal = null;
    if (!this.#chosen.delete(card)) this.#add(card);
    this.#draw();
  }

  /** Choose a card more. If there are too many then, the one that was chosen first and need not be played goes.
   * @param {number} card */
  #add(card) {
    const follow = this.#parts.advice?.follow;
    if (follow && this.#chosen.size >= follow.count) {
      const spare = [...this.#chosen].find((each) => !follow.must.includes(each));
      if (spare === undefined) return;
      this.#chosen.delete(spare);
    }
    this.#chosen.add(card);
  }

  /** @param {readonly number[]} cards */
  #choose(cards) {
    this.#chosen = new Set(cards);
    this.#refusal = null;
    this.#draw();
  }

  /** @param {Command} command */
  #send(command) {
    this.#refusal = null;
    this.#isSure = false;
    const isGone = this.connection.command(command);
    const signal = command.signal?.signal;
    if (signal && isGone) this.#tell(() => [t('signalled', { signal: t(`signal_${signal}`) })]);
    this.#draw();
  }

  // What is shown

  /** @returns {Parts} */
  get #parts() {
    return this.#folded.view?.parts ?? {};
  }

  get #seat() {
    return this.own ? (this.#folded.view?.seat ?? 0) : -1;
  }

  /** Draw once for all messages that came together. */
  #later() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    queueMicrotask(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw() {
    const view = this.#folded.view;
    update(this.#header, ...this.#top());
    if (view === null) {
      const { state } = this.connection;
      const text = t(state === 'open' && !this.own ? 'state_nothing_yet' : `state_${state}`);
      update(this.#middle, h('p', { class: 'nothing', tabindex: -1, 'data-refuge': true }, text));
      return;
    }
    const scene = live(view, this.own, this.#folded.present, this.#signals);
    this.#felt.setAttribute('data-phase', this.#parts.progress?.phase ?? '');
    this.#around.className = `around seats-${scene.seats}`;
    this.#around.setAttribute('role', 'group');
    this.#around.setAttribute('aria-label', t('seats_around'));
    update(this.#around, ...around(scene));
    update(this.#middle, ...this.#lying(scene));
    update(this.#asking, panel(scene, scene.bottom), ...this.#asked());
    this.#drawHand();
    this.#details.show({
      scene,
      options: view.options,
      log: this.#log,
      record: this.own ? () => this.connection.record() : null,
    });
    this.#tick();
  }

  /** @returns {Child[]} */
  #top() {
    const menu = h(
      'button',
      {
        type: 'button',
        class: 'button slight opener',
        id: 'details-opener',
        'data-key': 'menu',
        'aria-controls': 'details',
        click: () => this.#details.open(),
      },
      t('menu'),
    );
    const leave = button('leave', t('leave'), () => this.#leaveToDoor(), 'slight');
    return [top(this.exits.languages, facts(this.#parts), menu, leave), this.#banner()];
  }

  #leaveToDoor() {
    this.leave();
    this.exits.door();
  }

  /** How the connection stands, as a sentence; empty if there is nothing to say of it. */
  #stateText() {
    const { state } = this.connection;
    if (state === 'open' || state === 'connecting') return '';
    return t(state === 'unseated' && !this.own ? 'door_bad_token' : `state_${state}`);
  }

  #banner() {
    const { state } = this.connection;
    if (state === 'open') return !this.own && h('p', { class: 'banner calm' }, t('watching'));
    if (this.#folded.view === null && state === 'connecting') return null;
    if (state === 'closed' && this.#parts.progress?.phase === 'PHASE_OVER') return null;
    return h(
      'div',
      { class: 'banner' },
      h('p', {}, this.#stateText() || t(`state_${state}`)),
      state === 'displaced' && button('take-back', t('take_back'), () => this.connection.connect(), 'primary'),
      (state === 'displaced' || state === 'unseated' || state === 'closed') &&
        button('door', t('back_to_door'), () => this.#leaveToDoor()),
    );
  }

  /**
   * What lies in the middle.
   *
   * @param {import('./scene.js').Scene} scene
   * @returns {Child[]}
   */
  #lying(scene) {
    const { parts } = scene;
    const { phase } = parts.progress ?? {};
    if (this.#shown) return [this.#trumps(this.#shown), trick(scene)];
    if (this.#kitty.length) return [this.#shownKitty(), phase === 'PHASE_PLAYING' && trick(scene)];
    if (phase === 'PHASE_OVER') {
      const record =
        this.own && parts.progress?.deal ? button('record', t('to_record'), () => this.connection.record()) : null;
      return [
        accountPanel(parts),
        h(
          'div',
          { class: 'buttons' },
          record,
          button('door', t('back_to_door'), () => this.#leaveToDoor()),
        ),
        settlementPanel(parts, this.#fairness()),
      ];
    }
    if (phase === 'PHASE_SETTLED') return [settlementPanel(parts, this.#fairness())];
    if (phase === 'PHASE_OPEN') return [];
    if (phase === 'PHASE_BIDDING') return [auction(scene)];
    if (phase === 'PHASE_NAMING' || phase === 'PHASE_BURYING') return [this.#contract()];
    return [h('h2', { class: 'unseen' }, t('the_trick')), trick(scene)];
  }

  #shownKitty() {
    return h('section', { class: 'kitty-shown' }, h('h2', {}, t('kitty_shown')), row(this.#kitty));
  }

  /** What is known before the first lead. */
  #contract() {
    const { declarer, bid } = this.#parts.contract ?? {};
    const trump = named(this.#parts);
    return h(
      'div',
      { class: 'contract' },
      declarer !== undefined &&
        h('p', { class: 'big' }, t('log_declarer', { name: seatName(this.#parts, declarer), points: bid ?? 0 })),
      trump && h('p', { class: 'big' }, t('log_trump', { trump: trumpText(trump) })),
    );
  }

  /** @param {{trumps: TrumpsShown, trick: number}} shown */
  #trumps({ trumps, trick: number }) {
    const parts = this.#parts;
    return h(
      'section',
      { class: 'sheet' },
      h('p', { class: 'over-line' }, t('trick_n', { number: Math.max(1, number) })),
      h('h2', {}, t('shown_trumps')),
      ...trumps.holdings.flatMap(({ seat, cards }) => [
        h('h3', {}, seatName(parts, seat)),
        cards.length ? row(cards, named(parts)) : h('p', { class: 'quiet' }, t('shown_none')),
      ]),
      button('close-trumps', t('close'), () => {
        this.#shown = null;
        this.#draw();
      }),
    );
  }

  /** Whether the deck opens its commitment; undefined until that is worked out. */
  #fairness() {
    const { settlement, progress } = this.#parts;
    if (!settlement?.settlement || !progress) return undefined;
    const { salt, deck } = settlement;
    if (!this.#fair.has(salt)) {
      void fairness(progress.commitment, salt, deck).then((found) => {
        this.#fair.set(salt, found);
        this.#later();
      });
    }
    return this.#fair.get(salt);
  }

  /** @returns {Child[]} */
  #asked() {
    const parts = this.#parts;
    const asks = this.own ? asked(parts) : null;
    const prompt = asks ?? awaited(parts) ?? '';
    const over = parts.progress?.phase === 'PHASE_OVER';
    const last = joined(this.#log[this.#log.length - 1]?.() ?? []);
    return [
      !over && last && h('p', { class: 'last', 'aria-hidden': 'true' }, last),
      !over &&
        h(
          'p',
          { class: asks === null ? 'prompt' : 'prompt mine', tabindex: -1, 'data-refuge': true },
          this.connection.isWaiting && this.connection.mayAct ? t('ask_sending') : prompt,
        ),
      this.own && this.#hint?.version === String(this.#folded.version) && h('p', { class: 'hint', 'data-key': 'hinted' }, this.#hint.text()),
      this.own && this.#why(),
      this.own && !over && h('div', { class: 'choices' }, ...this.#actions()),
    ];
  }

  /** Why the last command does not stand. The element is always there: what is put into it is read aloud. */
  #why() {
    const cards = this.#refusal ? legal(this.#refusal) : [];
    return h(
      'div',
      { class: 'refusal', role: 'alert', 'data-key': 'refusal' },
      this.#refusal && h('p', {}, explained(this.#refusal, toldOf(this.#parts))),
      cards.length > 0 &&
        button(
          'legal',
          `${t('take_legal')}: ${cardsText(cards, named(this.#parts))}`,
          () => this.#choose(cards),
          'slight',
        ),
    );
  }

  #actions() {
    const parts = this.#parts;
    const options = this.#folded.view?.options;
    return actions({
      parts,
      seat: this.#seat,
      mayShowTrumps: Boolean(options?.threePlayer && !options.noReview && parts.trumpVoid?.voidSeats.length),
      chosen: this.#chosen,
      isWaiting: this.connection.isWaiting || !this.connection.mayAct,
      isOpen: this.connection.state === 'open',
      isSure: this.#isSure,
      send: (command) => this.#send(command),
      choose: (cards) => this.#choose(cards),
      hint: options?.noHints ? null : () => this.connection.hint(),
      makeSure: () => {
        this.#isSure = true;
        this.#draw();
      },
    });
  }

  #drawHand() {
    const { hand, advice, kitty } = this.#parts;
    const follow = advice?.follow;
    this.#hand.show(hand?.cards ?? [], named(this.#parts), {
      chosen: this.#chosen,
      must: new Set(follow?.must ?? []),
      may: follow ? new Set(follow.may) : null,
      kitty: new Set(kitty?.cards ?? []),
    });
  }

  /** Keep the countdowns up to date. */
  #tick() {
    for (const each of this.#element.querySelectorAll('[data-countdown]')) {
      if (!(each instanceof HTMLElement)) continue;
      const left = this.#clock.left(Number(each.dataset.countdown), each.dataset.began ?? '');
      const text = left > 0 ? t('countdown', { n: left }) : t('over_time');
      if (each.textContent !== text) each.textContent = text;
      each.classList.toggle('late', left === 0);
      each.title = t('countdown_name', { seconds: counted('seconds', left) });
    }
  }
}
