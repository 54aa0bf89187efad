"""`GatewayService`: one stream that carries many seats, for a platform's own edge process.

Read the modules in this order:

1. `service`: the servicer. It admits a stream, and writes what its outbox holds.
2. `connection`: what one gateway sends: seats are opened, their requests are paid for, carried out and answered.
3. `open_seat`: one seat of a gateway, as a listener of its room.
4. `outbox`: what waits to be written, bounded over all seats, and drained in turns.
5. `eager`: begins work without a task.
"""
