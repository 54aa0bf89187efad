/**
 * The buttons for what the viewer's seat may do now.
 *
 * @import { AdvicePart, CallAdvice, Command, NameAdvice, Parts, SignalKind } from './messages.d.ts'
 * @import { Child } from './dom.js'
 * @typedef {object} Acting
 * @property {Parts} parts
 * @property {number} seat
 * @property {boolean} mayShowTrumps
 * @property {ReadonlySet<number>} chosen
 * @property {boolean} isWaiting  Whether a command waits for its answer, or none may be given.
 * @property {boolean} isOpen  Whether there is a connection. A signal is not sent later.
 * @property {boolean} isSure  Whether the player has asked to surrender, and is asked again.
 * @property {(command: Command) => void} send
 * @property {(cards: readonly number[]) => void} choose
 * @property {() => void} makeSure
 * @property {(() => void) | null} hint  Asks for a hint; null if the room forbids hints.
 */

import { suggested, wanted } from './asking.js';
import { group, groupText, suitOf, trumpSymbol, trumpText } from './cards.js';
import { h } from './dom.js';
import { counted, listed, t } from './language.js';
import { named } from './scene.js';

/** @type {SignalKind[]} */
const SIGNALS = ['SIGNAL_KIND_CAN_BEAT', 'SIGNAL_KIND_NO_POINTS', 'SIGNAL_KIND_HAS_POINTS'];

/** The buttons, and what they need to be understood.
 * @param {Acting} acting
 * @returns {Child[]} */
export function actions(acting) {
  const { advice } = acting.parts;
  return [
    advice?.call && calls(acting, advice.call),
    advice?.name && names(acting, advice.name),
    wanted(advice) !== null && play(acting, advice ?? {}),
    advice?.ready &&
      h(
        'div',
        { class: 'buttons' },
        button('ready', t('do_ready'), () => acting.send({ ready: {} }), 'primary', { disabled: acting.isWaiting }),
      ),
    hints(acting),
    asides(acting),
  ];
}

/**
 * @param {string} key
 * @param {Child} text
 * @param {() => void} does
 * @param {string} [look]
 * @param {{[name: string]: string | boolean | null}} [more]
 */
export function button(key, text, does, look = '', more = {}) {
  return h('button', { type: 'button', class: `button ${look}`, 'data-key': key, click: does, ...more }, text);
}

/**
 * @param {Acting} acting
 * @param {CallAdvice} advice
 */
function calls({ send, isWaiting }, advice) {
  const many = advice.bids.length > 14;
  return h(
    'div',
    { class: 'calls' },
    h(
      'div',
      { class: many ? 'bids many' : 'bids', role: 'group', 'aria-label': t('bids') },
      ...advice.bids.map((points) =>
        button(`bid-${points}`, points, () => send({ bid: { points } }), 'bid', {
          'aria-label': t('do_bid', { points }),
          disabled: isWaiting,
        }),
      ),
    ),
    advice.mayPass && button('pass', t('do_pass'), () => send({ passBid: {} }), 'primary', { disabled: isWaiting }),
  );
}

/**
 * @param {Acting} acting
 * @param {NameAdvice} advice
 */
function names(acting, advice) {
  const { send, isSure, makeSure, isWaiting } = acting;
  return h(
    'div',
    { class: 'buttons' },
    ...advice.choices.map(({ trump, pairs }) => {
      const suit = suitOf(trump);
      const look = suit < 0 ? 'trump none' : suit % 2 === 0 ? 'trump red' : 'trump black';
      const name = `${trumpText(trump)}, ${counted('pairs', pairs)}`;
      const face = h(
        'span',
        { class: 'two-lines' },
        h('b', {}, trumpSymbol(trump)),
        h('small', {}, counted('pairs', pairs)),
      );
      return button(trump, face, () => send({ nameTrump: { trump } }), look, {
        'aria-label': name,
        title: name,
        disabled: isWaiting,
      });
    }),
    advice.maySurrender &&
      button(
        'surrender',
        t(isSure ? 'do_surrender_sure' : 'do_surrender'),
        () => (isSure ? send({ surrender: {} }) : makeSure()),
        isSure ? 'danger' : '',
        { disabled: isWaiting },
      ),
  );
}

/**
 * @param {Acting} acting
 * @param {AdvicePart} advice
 */
function play(acting, advice) {
  const { chosen, send, choose, parts, isWaiting } = acting;
  const count = wanted(advice) ?? 0;
  const cards = [...chosen];
  const does = () => send(advice.bury ? { bury: { cards } } : { playCards: { cards } });
  const text = t(advice.bury ? 'do_bury' : advice.lead ? 'do_lead' : 'do_play');
  const tally = count ? ` ${t('chosen_of', { chosen: chosen.size, count })}` : chosen.size ? ` ${chosen.size}` : '';
  const groups = advice.lead ? [...new Set(cards.map((card) => group(card, named(parts))))] : [];
  return h(
    'div',
    { class: 'playing' },
    h(
      'div',
      { class: 'buttons' },
      button('suggest', t('do_suggest'), () => choose(suggested(advice))),
      button('clear', t('do_clear'), () => choose([]), '', { disabled: chosen.size === 0 }),
      button('play', `${text}${tally}`, does, 'primary', {
        disabled: isWaiting || (count ? chosen.size !== count : chosen.size === 0),
      }),
    ),
    groups.length > 1 && h('p', { class: 'hint' }, t('chosen_groups', { groups: listed(groups.map(groupText)) })),
  );
}

/** What a sensible player would do, while there is something to decide.
 * @param {Acting} acting */
function hints({ parts, hint, isOpen }) {
  const { call, name, bury, lead, follow } = parts.advice ?? {};
  if (hint === null || !(call ?? name ?? bury ?? lead ?? follow)) return null;
  return h('div', { class: 'buttons' }, button('hint', t('do_hint'), hint, 'slight', { disabled: !isOpen }));
}

/** Signals and shown trumps: what may be done at any moment of play.
 * @param {Acting} acting */
function asides(acting) {
  const { parts, seat, send, mayShowTrumps, isOpen } = acting;
  const disabled = !isOpen;
  if (parts.progress?.phase !== 'PHASE_PLAYING') return null;
  const defends = parts.contract?.declarer !== undefined && parts.contract.declarer !== seat;
  if (!defends && !mayShowTrumps) return null;
  return h(
    'div',
    { class: 'asides', role: 'group', 'aria-label': t('signals') },
    ...(defends ? SIGNALS : []).map((signal) =>
      button(signal, t(`signal_${signal}`), () => send({ signal: { signal } }), 'slight', { disabled }),
    ),
    mayShowTrumps &&
      button('show-trumps', t('do_show_trumps'), () => send({ showTrumps: {} }), 'slight', { disabled }),
  );
}
