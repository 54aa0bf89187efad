// Plays a match over generated code alone: every seat of a new room, or one seat by its token.
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { equals } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { playOverEdge } from "./edge.js";
import { GatewayService } from "./gen/erqiwang/v1/gateway_service_pb.js";
import { RoomService } from "./gen/erqiwang/v1/room_service_pb.js";
import { SeatService } from "./gen/erqiwang/v1/seat_service_pb.js";
import { AccountSchema } from "./gen/erqiwang/v1/settlement_pb.js";
import { Gateway } from "./gateway.js";
import { DEADLINE_MS, Player, type Seat } from "./player.js";

const { values: flags } = parseArgs({
  options: {
    address: { type: "string", default: process.env.ERQIWANG_ADDRESS ?? "127.0.0.1:50051" },
    key: { type: "string", default: process.env.ERQIWANG_KEY ?? "" },
    "gateway-key": { type: "string", default: process.env.ERQIWANG_GATEWAY_KEY ?? "" },
    edge: { type: "string" }, // the address of an edge: ws://…/v1/play
    frames: { type: "string", default: "protobuf" }, // or json
    token: { type: "string" },
    "last-version": { type: "string", default: "0" }, // the version that came with the token
    game: { type: "string", default: "three" },
  },
});

const bearing = (credential: string) => ({ authorization: `Bearer ${credential}` });

/** Creates a room and takes its seats: of each its token, and the version to attach with. */
async function openTable(transport: Transport, key: string, game: string): Promise<Seat[]> {
  const rooms = createClient(RoomService, transport);
  const headers = bearing(key);
  const players = game === "four" ? "fourPlayer" : "threePlayer";
  const choice = { case: "options", value: { game: { case: players, value: {} } } } as const;
  const request = { commandId: randomUUID(), owner: "player 0", choice: { choice } };
  const { room } = await rooms.createRoom(request, { headers, timeoutMs: DEADLINE_MS });
  const taken: Seat[] = [];
  for (const { seat } of room!.seats) {
    const take = { roomId: room!.roomId, player: `player ${seat}`, seat, commandId: randomUUID() };
    taken.push(await rooms.takeSeat(take, { headers, timeoutMs: DEADLINE_MS }));
  }
  return taken;
}

// One server, or several of one store.
const sessions = flags.address.split(",").map((address) => new Http2SessionManager(`http://${address}`));
const transports = sessions.map((sessionManager) =>
  createGrpcTransport({ baseUrl: sessionManager.authority, sessionManager }),
);
const own = flags.token && { seatToken: flags.token, lastVersion: BigInt(flags["last-version"]) };
const taken = own ? [own] : await openTable(transports[0]!, flags.key, flags.game);
const servers = transports.map((transport) => createClient(SeatService, transport));
const players = taken.map((seat) => new Player(servers, bearing(seat.seatToken), seat.lastVersion));
if (flags["gateway-key"]) {
  const gateways = createClient(GatewayService, transports[0]!);
  await new Gateway(gateways, bearing(flags["gateway-key"]), players, taken).play();
}
if (flags.edge) {
  const subprotocol = flags.frames === "json" ? "erqiwang.v1.json" : "erqiwang.v1.protobuf";
  await Promise.all(players.map((player, seat) => playOverEdge(flags.edge!, subprotocol, player, taken[seat]!)));
}
// A seat whose match is over already opens no stream.
const [account, ...others] = await Promise.all(players.map((player) => player.play()));
for (const other of others) {
  if (!equals(AccountSchema, account!, other)) throw new Error("seats disagree on the account");
}
const { deals, totals } = account!;
console.log(
  `typescript: seats played ${taken.length}, deals ${deals.length}, totals [${totals.join(" ")}], all checks hold`,
);
sessions.forEach((session) => session.abort());
