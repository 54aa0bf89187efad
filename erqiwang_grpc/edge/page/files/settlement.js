/**
 * A settled deal and a match's account, with every part of the sum.
 *
 * @import { Parts, SeatScore, Settlement } from './messages.d.ts'
 * @import { Child } from './dom.js'
 */

import { row } from './card_face.js';
import { trumpText } from './cards.js';
import { h } from './dom.js';
import { listed, signed, t } from './language.js';
import { named, seatName } from './scene.js';
import { outcome } from './telling.js';

/** @typedef {'yes' | 'no' | 'unknown'} Fairness */

/**
 * A settled deal.
 *
 * @param {Parts} parts
 * @param {Fairness} [fairness]
 */
export function settlementPanel(parts, fairness) {
  const settled = parts.settlement?.settlement;
  if (settled === undefined) return null;
  const { grade, bid = 0, step } = settled;
  return h(
    'section',
    { class: 'sheet', 'aria-label': t('settled', { deal: parts.progress?.deal ?? 0 }) },
    h('p', { class: 'over-line' }, t('settled', { deal: parts.progress?.deal ?? 0 })),
    h('h2', {}, `${side(settled)} · ${outcome(parts.settlement)}`),
    h('p', { class: 'why' }, t(`why_${settled.outcome}`, { grade, bid, step })),
    h('dl', { class: 'sums' }, ...sums(settled, parts)),
    table(settled, parts),
    fairness &&
      h(
        'p',
        { class: fairness === 'no' ? 'fair wrong' : 'fair' },
        `${fairness === 'yes' ? '✓ ' : ''}${t(`fair_${fairness}`)}`,
      ),
  );
}

/** @param {Settlement} settled */
function side(settled) {
  if (settled.outcome === 'OUTCOME_DISBANDED') return t('side_nobody');
  const defenders = settled.outcome === 'OUTCOME_UPGRADE' || settled.outcome === 'OUTCOME_SURRENDERED';
  return t(defenders ? 'side_defenders' : 'side_declarer');
}

/**
 * @param {Settlement} settled
 * @param {Parts} parts
 * @returns {Child[]}
 */
function sums(settled, parts) {
  const { declarer, bid, kittyCapture, trickPoints, grade, base, multiplier, stake, buried, trump } = settled;
  const tricks = t('sum_in_tricks', { points: trickPoints });
  const kitty = kittyCapture && t('sum_kitty', { points: kittyCapture.points, multiplier: kittyCapture.multiplier });
  /** @type {[string, Child][]} */
  const lines = [
    ...(declarer === undefined ? [] : [line(t('declarer'), `${seatName(parts, declarer)} · ${bid ?? 0}`)]),
    ...(trump === 'TRUMP_UNSPECIFIED' ? [] : [line(t('trump_label'), trumpText(trump))]),
    line(t('sum_captured'), kitty ? `${tricks} + ${kitty} = ${grade}` : String(grade)),
    line(t('sum_stake'), t('sum_stake_is', { base, multiplier, stake })),
    ...(buried.length ? [line(t('sum_buried'), row(buried, named(parts), { small: true }))] : []),
  ];
  return lines.flatMap(([term, what]) => [h('dt', {}, term), h('dd', {}, what)]);
}

/**
 * @param {string} term
 * @param {Child} what
 * @returns {[string, Child]}
 */
function line(term, what) {
  return [term, what];
}

/**
 * @param {Settlement} settled
 * @param {Parts} parts
 */
function table(settled, parts) {
  const heads = [t('scores_seat'), t('sum_base'), t('sum_awards'), t('sum_deal'), t('sum_match')];
  return h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
    h(
      'tbody',
      {},
      ...settled.seats.map((score, seat) =>
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row' },
            seatName(parts, seat),
            seat === settled.declarer && h('span', { class: 'badge gold' }, t('declarer')),
            awards(score, parts),
          ),
          h('td', {}, signed(score.baseChips)),
          h('td', {}, signed(score.awardChips)),
          h('td', { class: 'strong' }, signed(score.score)),
          h('td', {}, signed(parts.progress?.totals[seat] ?? 0)),
        ),
      ),
    ),
  );
}

/**
 * What a seat's awards are for, and the cards to show for them.
 *
 * @param {SeatScore} score
 * @param {Parts} parts
 */
function awards(score, parts) {
  if (!score.awards.length && !score.awardCards.length) return null;
  const earned = listed(score.awards.map((award) => t(`award_${award.kind}`, { n: award.number })));
  return h(
    'span',
    { class: 'awards' },
    earned,
    score.awardCards.length > 0 && row(score.awardCards, named(parts), { small: true }),
  );
}

/** How the match ended.
 * @param {Parts} parts */
export function accountPanel(parts) {
  const account = parts.account?.account;
  if (account === undefined) return null;
  const asked = account.disbanding;
  return h(
    'section',
    { class: 'sheet' },
    h('h2', { tabindex: -1, 'data-refuge': true }, t(asked ? 'disbanded' : 'over')),
    asked &&
      h(
        'p',
        {},
        asked.seat === undefined ? null : t('disbanded_by', { name: seatName(parts, asked.seat) }),
        ` ${t(`reason_${asked.reason}`)} `,
        asked.text,
      ),
    h('p', { class: 'why' }, winners(parts, account.totals)),
    scores(
      parts,
      account.deals.map((deal) => deal.scores),
      account.totals,
    ),
  );
}

/**
 * The scores of each deal and their sum.
 *
 * @param {Parts} parts
 * @param {number[][]} deals
 * @param {number[]} totals
 */
export function scores(parts, deals, totals) {
  const names = totals.map((_, seat) => seatName(parts, seat));
  return h(
    'table',
    { class: 'scores' },
    h(
      'thead',
      {},
      h('tr', {}, h('th', { scope: 'col' }, t('scores_deal')), ...names.map((name) => h('th', { scope: 'col' }, name))),
    ),
    h(
      'tbody',
      {},
      ...deals.map((each, index) =>
        h('tr', {}, h('th', { scope: 'row' }, index + 1), ...each.map((score) => h('td', {}, signed(score)))),
      ),
    ),
    h(
      'tfoot',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, t('scores_total')),
        ...totals.map((total) => h('td', { class: 'strong' }, signed(total))),
      ),
    ),
  );
}

/**
 * @param {Parts} parts
 * @param {number[]} totals
 */
function winners(parts, totals) {
  const best = Math.max(...totals);
  if (best <= 0) return t('over_nobody');
  const names = totals.flatMap((total, seat) => (total === best ? [seatName(parts, seat)] : []));
  return t('over_won', { names: listed(names), amount: signed(best) });
}

/**
 * Whether a deck and its salt open the commitment. Browsers hash in secure contexts only.
 *
 * @param {string} commitment
 * @param {string} salt
 * @param {readonly number[]} deck
 * @returns {Promise<Fairness>}
 */
export async function fairness(commitment, salt, deck) {
  if (!globalThis.crypto.subtle) return 'unknown';
  const opened = new Uint8Array([...bytes(salt), ...deck]);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', opened));
  const told = bytes(commitment);
  return told.length === hash.length && hash.every((byte, index) => byte === told[index]) ? 'yes' : 'no';
}

/** @param {string} base64 */
function bytes(base64) {
  return Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
}
