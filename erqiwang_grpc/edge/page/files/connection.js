/**
 * The socket to the edge: sends the token, reconnects, and sends again what was not answered.
 *
 * @import { Command, PlayRequest, PlayResponse, SeatMessage } from './messages.d.ts'
 * @typedef {'connecting' | 'open' | 'waiting' | 'displaced' | 'unseated' | 'refused' | 'closed'} State
 * @typedef {object} Ears
 * @property {(message: SeatMessage) => boolean} message  False if a notice is missing before this message.
 * @property {(state: State) => void} state
 * @typedef {{command: Command, expectedVersion?: string}} Asked  A command, and the version of the table that it is for.
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
   * @type {Map<string, Asked>} */
  #unanswered = new Map();
  /** Whether a fresh snapshot was asked for and has not come. */
  #isResyncing = false;
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
   * Send a command. It is sent again after a reconnect until it is answered, and it is done at the version of the table at
   * which it was given or not at all: by then the turn may be another one. Gives false if it is lost: signals are never
   * sent again, and nothing waits for a seat that is played elsewhere.
   *
   * @param {Command} command
   */
  command(command) {
    if (!this.mayAct) return false;
    const commandId = crypto.getRandomValues(new Uint32Array(3)).join('-');
    if (command.signal || command.showTrumps) return this.#send({ commandId, command });
    // Ready can only be said of the deal that is settled, and other seats say it at the same time.
    const atVersion = this.#version !== null && !command.ready;
    const asked = { command, ...(atVersion ? { expectedVersion: String(this.#version) } : {}) };
    this.#unanswered.set(commandId, asked);
    this.#send({ commandId, ...asked });
    return true;
  }

  /** Ask for the record of the match. */
  record() {
    this.#send({ record: {} });
  }

  /** Ask what a sensible player would do. */
  hint() {
    this.#send({ commandId: 'hint', hint: {} });
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

  /** Whether a command may be given: the seat is played from here, if not at this moment then soon. */
  get mayAct() {
    return this.state === 'open' || this.state === 'waiting' || this.state === 'connecting';
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

  /**
   * Gives false if there is no open socket.
   *
   * @param {Partial<PlayRequest>} request
   */
  #send(request) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#sent = Date.now();
    this.#socket.send(JSON.stringify(request));
    return true;
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
    if (message.goodbye) {
      this.#farewell(message.goodbye);
      return;
    }
    if (message.snapshot) this.#attached(Number(message.snapshot.version));
    // The room may be so young that a spectator is told nothing of it yet: the heartbeat says that the token is good.
    if (message.heartbeat && this.#version === null) this.#opened();
    if (message.accepted) this.#unanswered.delete(message.accepted.commandId);
    if (message.refused) this.#unanswered.delete(message.refused.commandId);
    if (!this.ears.message(message)) this.#resync();
    else if (message.notice) this.#version = Number(message.notice.version);
  }

  /** @param {number} version */
  #attached(version) {
    this.#version = version;
    this.#isResyncing = false;
    this.#opened();
    // The answers that were waiting are lost. What was done already is not done again, because of its id.
    for (const [commandId, asked] of this.#unanswered) this.#send({ commandId, ...asked });
  }

  #opened() {
    this.#failures = 0;
    if (this.state !== 'open') this.#become('open');
  }

  /** Ask for a fresh snapshot, once, with what was missed since the last notice that was taken. */
  #resync() {
    if (!this.#isResyncing) this.#attach(false);
    this.#isResyncing = true;
  }

  /** @param {import('./messages.d.ts').Goodbye} goodbye */
  #farewell(goodbye) {
    if (goodbye.reason === 'REASON_DISPLACED') this.#end('displaced');
    else if (goodbye.reason === 'REASON_UNSEATED') this.#end('unseated');
    // Up to half more than was asked for, so that those who were asked alike do not all come back at once.
    else this.#later(1000 * parseFloat(goodbye.retryDelay ?? '1s') * (1 + Math.random() / 2));
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
    // A seat that was taken over may be taken back, and then its commands are answered. The others are not.
    if (state !== 'displaced') this.#unanswered.clear();
    this.#drop();
    this.#become(state);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.#isResyncing = false;
    socket?.close();
  }

  /** @param {State} state */
  #become(state) {
    this.state = state;
    this.ears.state(state);
  }
}
