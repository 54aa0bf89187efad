"""The rules of Erqiwang as pure, typed functions. Names exported here are public; any other name may change or move.

Read the modules in this order:

1. `units`, `seats`, `viewer`: the number types, the seats of a table, and who may look at a match.
2. `kernel`: cards, hands, trump, shapes, following and tricks, as integers and masks.
3. `options`, `rules`: what a room chooses and costs; each game as a table. `roomtype` writes the options as text.
4. `calls`, `contract`, `bidding`, `naming`, `burying`, `playing`, `settlement`: the phases of a deal; `deal` joins them.
5. `match`: `begin`, `decide`, `administer`, `answer`, `evolve`. Nothing else changes a match.
6. `parts`, `view`, `notices`: what a viewer may know, and what each event tells that viewer.
7. `players`: policies that choose commands from a view.

The function `view` has the name of its module, so import the module and call `view.view`.
"""

from erqiwang_core import view
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import (
    Command,
    Disband,
    Disbanding,
    DisbandReason,
    Event,
    HouseCommand,
    LeaveSeat,
    Match,
    Outside,
    Player,
    Ready,
    Shuffle,
    StartMatch,
    TakeSeat,
    administer,
    answer,
    begin,
    decide,
    evolve,
)
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.notices import (
    Notice,
    PublicNotice,
    Telling,
    cause,
    fold,
    fold_public,
    notice,
    telling,
    told_again,
)
from erqiwang_core.options import FourPlayer, Game, RoomOptions, Start, ThreePlayer
from erqiwang_core.parts import Part, PublicView, Shared, View
from erqiwang_core.playing import Play, Reply, Request, ShowTrumps, Signal
from erqiwang_core.refusals import Refusal
from erqiwang_core.rules import RULES_VERSION, game_rules
from erqiwang_core.seats import BySeat
from erqiwang_core.units import CardId, CardSet, Seat
from erqiwang_core.viewer import PUBLIC, Public, Viewer

__all__ = [
    "PUBLIC",
    "RULES_VERSION",
    "Bid",
    "Bury",
    "BySeat",
    "CardId",
    "CardSet",
    "Command",
    "Disband",
    "DisbandReason",
    "Disbanding",
    "Event",
    "FourPlayer",
    "Game",
    "HouseCommand",
    "LeaveSeat",
    "Match",
    "NameTrump",
    "Notice",
    "Outside",
    "Part",
    "Pass",
    "Play",
    "Player",
    "Public",
    "PublicNotice",
    "PublicView",
    "Ready",
    "Refusal",
    "Reply",
    "Request",
    "RoomOptions",
    "Seat",
    "Shared",
    "ShowTrumps",
    "Shuffle",
    "Shuffled",
    "Signal",
    "Start",
    "StartMatch",
    "Surrender",
    "TakeSeat",
    "Telling",
    "ThreePlayer",
    "View",
    "Viewer",
    "administer",
    "answer",
    "begin",
    "cause",
    "decide",
    "evolve",
    "fold",
    "fold_public",
    "game_rules",
    "notice",
    "telling",
    "told_again",
    "view",
]
