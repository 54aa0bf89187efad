"""The old packet protocol (`docs/packets.md`), for clients that exist. Names are the protocol's own, so some are pinyin.

`to_seat` and `from_seat` hold the packets; `writing` makes JSON of them. `translator` is the heart: one seat's messages in,
packets out, and its packets in, commands out; `table` and `settling` make the larger packets, `numbers` the protocol's
numbers, `who` compares the sender. `records` makes the two packets that a platform keeps. `platform` is what only the
platform knows. `door` is the socket.
"""
