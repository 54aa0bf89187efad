/**
 * A scene: what lies on a table at one moment, of a live view or of a record.
 *
 * @import { Parts, SignalKind, View } from './messages.d.ts'
 * @typedef {object} Scene
 * @property {Parts} parts
 * @property {number} seats
 * @property {number} bottom  The seat that is shown nearest.
 * @property {boolean} own  Whether the nearest seat is the viewer's own.
 * @property {boolean[]} present  Whether each seat is present; empty if nobody knows.
 * @property {ReadonlyMap<number, SignalKind>} signals  What each seat signalled last.
 */

import { t } from './language.js';

/**
 * @param {View} view
 * @param {boolean} own
 * @param {boolean[]} present
 * @param {ReadonlyMap<number, SignalKind>} signals
 * @returns {Scene}
 */
export function live(view, own, present, signals) {
  const parts = view.parts ?? {};
  return { parts, seats: parts.chairs?.players.length ?? 3, bottom: own ? (view.seat ?? 0) : 0, own, present, signals };
}

/**
 * The player on a seat; `seat 2` if it is free.
 *
 * @param {Parts} parts
 * @param {number} seat
 */
export function seatName(parts, seat) {
  return parts.chairs?.players[seat] || t('seat_n', { seat });
}

/**
 * Who sits where and what is trump, for sentences.
 *
 * @param {Parts} parts
 * @returns {import('./telling.js').Told}
 */
export function toldOf(parts) {
  return { name: (seat) => seatName(parts, seat), trump: named(parts) };
}

/** The trump of the deal; undefined until it is named.
 * @param {Parts} parts */
export function named(parts) {
  const trump = parts.contract?.trump ?? parts.settlement?.settlement?.trump;
  return trump === 'TRUMP_UNSPECIFIED' ? undefined : trump;
}

/**
 * Where a seat is shown. The next seat is on the right.
 *
 * @param {Scene} scene
 * @param {number} seat
 * @returns {'bottom' | 'right' | 'top' | 'left'}
 */
export function place(scene, seat) {
  const after = (seat - scene.bottom + scene.seats) % scene.seats;
  if (after === 0) return 'bottom';
  if (after === 1) return 'right';
  return after === scene.seats - 1 ? 'left' : 'top';
}

/** The other seats in the order in which they are shown, from left to right.
 * @param {Scene} scene */
export function others(scene) {
  return Array.from({ length: scene.seats - 1 }, (_, index) => (scene.bottom + scene.seats - 1 - index) % scene.seats);
}
