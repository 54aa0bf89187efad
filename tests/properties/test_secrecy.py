"""The law of secrecy: exchange cards that a viewer, a seat or the public, does not see, and it is told the same.

The exchanges leave alone what the rules themselves tell (see `worlds`). Commitments are the same in all worlds, since
the core passes them on unread; the salt differs, so that one told before the settlement breaks the law.
"""

from dataclasses import replace
from random import Random
from typing import Final

import pytest
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command, DealStarted, Match, Ready, answer
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.notices import Cause, Notice, PublicNotice, notice, told_again
from erqiwang_core.options import Game, RoomOptions
from erqiwang_core.parts import Seen
from erqiwang_core.playing import Play, ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import Phase, Refusal
from erqiwang_core.units import Seat
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC, Public, Viewer
from hypothesis import assume, given, strategies as st

from erqiwang_grpc.rooms.hints import hint, no_hint
from tests.deals.decks import never_shuffled
from tests.deals.plans import GAMES, Plan, by_chance, examples, plans, tables
from tests.deals.walk import Sent, Step, advance
from tests.properties.worlds import World, recorded, run, twin

BEFORE_PLAY: Final = (Phase.BIDDING, Phase.NAMING, Phase.BURYING)
TABLES: Final = tables()
SAMPLE: Final = 8


def chances() -> st.SearchStrategy[Random]:
    return st.integers(0, 2**32 - 1).map(Random)


def viewers(match: Match) -> tuple[Viewer, ...]:
    return (*match.chairs.seats(), PUBLIC)


def told_on_return(taken: tuple[Step, ...], viewer: Viewer) -> tuple[Cause, ...]:
    """What a viewer is told of the deal if it comes back now."""
    events = [change.event for step in taken for change in step.changes]
    started = next(place for place, event in enumerate(events) if isinstance(event, DealStarted))
    return told_again(taken[-1].after, events[started:], viewer)


def told(taken: tuple[Step, ...], viewer: Viewer) -> list[tuple[list[Notice | PublicNotice], Seen]]:
    """Everything that a viewer is told, step by step."""
    return [
        ([notice(each.before, each.event, each.after, viewer) for each in step.changes], view(step.after, viewer))
        for step in taken
    ]


def answers(match: Match, seat: Seat) -> list[Refusal | Signalled | None]:
    """What a seat is answered to all sorts of commands; None where one is accepted, or trumps are shown for one."""
    own = ids(view(match, seat).hand.cards)
    foreign = tuple(card for card in range(0, 108, 9) if card not in own)
    commands: tuple[Command, ...] = (
        Bid(70),
        Bid(5),
        Pass(),
        NameTrump(1),
        NameTrump(9),
        Surrender(),
        Bury(own[:8]),
        Bury(foreign[:8]),
        *(Play(own[low : low + size]) for low in range(0, len(own), 3) for size in (1, 2, 3, 4)),
        *(Play((card,)) for card in foreign),
        Ready(),
    )
    replies = [advance(match, Sent(seat, command), never_shuffled) for command in commands]
    asides = [answer(match, seat, request) for request in (Signal(1), Signal(9), ShowTrumps())]
    return [
        *(None if isinstance(reply, Step) else reply for reply in replies),
        *(None if isinstance(aside, TrumpsShown) else aside for aside in asides),
    ]


def hinted(taken: tuple[Step, ...], seat: Seat) -> list[tuple[Command | None, object]]:
    """The hint for a seat after each step, and why there is none."""
    return [(hint(view(step.after, seat)), no_hint(step.after, seat)) for step in taken]


def moments(world: World, phase: Phase) -> list[World]:
    """The world up to each move that leads to a state of that phase."""
    taken = run(world)
    assert taken is not None, "a recorded world is legal"
    phases = [view(step.after, Seat(0)).progress.phase for step in taken]
    return [
        replace(world, moves=world.moves[: number + 1]) for number, reached in enumerate(phases) if reached is phase
    ]


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
@examples(0.7)
@given(data=st.data(), chance=chances(), deal=st.integers(1, 2))
def test_in_play_what_is_hidden_changes_nothing_that_is_told(
    options: st.SearchStrategy[RoomOptions], data: st.DataObject, chance: Random, deal: int
) -> None:
    law_holds(data.draw(plans(options)), deal, Phase.PLAYING, chance)


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
@examples(0.2)
@given(data=st.data(), chance=chances(), deal=st.integers(1, 2), phase=st.sampled_from(BEFORE_PLAY))
def test_before_play_what_is_hidden_changes_nothing_that_is_told(
    options: st.SearchStrategy[RoomOptions], data: st.DataObject, chance: Random, deal: int, phase: Phase
) -> None:
    law_holds(data.draw(plans(options)), deal, phase, chance)


def law_holds(plan: Plan, deal: int, phase: Phase, chance: Random) -> None:
    """Up to some moment of that phase of the walk's deal, some viewer is told the same in another world."""
    reached = moments(recorded(plan, deal), phase)
    assume(reached)
    world, viewer = chance.choice(reached), chance.choice(viewers(reached[0].start))
    other = twin(world, viewer, chance)
    assume(other.moved)
    here, there = run(world), run(other.world)
    assert here is not None
    assert there is not None
    assert told(here, viewer) == told(there, viewer)
    assert told_on_return(here, viewer) == told_on_return(there, viewer)
    if not isinstance(viewer, Public):
        assert answers(here[-1].after, viewer) == answers(there[-1].after, viewer)
        assert hinted(here, viewer) == hinted(there, viewer)


@pytest.mark.parametrize("game", GAMES[3:6], ids=repr)
@pytest.mark.parametrize("review", [True, False])
def test_the_other_worlds_are_far_from_the_first(game: Game, review: bool) -> None:
    chance = Random(27)
    moved = []
    for _ in range(SAMPLE):
        world = recorded(by_chance(RoomOptions(game, review=review), chance), 1)
        for phase in (*BEFORE_PLAY, Phase.PLAYING):
            # While each seat has cards to exchange: the last tricks leave none.
            reached = [moment for moment in moments(world, phase) if len(moment.moves) < len(world.moves) * 0.8]
            if reached:
                moment = chance.choice(reached)
                moved.append(twin(moment, chance.choice(viewers(world.start)), chance).moved)
    assert len(moved) > 3 * SAMPLE
    assert sum(number > 0 for number in moved) >= 0.9 * len(moved)
    assert sum(moved) >= 15 * len(moved)
