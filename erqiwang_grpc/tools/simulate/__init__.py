"""`erqiwang simulate`: plays many deals between policies, counts what happened, and compares the policies.

Read the modules in this order:

1. `command` reads the arguments.
2. `simulation` holds what is played, with which decks, and plays it in several processes.
3. `record` is what is kept of one deal, and the row of it in a file.
4. `tally` counts over all deals. `gains` compares policies on the same decks.
5. `shown` shows both as tables.
"""
