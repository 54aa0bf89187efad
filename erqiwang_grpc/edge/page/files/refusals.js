/**
 * Why a command does not stand, in sentences for a player.
 *
 * @import { Refusal, RefusalBreach } from './messages.d.ts'
 * @import { Told } from './telling.js'
 */

import { cardName, groupText } from './cards.js';
import { counted, listed, t } from './language.js';

/**
 * What is wrong. A reason that this page does not know is told in the server's own English sentence.
 *
 * @param {Refusal} refusal
 * @param {Told} told
 * @returns {string}
 */
export function explained(refusal, told) {
  return ofCards(refusal) ?? ofBidding(refusal) ?? ofTable(refusal, told) ?? refusal.message;
}

/**
 * One whole play that would be legal, if the refusal names one.
 *
 * @param {Refusal} refusal
 * @returns {number[]}
 */
export function legal(refusal) {
  return breach(refusal)?.legal ?? refusal.severalGroups?.legal ?? refusal.sideSuitThrow?.legal ?? [];
}

/**
 * @param {Refusal} refusal
 * @returns {RefusalBreach | undefined}
 */
function breach(refusal) {
  return refusal.wholeGroupNotPlayed ?? refusal.groupNotFollowed ?? refusal.tractorNotPlayed ?? refusal.pairsNotPlayed;
}

/** @param {Refusal} refusal */
function ofCards(refusal) {
  const { severalGroups, sideSuitThrow, wrongNumberOfCards } = refusal;
  if (severalGroups) return t('no_several_groups', { groups: listed(severalGroups.groups.map(groupText)) });
  if (sideSuitThrow) return t('no_side_suit_throw', { group: groupText(sideSuitThrow.group) });
  if (refusal.wholeGroupNotPlayed) return t('no_whole_group', { group: groupText(refusal.wholeGroupNotPlayed.group) });
  if (refusal.groupNotFollowed) return t('no_group', { group: groupText(refusal.groupNotFollowed.group) });
  if (refusal.tractorNotPlayed) return t('no_tractor', { pairs: counted('pairs', refusal.tractorNotPlayed.pairs) });
  if (refusal.pairsNotPlayed) return t('no_pairs', { pairs: counted('pairs', refusal.pairsNotPlayed.pairs) });
  if (refusal.repeatedCard) return t('no_repeated_card', { card: cardName(refusal.repeatedCard.card) });
  if (refusal.cardNotHeld) return t('no_card_not_held', { card: cardName(refusal.cardNotHeld.card) });
  if (wrongNumberOfCards) {
    const expected = counted('cards', Math.max(1, wrongNumberOfCards.expected));
    return t('no_wrong_number', { expected, given: wrongNumberOfCards.given });
  }
  return undefined;
}

/** @param {Refusal} refusal */
function ofBidding(refusal) {
  if (refusal.notABid) return t('no_not_a_bid', { points: refusal.notABid.points });
  if (refusal.notATrump) return t('no_not_a_trump');
  if (refusal.firstBidderMustBid) return t('no_first_bidder', { opening: refusal.firstBidderMustBid.opening });
  if (refusal.bidNotLower) return t('no_bid_not_lower', { standing: refusal.bidNotLower.standing });
  if (refusal.surrenderNotAllowed) return t('no_surrender', { bid: refusal.surrenderNotAllowed.bid });
  return undefined;
}

/**
 * @param {Refusal} refusal
 * @param {Told} told
 */
function ofTable(refusal, { name }) {
  if (refusal.wrongPhase) return t('no_wrong_phase', { phase: t(`phase_${refusal.wrongPhase.phase}`) });
  if (refusal.notYourTurn) return t('no_not_your_turn', { name: name(refusal.notYourTurn.turn) });
  if (refusal.declarerMayNotSignal) return t('no_signal');
  if (refusal.notInThisRoom) return t('no_room_option');
  if (refusal.nobodyIsVoid) return t('no_nobody_void');
  if (refusal.hintsForbidden) return t('no_hints');
  if (refusal.nothingToDecide) return t('no_decision');
  if (refusal.tooManyHints) return t('no_busy');
  if (refusal.noSuchRecord) return t('no_record');
  if (refusal.tooManyCommands) return t('no_too_many');
  if (refusal.staleVersion) return t('no_stale');
  if (refusal.storeUnavailable || refusal.writtenByNewer || refusal.roomQuarantined) {
    return t('no_busy');
  }
  return undefined;
}
