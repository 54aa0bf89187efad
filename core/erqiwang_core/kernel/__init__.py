"""The kernel: cards, hands and tricks as integers and masks; no seat's turn, no score and no room.

Read in this order: `cards`, `hand`, `trump`, `shapes`, `following`, `trick`. Each imports only those before it.
"""
