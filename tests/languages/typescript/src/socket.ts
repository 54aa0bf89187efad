import { create, fromBinary, fromJsonString, type MessageInitShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  type PlayRequest,
  PlayRequestSchema,
  PlayResponseSchema,
  type SeatMessage,
} from "./gen/erqiwang/v1/seat_service_pb.js";

/** How messages stand in frames. Both are typed by the same schemas. */
export type Subprotocol = "erqiwang.v1.protobuf" | "erqiwang.v1.json";

/** After these close codes nothing is gained by coming back with the same token: docs/edge.md says what each one means. */
const FOR_GOOD = [1000, 1003, 1007, 1009, 4003, 4005, 4010, 4016];
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** The edge says something at least every 20 seconds. A browser is not told when a network is gone. */
const SILENCE_MS = 45_000;
const HEARTBEAT_MS = 20_000;

/** What a seat's socket tells. */
export interface Ears {
  /** A connection begins: a snapshot follows, and it tells what was missed. */
  connected?(): void;
  hear(message: SeatMessage): void;
  /** No further connection is tried. */
  ended(code: number, reason: string): void;
}

/**
 * One seat over `/v1/play` of `erqiwang edge`. If the connection is lost it comes back, with the last version that it saw, and
 * sends each command that has no answer again under its id. It needs nothing but the web platform.
 */
export class SeatSocket {
  private socket?: WebSocket;
  private readonly unanswered = new Map<string, PlayRequest>();
  private failures = 0;
  private wait = 0; // what a goodbye asks for, in milliseconds
  private attached = false;
  private isLeft = false;
  private isDropped = false; // what the edge then closes with says nothing
  private beat?: ReturnType<typeof setInterval>;
  private heardAt = 0;

  constructor(
    private readonly url: string,
    private readonly token: string,
    private lastVersion: bigint | undefined,
    private readonly subprotocol: Subprotocol,
    private readonly ears: Ears,
  ) {
    this.connect();
  }

  /** Sends a command. Without an id of its own it may be lost with a connection. */
  act(request: MessageInitShape<typeof PlayRequestSchema>): void {
    const asked = create(PlayRequestSchema, request);
    if (asked.commandId) this.unanswered.set(asked.commandId, asked);
    if (this.attached) this.say(asked);
  }

  /** Leaves. The seat stays taken. */
  leave(): void {
    this.isLeft = true;
    this.socket?.close(1000);
  }

  /** Closes the connection as a bad network would, for tests. */
  drop(): void {
    this.isDropped = true;
    this.socket?.close();
  }

  private connect(): void {
    const socket = new WebSocket(this.url, this.subprotocol);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.ears.connected?.();
      const value = { seatToken: this.token, lastVersion: this.lastVersion };
      this.say(create(PlayRequestSchema, { request: { case: "attach", value } }));
      this.heardAt = Date.now();
      this.beat = setInterval(() => this.lookAfter(), HEARTBEAT_MS);
    };
    socket.onmessage = ({ data }) => this.take(data);
    socket.onclose = ({ code, reason }) => this.lose(code, reason);
    this.socket = socket;
  }

  private say(request: PlayRequest): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (this.subprotocol === "erqiwang.v1.json") this.socket.send(toJsonString(PlayRequestSchema, request));
    else this.socket.send(toBinary(PlayRequestSchema, request));
  }

  private take(data: string | ArrayBuffer): void {
    this.heardAt = Date.now();
    const { messages } =
      typeof data === "string"
        ? fromJsonString(PlayResponseSchema, data, { ignoreUnknownFields: true }) // a newer edge may know more
        : fromBinary(PlayResponseSchema, new Uint8Array(data));
    for (const { message } of messages) {
      if (message.case === "accepted" || message.case === "refused") this.unanswered.delete(message.value.commandId);
      if (message.case === "notice") this.lastVersion = message.value.version;
      if (message.case === "goodbye") {
        const { seconds, nanos } = message.value.retryDelay ?? { seconds: 0n, nanos: 0 };
        this.wait = Number(seconds) * 1_000 + nanos / 1e6;
      }
      if (message.case === "snapshot") {
        this.lastVersion = message.value.version;
        this.failures = 0;
        this.attached = true;
        // Also in the middle of a connection: a snapshot may stand in place of answers.
        this.unanswered.forEach((request) => this.say(request));
      }
    }
    messages.forEach((message) => this.ears.hear(message));
  }

  private lookAfter(): void {
    if (Date.now() - this.heardAt > SILENCE_MS) this.drop();
    else this.say(create(PlayRequestSchema, { request: { case: "heartbeat", value: {} } }));
  }

  private lose(code: number, reason: string): void {
    clearInterval(this.beat);
    this.attached = false;
    if (this.isLeft || (FOR_GOOD.includes(code) && !this.isDropped)) {
      this.ears.ended(code, reason);
      return;
    }
    this.isDropped = false;
    const longest = Math.min(FIRST_WAIT_MS * 2 ** this.failures++, LONGEST_WAIT_MS);
    const wait = Math.max(longest * (0.5 + Math.random() / 2), this.wait * (1 + Math.random() / 2));
    this.wait = 0;
    setTimeout(() => (this.isLeft ? this.ears.ended(code, reason) : this.connect()), wait);
  }
}
