/**
 * Folding: a view kept up to date by putting the parts that a notice changes in their places.
 *
 * @import { Parts, SeatMessage, View } from './messages.d.ts'
 */

/**
 * The parts after a notice. Finished tricks are added to those that are kept; every other part is replaced.
 *
 * @param {Parts} parts
 * @param {Parts} changed
 * @returns {Parts}
 */
export function folded(parts, changed) {
  const next = { ...parts, ...changed };
  if (changed.history) {
    const old = parts.history?.tricks ?? [];
    next.history = { kept: 0, tricks: [...old.slice(0, changed.history.kept), ...changed.history.tricks] };
  }
  return next;
}

/** What a seat, or somebody who watches, knows from all that was told. */
export class Folded {
  /** @type {View | null} */
  view = null;
  version = 0;
  /** Whether each seat is present, seat 0 first.
   * @type {boolean[]} */
  present = [];

  /**
   * Take in the next message. Gives false if a notice is missing before it: then ask for a fresh snapshot.
   *
   * @param {SeatMessage} message
   */
  take(message) {
    if (message.snapshot) {
      this.view = message.snapshot.view ?? null;
      this.version = Number(message.snapshot.version);
    } else if (message.notice) {
      const version = Number(message.notice.version);
      if (this.view === null || version !== this.version + 1) return false;
      this.version = version;
      this.view = { ...this.view, parts: folded(this.view.parts ?? {}, message.notice.changed ?? {}) };
    } else if (message.presence) {
      this.present = message.presence.present;
    }
    return true;
  }
}
