/**
 * The socket to the edge: sends the token, reconnects, and sends again what was not answered.
 *
 * @import { Command, PlayRequest, PlayResponse, SeatMessage } from './messages.d.ts'
 * @typedef {'connecting' | 'open' | 'waiting' | 'displaced' | 'unseated' | 'refused' | 'closed'} State
 * @typedef {{message: (message: SeatMessage) => void, state: (state: State) => void}} Ears
 */

// The close codes after which a client does not come back by itself: docs/edge.md says what each one means. Those of
// CLOSED are the end of a table that is watched, and what only a fault of this page could bring about.
const CLOSED = [1000, 1003, 1007, 1009];
const NOT_FOUND = 4005;
const DISPLACED = 4010;
const UNAUTHENTICATED = 4016;
const SUBPROTOCOL = 'erqiwang.v1.json';
const TICK_MS = 5_000;
const HEARTBEAT_MS = 15_000;
const SILENT_MS = 45_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

export class Connection {
  /** @type {State} */
  state = 'connecting';
  /** @type {WebSocket | null} */
  #socket = null;
  /** The version last seen; null before the first snapshot.
   * @type {number | null} */
  #version = null;
  /** Commands that were not answered, by their ids.
   * @type {Map<string, Command>} */
  #unanswered = new Map();
  #failures = 0;
  #heard = 0;
  #sent = 0;
  /** @type {number | undefined} */
  #retry;
  /** @type {number | undefined} */
  #beat;

  /**
   * @param {string} path
   * @param {string} token
   * @param {Ears} ears
   */
  constructor(path, token, ears) {
    this.path = path;
    this.token = token;
    this.ears = ears;
    addEventListener('online', this.#online);
    this.connect();
  }

  /** Connect now, also after the seat was taken over elsewhere. */
  connect() {
    clearTimeout(this.#retry);
    this.#beat ??= setInterval(() => this.#tick(), TICK_MS);
    this.#drop();
    this.#become('connecting');
    const url = new URL(this.path, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, SUBPROTOCOL);
    this.#socket = socket;
    this.#heard = Date.now();
    socket.onopen = () => this.#attach(true);
    socket.onmessage = (event) => this.#hear(socket, event.data);
    socket.onclose = (event) => this.#lost(socket, event.code);
  }

  /**
   * Send a command. It is sent again after a reconnect until it is answered.
   *
   * @param {Command} command
   */
  command(command) {
    const id = crypto.getRandomValues(new Uint32Array(3)).join('-');
    if (!command.signal && !command.showTrumps) this.#unanswered.set(id, command);
    this.#send({ commandId: id, command });
  }

  /** Ask for the record of the match. */
  record() {
    this.#send({ record: {} });
  }

  /** Ask for a fresh snapshot. */
  resync() {
    this.#attach(false);
  }

  /** Leave for good. */
  close() {
    this.#send({ detach: {} });
    this.#end('closed');
    removeEventListener('online', this.#online);
  }

  /** Whether a command waits for its answer. */
  get isWaiting() {
    return this.#unanswered.size > 0;
  }

  /** @param {boolean} first */
  #attach(first) {
    this.#send({
      attach: {
        seatToken: first ? this.token : '',
        ...(this.#version === null ? {} : { lastVersion: String(this.#version) }),
      },
    });
  }

  /** @param {Partial<PlayRequest>} request */
  #send(request) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#sent = Date.now();
    this.#socket.send(JSON.stringify(request));
  }

  /**
   * @param {WebSocket} socket
   * @param {unknown} data
   */
  #hear(socket, data) {
    if (socket !== this.#socket || typeof data !== 'string') return;
    this.#heard = Date.now();
    /** @type {PlayResponse} */
    const response = JSON.parse(data);
    for (const message of response.messages) this.#take(message);
  }

  /** @param {SeatMessage} message */
  #take(message) {
    if (message.snapshot) {
      this.#version = Number(message.snapshot.version);
      this.#failures = 0;
      if (this.state !== 'open') this.#become('open');
      // The answers that were waiting are lost. What was done already is not done again, because of its id.
      for (const [commandId, command] of this.#unanswered) this.#send({ commandId, command });
    }
    if (message.notice) this.#version = Number(message.notice.version);
    if (message.accepted) this.#unanswered.delete(message.accepted.commandId);
    if (message.refused) this.#unanswered.delete(message.refused.commandId);
    if (message.goodbye) this.#farewell(message.goodbye);
    else this.ears.message(message);
  }

  /** @param {import('./messages.d.ts').Goodbye} goodbye */
  #farewell(goodbye) {
    if (goodbye.reason === 'REASON_DISPLACED') this.#end('displaced');
    else if (goodbye.reason === 'REASON_UNSEATED') this.#end('unseated');
    else this.#later(1000 * parseFloat(goodbye.retryDelay ?? '1s'));
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   */
  #lost(socket, code) {
    if (socket !== this.#socket) return;
    if (CLOSED.includes(code)) this.#end('closed');
    else if (code === DISPLACED) this.#end('displaced');
    else if (code === UNAUTHENTICATED) this.#end(this.#version === null ? 'refused' : 'unseated');
    else if (code === NOT_FOUND) this.#end('refused');
    else this.#later(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures) * (0.5 + Math.random() / 2));
  }

  /** @param {number} delay */
  #later(delay) {
    this.#drop();
    this.#failures += 1;
    this.#become('waiting');
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.connect(), delay);
  }

  #online = () => {
    if (this.state === 'waiting') this.connect();
  };

  #tick() {
    if (this.#socket !== null && Date.now() - this.#heard > SILENT_MS) this.#later(0);
    else if (Date.now() - this.#sent > HEARTBEAT_MS) this.#send({ heartbeat: { version: '0' } });
  }

  /** @param {State} state */
  #end(state) {
    clearTimeout(this.#retry);
    clearInterval(this.#beat);
    this.#beat = undefined;
    this.#drop();
    this.#become(state);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** @param {State} state */
  #become(state) {
    this.state = state;
    this.ears.state(state);
  }
}
