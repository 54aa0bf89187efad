"""The old packet protocol (`docs/packets.md`), for clients that exist. Names are the protocol's own, so some are pinyin.

Read the modules in this order:

1. `to_seat` and `from_seat` are the packets. `writing` makes JSON of them; `from_seat` reads what a client sends.
2. `translator` is one seat's conversation: its messages in, packets out, and its packets in, commands out. It is pure.
3. `table` and `settling` make the larger packets, `numbers` the protocol's own numbers, `commands` the commands.
4. `players` asks the platform who sits where, and `who` compares the senders of packets with that.
5. `door` is the socket, `/v1/packets`.
6. `records` makes what a platform keeps of a match; no client is sent it.
"""
