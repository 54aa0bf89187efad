"""A digest of everything that happened and was told in some matches, to compare one process with another."""

import sys
from hashlib import sha256
from random import Random

from erqiwang_core.options import RoomOptions
from erqiwang_core.view import view

from tests.deals.plans import GAMES, by_chance
from tests.deals.walk import steps


def digest(seed: int) -> str:
    """The digest of every move, event and view of one deal at each kind of table."""
    chance, summed = Random(seed), sha256()
    for game in GAMES:
        for review in (False, True):
            plan = by_chance(RoomOptions(game, review=review), chance)
            for step in steps(plan):
                summed.update(repr((step.move, [change.event for change in step.changes])).encode())
                for seat in step.after.chairs.seats():
                    summed.update(repr(view(step.after, seat)).encode())
    return summed.hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
