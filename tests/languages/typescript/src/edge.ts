import { randomUUID } from "node:crypto";
import type { Player, Seat } from "./player.js";
import { SeatSocket, type Subprotocol } from "./socket.js";

/** Plays a seat over the edge to the end of its match. It drops its first connection in the middle, when it is to act. */
export function playOverEdge(url: string, subprotocol: Subprotocol, player: Player, seat: Seat): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new SeatSocket(url, seat.seatToken, seat.lastVersion, subprotocol, {
      connected: () => {
        player.streams += 1;
      },
      hear: (message) => {
        try {
          player.hear(message);
        } catch (error) {
          reject(error);
          socket.leave();
          return;
        }
        if (player.over) {
          socket.leave();
          return;
        }
        const command = player.awaiting ? undefined : player.command();
        if (!command) return;
        if (player.streams === 1 && player.inTheMiddle) {
          socket.drop();
          return;
        }
        player.awaiting = { commandId: randomUUID(), request: { case: "command", value: { command } } };
        socket.act(player.awaiting);
      },
      ended: (code, reason) => (player.over ? resolve() : reject(new Error(`the edge closed with ${code} ${reason}`))),
    });
  });
}
