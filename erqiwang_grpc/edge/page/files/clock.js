/** The server's clock, as far as it is known here. The browser's own clock need not be right. */

export class ServerClock {
  #ahead = 0;

  /** The server has said what time it is.
   * @param {string | undefined} time */
  hear(time) {
    if (time !== undefined) this.#ahead = Date.parse(time) - Date.now();
  }

  /** Milliseconds since 1970 by the server's clock. */
  get now() {
    return Date.now() + this.#ahead;
  }

  /**
   * Whole seconds left of a countdown. Nothing happens when there are none left.
   *
   * @param {number} countdown
   * @param {string} began
   */
  left(countdown, began) {
    const left = countdown - (this.now - Date.parse(began)) / 1000;
    return Math.max(0, Math.min(countdown, Math.ceil(left)));
  }
}
