"""Decks for tests, with chosen hands. Only a server in the test's process accepts one; `erqiwang serve` never does."""

from collections.abc import Collection, Mapping
from random import Random

from erqiwang_core.dealing import Shuffled
from erqiwang_core.rules import Rules
from erqiwang_core.units import CardId

from erqiwang_grpc.shuffling import SALT_BYTES, Shuffler, commitment


def holding(hands: Mapping[int, Collection[int]], *, seed: int = 0) -> Shuffler:
    """A shuffler that deals each seat at least the given cards, in every deal. `seed` decides all other cards.

    Cards are ids, as in docs/cards.json. A shuffle raises `ValueError` if the game has no such seat or card, if a card
    is given twice, or if a seat is given more cards than a hand has.
    """
    random = Random(seed)

    def shuffle(rules: Rules) -> Shuffled:
        _check(hands, rules)
        given = {card for cards in hands.values() for card in cards}
        rest = [card for card in rules.deck if card not in given]
        random.shuffle(rest)
        order: list[CardId] = []
        for seat in range(rules.seats):
            own = [CardId(card) for card in hands.get(seat, ())]
            missing = rules.hand_size - len(own)
            order += own + rest[:missing]
            del rest[:missing]
        order += rest
        salt = random.randbytes(SALT_BYTES)
        return Shuffled(tuple(order), salt, commitment(salt, order))

    return shuffle


def _check(hands: Mapping[int, Collection[int]], rules: Rules) -> None:
    deck, given = set(rules.deck), set[int]()
    for seat, cards in hands.items():
        if not 0 <= seat < rules.seats:
            raise ValueError(f"there is no seat {seat}")
        if len(cards) > rules.hand_size:
            raise ValueError(f"seat {seat} is given {len(cards)} cards, and a hand has {rules.hand_size}")
        for card in cards:
            if card not in deck:
                raise ValueError(f"card {card} is not in this game's deck")
            if card in given:
                raise ValueError(f"card {card} is given twice")
            given.add(card)
