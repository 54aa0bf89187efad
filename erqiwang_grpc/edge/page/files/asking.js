/**
 * What the viewer's seat is asked, and whom the table waits for.
 *
 * @import { AdvicePart, Parts } from './messages.d.ts'
 */

import { cardsText, trumpText } from './cards.js';
import { counted, listed, t } from './language.js';
import { seatName } from './scene.js';

/** What the seat must do, as a sentence; null if it is to wait.
 * @param {Parts} parts */
export function asked(parts) {
  const advice = parts.advice ?? {};
  if (advice.call) {
    const standing = parts.auction?.standing;
    return standing === undefined ? t('ask_bid') : t('ask_bid_lower', { standing });
  }
  if (advice.name) return t('ask_name');
  if (advice.bury) return t('ask_bury', { cards: counted('cards', advice.bury.count) });
  if (advice.lead) return t('ask_lead');
  if (advice.follow) {
    const cards = counted('cards', advice.follow.count);
    return t(advice.follow.must.length ? 'ask_follow_must' : 'ask_follow', { cards });
  }
  return advice.ready ? t('ask_ready') : null;
}

/** Whom the table waits for, as a sentence; null if for nobody.
 * @param {Parts} parts */
export function awaited(parts) {
  const phase = parts.progress?.phase;
  const seat = parts.turn?.seat;
  if (phase === 'PHASE_OPEN') return t('ask_open');
  if (phase === 'PHASE_SETTLED') {
    const late = parts.settlement?.ready.flatMap((ready, each) => (ready ? [] : [seatName(parts, each)])) ?? [];
    return t('ask_wait_ready', { names: listed(late) });
  }
  if (seat === undefined || phase === undefined) return null;
  const name = seatName(parts, seat);
  if (phase === 'PHASE_BIDDING') return t('ask_wait_bid', { name });
  if (phase === 'PHASE_NAMING') return t('ask_wait_name', { name });
  return t(phase === 'PHASE_BURYING' ? 'ask_wait_bury' : 'ask_wait_play', { name });
}

/** How many cards the seat is to choose; 0 if it may choose any number, null if it is to choose none.
 * @param {AdvicePart | undefined} advice */
export function wanted(advice) {
  if (advice?.bury) return advice.bury.count;
  if (advice?.follow) return advice.follow.count;
  return advice?.lead ? 0 : null;
}

/** A hint in words.
 * @param {import('./messages.d.ts').Command} command
 * @param {import('./messages.d.ts').Trump | undefined} trump */
export function hintText(command, trump) {
  if (command.bid) return t('do_bid', { points: command.bid.points });
  if (command.passBid) return t('do_pass');
  if (command.nameTrump) return trumpText(command.nameTrump.trump);
  if (command.surrender) return t('do_surrender');
  return cardsText(command.playCards?.cards ?? command.bury?.cards ?? [], trump);
}

/** The cards of the suggestion, if it is one of cards.
 * @param {AdvicePart | undefined} advice */
export function suggested(advice) {
  return advice?.bury?.suggestion?.cards ?? advice?.lead?.suggestion?.cards ?? advice?.follow?.suggestion?.cards ?? [];
}
