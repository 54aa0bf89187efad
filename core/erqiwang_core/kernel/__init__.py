"""The kernel: cards, hands and tricks as integers and masks. It knows no turns, no scores and no rooms.

Read in this order: `cards`, `hand`, `trump`, `shapes`, `following`, `trick`. Each imports only those before it.
"""
