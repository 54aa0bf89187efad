/**
 * What happened, in sentences.
 *
 * @import { Disclosure, Notice, SettlementPart, Trump, TrumpStatement } from './messages.d.ts'
 * @typedef {{name: (seat: number) => string, trump: Trump | undefined}} Told  Who sits where, and what is trump.
 */

import { cardsText, trumpText } from './cards.js';
import { counted, listed, t } from './language.js';

/**
 * The sentences of an event; none if there is nothing to say.
 *
 * @param {Notice} notice
 * @param {Told} told
 * @returns {string[]}
 */
export function sentences(notice, told) {
  const { name } = told;
  if (notice.seatTaken) return [t('log_seat_taken', { name: notice.seatTaken.player })];
  if (notice.seatLeft) return [t('log_seat_left', { seat: t('seat_n', { seat: notice.seatLeft.seat }) })];
  if (notice.dealStarted) {
    return [t('log_deal', { deal: notice.dealStarted.deal, name: name(notice.dealStarted.firstBidder) })];
  }
  if (notice.bidMade) return [t('log_bid', { name: name(notice.bidMade.seat), points: notice.bidMade.points })];
  if (notice.bidPassed) return [t('log_pass', { name: name(notice.bidPassed.seat) })];
  if (notice.declarerFound) return declarer(notice.declarerFound, told);
  if (notice.trumpNamed) return [t('log_trump', { trump: trumpText(notice.trumpNamed.trump) })];
  if (notice.cardsBuried) {
    const { declarer: seat, voidSeats, statements } = notice.cardsBuried;
    const counts = disclosed(notice.changed?.disclosure?.disclosure);
    const shown = counts === null ? [] : [t('log_disclosed', { counts })];
    return [t('log_buried', { name: name(seat) }), ...shown, ...voids(voidSeats, statements, told)];
  }
  if (notice.cardsLed) return led(notice.cardsLed, told);
  if (notice.cardsFollowed) return followed(notice.cardsFollowed, told);
  if (notice.dealEnded) return [t('log_ended', { outcome: outcome(notice.changed?.settlement) })];
  if (notice.seatReady) return [t('log_ready', { name: name(notice.seatReady.seat) })];
  if (notice.matchEnded) return [t(notice.matchEnded.disbanding ? 'log_disbanded' : 'log_over')];
  return [];
}

/**
 * @param {import('./messages.d.ts').DeclarerFound} found
 * @param {Told} told
 */
function declarer(found, { name }) {
  const said = [t('log_declarer', { name: name(found.declarer), points: found.points })];
  if (found.shownKitty.length) said.push(t('log_kitty', { cards: cardsText(found.shownKitty) }));
  return said;
}

/**
 * @param {import('./messages.d.ts').CardsLed} lead
 * @param {Told} told
 */
function led(lead, told) {
  const values = { name: told.name(lead.seat), cards: cardsText(lead.cards, told.trump) };
  const said = [t(lead.failedThrow ? 'log_failed_throw' : 'log_led', values)];
  if (lead.attempted.length) said.push(t('log_attempted', { cards: cardsText(lead.attempted, told.trump) }));
  return [...said, ...voids(lead.voidSeats, lead.statements, told)];
}

/**
 * @param {import('./messages.d.ts').CardsFollowed} play
 * @param {Told} told
 */
function followed(play, told) {
  const said = [t('log_followed', { name: told.name(play.seat), cards: cardsText(play.cards, told.trump) })];
  if (play.taken) {
    const { winner, points, captured } = play.taken;
    const key = captured ? 'log_captured' : points ? 'log_taken_gone' : 'log_taken';
    said.push(t(key, { name: told.name(winner), points: counted('points', points) }));
  }
  return [...said, ...voids(play.voidSeats, play.statements, told)];
}

/**
 * @param {number[]} seats
 * @param {TrumpStatement[]} statements
 * @param {Told} told
 */
function voids(seats, statements, { name }) {
  const said = seats.length ? [t('log_void', { names: listed(seats.map(name)) })] : [];
  for (const each of statements) {
    const pair = t(each.hasPair ? 'a_pair' : 'no_pair');
    said.push(t('log_stated', { name: name(each.seat), trumps: counted('trumps', each.trumps), pair }));
  }
  return said;
}

/**
 * The outcome of a deal, in a player's words.
 *
 * @param {SettlementPart | undefined} part
 */
export function outcome(part) {
  const settled = part?.settlement;
  if (settled === undefined) return t('outcome_OUTCOME_UNSPECIFIED');
  return t(`outcome_${settled.outcome}`, { n: settled.multiplier });
}

/**
 * The declarer's disclosure in words; null if nothing is told.
 *
 * @param {Disclosure | undefined} told
 */
export function disclosed(told) {
  if (!told) return null;
  const { holding, jokers, sevens, twos } = told;
  return listed([
    ...(holding
      ? [counted('trumps', holding.trumps), counted('pairs', holding.pairs), counted('tractors', holding.tractors)]
      : []),
    ...(jokers ? [t('disclosed_jokers', { n: jokers })] : []),
    ...(sevens ? [t('disclosed_sevens', { n: sevens })] : []),
    ...(twos ? [t('disclosed_twos', { n: twos })] : []),
  ]);
}
