import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import {
  type ConnectRequest,
  ConnectRequestSchema,
  type GatewayService,
  type SeatMessages,
  type SeatRequestSchema,
} from "./gen/erqiwang/v1/gateway_service_pb.js";
import { Goodbye_Reason } from "./gen/erqiwang/v1/seat_service_pb.js";
import { Outbox } from "./outbox.js";
import type { Player, Seat, Wish } from "./player.js";

type Asked = MessageInitShape<typeof SeatRequestSchema>;

/** Many seats over one stream. The handle of a seat is its place in the list. */
export class Gateway {
  constructor(
    private readonly gateways: Client<typeof GatewayService>,
    private readonly headers: HeadersInit,
    private readonly players: Player[],
    private readonly taken: Seat[],
  ) {}

  /** Plays every seat to the end of its match. */
  async play(): Promise<void> {
    while (!this.over) await this.converse();
  }

  private get over(): boolean {
    return this.players.every((player) => player.over);
  }

  /** Whether the first connection is to be dropped: whose turn it is holds back, and all have heard everything. */
  private get isToDrop(): boolean {
    const { version } = this.players[0]!;
    return this.players.every(
      (player) => player.streams === 1 && player.inTheMiddle && !player.awaiting && player.version === version,
    );
  }

  /** One stream, until every match is over or, in the middle of one, the first connection is dropped. */
  private async converse(): Promise<void> {
    const outbox = new Outbox<ConnectRequest>();
    const say = (requests: Asked[]) => outbox.put(create(ConnectRequestSchema, { requests }));
    say(this.opening());
    // Leaving the loop early drops the stream.
    for await (const { seats, goodbye } of this.gateways.connect(outbox, { headers: this.headers })) {
      if (goodbye) throw new Error(`goodbye: ${Goodbye_Reason[goodbye.reason]}`);
      const asked: Asked[] = [];
      for (const told of seats) {
        const command = this.hear(told);
        const player = this.players[told.handle]!;
        if (!command || (player.streams === 1 && player.inTheMiddle)) continue;
        const commandId = randomUUID();
        player.awaiting = { commandId };
        const request = { case: "command", value: { command } } as const;
        asked.push({ handle: told.handle, commandId, request });
      }
      if (this.over || this.isToDrop) return;
      // What many seats say together is one message.
      if (asked.length > 0) say(asked);
    }
    throw new Error("the server has ended the stream");
  }

  /** Asks for every seat, from the last version that it has seen. */
  private opening(): Asked[] {
    return this.players.map((player, handle) => {
      player.streams += 1;
      player.awaiting = undefined;
      const open = { seatToken: this.taken[handle]!.seatToken, lastVersion: player.version };
      return { handle, request: { case: "open", value: open } };
    });
  }

  /** Takes in what a seat is told; what it has to say, or nothing where it is to wait. */
  private hear({ handle, messages, ended }: SeatMessages): Wish {
    const player = this.players[handle]!;
    messages.forEach((message) => player.hear(message));
    if (ended) throw new Error(`seat ${handle} has ended: ${ended.reason} ${ended.message}`);
    return player.awaiting || player.over ? undefined : player.command();
  }
}
