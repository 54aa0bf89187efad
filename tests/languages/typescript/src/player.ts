import { createHash, randomUUID } from "node:crypto";
import { clearField, clone, create, equals, isFieldSet, type MessageInitShape } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type { TakeSeatResponse } from "./gen/erqiwang/v1/room_service_pb.js";
import {
  type CommandSchema,
  Goodbye_Reason,
  type Notice,
  type PlayRequest,
  PlayRequestSchema,
  type SeatMessage,
  type SeatService,
  type Snapshot,
} from "./gen/erqiwang/v1/seat_service_pb.js";
import type { Account } from "./gen/erqiwang/v1/settlement_pb.js";
import { type Parts, PartsSchema, Phase, type View, ViewSchema } from "./gen/erqiwang/v1/view_pb.js";
import { Outbox } from "./outbox.js";

/** How long a call may take; a stream has no limit. */
export const DEADLINE_MS = 10_000;

/** The number of the first part that is a seat's own. */
const OWN_PARTS = 16;

/** How often a lost server is put up with. */
const MOST_MOVES = 20;

/** What a client needs of a seat that was taken. */
export type Seat = Pick<TakeSeatResponse, "seatToken" | "lastVersion"> & Partial<Pick<TakeSeatResponse, "room">>;

export type Wish = MessageInitShape<typeof CommandSchema>["command"];

/**
 * One seat, from its first snapshot to the end of the match. It knows no rule: it acts on the suggestion in its view, and
 * checks what it is told.
 */
export class Player {
  private view?: View & { parts: Parts };
  awaiting?: MessageInitShape<typeof PlayRequestSchema>; // the command that is not answered yet
  streams = 0;
  private moves = 0; // how often the server was lost
  private started = 0; // deals whose beginning was told
  private opened = 0; // decks that were what their commitments said
  private hinted = false; // whether a hint was given for the view that we had

  constructor(
    private readonly servers: Client<typeof SeatService>[],
    private readonly headers: HeadersInit,
    public version: bigint, // the last one seen: at first the one before the seat was taken
    private readonly oneWay = false, // told by Watch, and acting by Act
  ) {}

  /** Plays to the end; what the match came to. */
  async play(): Promise<Account> {
    const converse = () => (this.oneWay ? this.converseOneWay() : this.converse());
    while (!this.over) await converse().catch((error) => this.lose(error));
    this.check((await this.seats.getView({}, { headers: this.headers, timeoutMs: DEADLINE_MS })).snapshot!);
    const account = this.view!.parts.account!.account!;
    for (const { scores } of account.deals) {
      if (scores.reduce((sum, score) => sum + score, 0) !== 0) throw new Error(`scores ${scores} do not sum to 0`);
    }
    const { started, opened, streams } = this;
    if (started !== account.deals.length || opened !== account.deals.length || streams !== 2 + this.moves) {
      throw new Error(`${started} beginnings told, ${opened} decks opened of ${account.deals.length}, ${streams} streams`);
    }
    return account;
  }

  /** Watches to the end of the match, without a seat; the headers hold a watch token. */
  async spectate(): Promise<void> {
    // The stream of a spectator ends without an error once the end of the match was told.
    while (!this.over) await this.listen().catch((error) => this.lose(error));
    if (this.view!.seat !== undefined) throw new Error("a spectator has no seat");
  }

  private async listen(): Promise<void> {
    for await (const { messages } of this.seats.watch({ lastVersion: this.version }, { headers: this.headers })) {
      messages.forEach((message) => this.hear(message));
    }
    if (!this.over) throw new Error("the server has ended the stream");
  }

  /** Checks that this spectator holds what every seat was told, and nothing else. */
  sawAll(seat: Player): void {
    const parts = clone(PartsSchema, seat.view!.parts);
    for (const field of PartsSchema.fields) if (field.number >= OWN_PARTS) clearField(parts, field);
    if (!equals(PartsSchema, parts, this.view!.parts)) throw new Error("a spectator saw something else than a seat");
  }

  /** The server in use: after each loss the next one. */
  private get seats(): Client<typeof SeatService> {
    return this.servers[this.moves % this.servers.length]!;
  }

  /** Goes on to the next server if this one is gone or leaving, and fails if there is no other or it is something else. */
  private async lose(error: unknown): Promise<void> {
    // A connection that is reset, as by a server that was killed, is ABORTED or CANCELED to this library.
    const gone = [Code.Unavailable, Code.Canceled, Code.Aborted].includes(ConnectError.from(error).code);
    if (!(error instanceof ConnectError) || !gone || this.moves >= MOST_MOVES * (this.servers.length - 1)) throw error;
    this.moves += 1;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }

  get over(): boolean {
    return this.view?.parts.progress?.phase === Phase.OVER;
  }

  /** Whether cards are played in the second half of the match. */
  get inTheMiddle(): boolean {
    if (!this.view) return false;
    const { phase, deal, deals } = this.view.parts.progress!;
    return phase === Phase.PLAYING && deal > deals / 2;
  }

  /** One stream, until the match is over or, in its middle and on our turn, the first connection is dropped. */
  private async converse(): Promise<void> {
    this.streams += 1;
    const outbox = new Outbox<PlayRequest>();
    const say = (request: MessageInitShape<typeof PlayRequestSchema>) => outbox.put(create(PlayRequestSchema, request));
    say({ request: { case: "attach", value: { lastVersion: this.version } } });
    if (this.awaiting) say(this.awaiting); // its answer may be lost; under the same id it stands once
    // Leaving the loop early drops the stream.
    for await (const { messages } of this.seats.play(outbox, { headers: this.headers })) {
      messages.forEach((message) => this.hear(message));
      if (this.over) {
        if (!this.hinted) throw new Error("no hint came");
        return;
      }
      const command = this.awaiting ? undefined : this.command();
      if (!command) continue;
      if (this.streams === 1 + this.moves && this.inTheMiddle) return;
      if (!this.hinted) say({ commandId: "hint", request: { case: "hint", value: {} } }); // answered before the command
      this.awaiting = { commandId: randomUUID(), request: { case: "command", value: { command } } };
      say(this.awaiting);
    }
    throw new Error("the server has ended the stream");
  }

  /** The same for a client that cannot stream both ways: it is told by Watch, and acts by Act. */
  private async converseOneWay(): Promise<void> {
    this.streams += 1;
    let acted = -1n; // the version at which it acted last
    for await (const { messages } of this.seats.watch({ lastVersion: this.version }, { headers: this.headers })) {
      messages.forEach((message) => this.hear(message));
      if (this.over) return;
      const command = this.awaiting || acted === this.version ? undefined : this.command();
      if (command) {
        if (this.streams === 1 + this.moves && this.inTheMiddle) return;
        this.awaiting = { commandId: randomUUID(), request: { case: "command", value: { command } } };
      }
      if (this.awaiting?.request?.case !== "command") continue;
      acted = this.version;
      const { commandId, request } = this.awaiting; // where no answer comes, it is sent again under the same id
      await this.seats.act({ commandId, command: request.value }, { headers: this.headers, timeoutMs: DEADLINE_MS });
      this.awaiting = undefined;
    }
    throw new Error("the server has ended the stream");
  }

  /** Keeps the view up to date. */
  hear({ message }: SeatMessage): void {
    switch (message.case) {
      case "snapshot":
        return this.check(message.value);
      case "notice":
        return this.fold(message.value);
      case "accepted":
        if (message.value.commandId === this.awaiting?.commandId) this.awaiting = undefined;
        return;
      case "hint":
        if (message.value.commandId !== "hint" || message.value.version !== this.version) throw new Error("another hint");
        this.hinted = message.value.command?.command.case !== undefined;
        return;
      case "refused":
        throw new Error(`refused: ${message.value.refusal?.message}`);
      case "goodbye":
        // It decides, whatever status follows. After DISPLACED or UNSEATED a client does not come back by itself. A server
        // that is leaving says DRAINING, and ends the stream with UNAVAILABLE.
        if (message.value.reason === Goodbye_Reason.DRAINING) return;
        throw new Error(`goodbye: ${Goodbye_Reason[message.value.reason]}`);
    }
  }

  /** Takes a snapshot. One of the version that we are at must be what the notices have made of the first. */
  private check({ version, view, missed }: Snapshot): void {
    if (!view?.parts) throw new Error("a snapshot without a view");
    const same = !this.view || (version === this.version && equals(ViewSchema, view, this.view));
    if (!same && version <= this.version) throw new Error(`fold at ${this.version} and snapshot at ${version} differ`);
    // What happened while we were away: the first deal may have begun before we came.
    this.started += missed.filter(({ cause }) => cause.case === "dealStarted").length;
    this.opened += missed.filter(({ cause }) => cause.case === "dealEnded").length;
    this.view = { ...view, parts: view.parts };
    this.version = version;
  }

  /** Puts the parts that changed in the place of the old ones; finished tricks are added to those that are kept. */
  private fold({ version, changed, cause }: Notice): void {
    if (version !== this.version + 1n) throw new Error(`version ${version} after ${this.version}`);
    this.version = version;
    const parts = this.view!.parts;
    if (changed?.history) {
      const { kept, tricks } = changed.history;
      changed.history.tricks = [...parts.history!.tricks.slice(0, kept), ...tricks];
      changed.history.kept = 0;
    }
    for (const field of PartsSchema.fields) {
      if (changed && isFieldSet(changed, field)) {
        reflect(PartsSchema, parts).set(field, reflect(PartsSchema, changed).get(field));
      }
    }
    if (cause.case === "dealStarted") this.started += 1;
    if (cause.case === "dealEnded") this.open(parts);
  }

  /** Checks that the deck of a settled deal is the one that was committed to before its first bid. */
  private open({ settlement, progress }: Parts): void {
    const { salt, deck } = settlement!;
    const committed = createHash("sha256").update(salt).update(Uint8Array.from(deck)).digest();
    if (!committed.equals(progress!.commitment)) throw new Error("the deck is not what was committed to");
    this.opened += 1;
  }

  /** What the view suggests; nothing where we are to wait. */
  command(): Wish {
    const choice = this.view!.parts.advice!.choice;
    switch (choice.case) {
      case "call":
        return choice.value.suggestion.case === "bid"
          ? { case: "bid", value: choice.value.suggestion.value }
          : { case: "passBid", value: {} };
      case "name":
        return { case: "nameTrump", value: choice.value.suggestion! };
      case "bury":
        return { case: "bury", value: choice.value.suggestion! };
      case "lead":
      case "follow":
        return { case: "playCards", value: choice.value.suggestion! };
      case "ready":
        return { case: "ready", value: choice.value.suggestion! };
      case undefined:
        return undefined;
    }
  }
}
