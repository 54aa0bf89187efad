"""A match in a terminal: prints what a seat is told, asks what it must do, and understands what a person types.

Read `telling` first: it prints a match event by event, with `settlement_text`, `card_text` and `seat_names`, on the
`lines` of a `console`. `questions` asks and understands the answer, in English or in `chinese`, and `refusal_text`
explains a refusal. `hearing` reads a seat's stream, `keyboard` reads standard input, and `person` joins them into a
seat for a person. `hosting` starts a server with a full room, and plays its other seats.
"""
