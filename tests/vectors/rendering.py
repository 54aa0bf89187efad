"""A golden deal's whole text: its script, and after every line what each seat is told.

At the start of each phase comes every seat's whole view, after every other move what changed in it. A row begins with
the seats that are told, or `all`; `*` marks what the notice says beside the view, as it happens.
"""

from collections.abc import Iterable, Iterator, Mapping

from erqiwang_core.dealing import dealt
from erqiwang_core.kernel.trump import Trump
from erqiwang_core.match import Match, answer
from erqiwang_core.notation import write
from erqiwang_core.notices import cause
from erqiwang_core.options import Deck, FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.playing import Reply, Signalled, TrumpsShown
from erqiwang_core.refusals import IllegalFollow, IllegalLead, Refusal, code
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat
from erqiwang_core.view import view

from tests.deals.decks import never_shuffled
from tests.deals.walk import Change, Step, advance
from tests.vectors.scripts import Script, SeatRequest, line, seated
from tests.vectors.telling import Lines, lines, news


def render(script: Script) -> str:
    """The whole text of the file that gives this script."""
    match = seated(script)
    rows = [*script.remarks, *_given(script), *_whole_views(match)]
    for text in script.lines:
        rows.extend(("", f"> {text}"))
        move = line(match, text)
        if isinstance(move, SeatRequest):
            rows.append(f"  {_answered(answer(match, move.seat, move.request), _trump(match))}")
            continue
        step = advance(match, move, never_shuffled)
        if isinstance(step, Step):
            rows.extend(_told(step))
            match = step.after
        else:
            rows.append(f"  {_refused(step, _trump(match))}")
    return "\n".join(rows) + "\n"


def _given(script: Script) -> Iterator[str]:
    table = game_rules(script.options.game, script.options.review)
    start = dealt(table, 1, Seat(0), script.shuffled)
    yield f"table: {_table(script.options)}"
    for seat, hand in start.hands.items():
        yield f"seat {seat}: {write(hand)}"
    yield f"kitty: {write(start.kitty)}"


def _table(options: RoomOptions) -> str:
    return ", ".join([*_words(options.game), "review" if options.review else "no review"])


def _words(game: Game) -> list[str]:
    match game:
        case ThreePlayer(joker_bonus, climb):
            chosen = {"joker bonus": joker_bonus, "climb": climb}
            return ["three players", *(word for word, yes in chosen.items() if yes)]
        case FourPlayer(deck):
            return ["four players", *(["full deck"] if deck is Deck.FULL else [])]


def _trump(match: Match) -> Trump | None:
    agreed = view(match, Seat(0)).contract.agreed
    return None if agreed is None else agreed.trump


def _told(step: Step) -> Iterator[str]:
    for change in step.changes:
        yield from _said(change)
    seats, before, after = step.after.chairs.seats(), _views(step.before), _views(step.after)
    if view(step.before, Seat(0)).progress.phase is not view(step.after, Seat(0)).progress.phase:
        yield from _whole_views(step.after)
        return
    for part in before[0]:
        changed = {seat: after[seat][part] for seat in seats if before[seat][part] != after[seat][part]}
        yield from _shared({seat: f"{part}: {text or 'nothing'}" for seat, text in changed.items()}, len(seats))


def _said(change: Change) -> Iterator[str]:
    """What the notices of an event say beside the view."""
    seats = change.before.chairs.seats()
    said = {seat: news(cause(change.before, change.event, seat), _trump(change.before)) for seat in seats}
    yield from _shared({seat: f"* {text}" for seat, text in said.items() if text}, len(seats))


def _shared(rows: Mapping[Seat, str], seats: int) -> Iterator[str]:
    """The rows of all seats, those that several are told once."""
    for text in dict.fromkeys(rows.values()):
        told = [seat for seat, row in rows.items() if row == text]
        yield f"  {'all' if len(told) == seats else ' '.join(map(str, told)):<5} {text}"


def _views(match: Match) -> list[Lines]:
    return [lines(view(match, seat)) for seat in match.chairs.seats()]


def _whole_views(match: Match) -> Iterable[str]:
    """Every seat's whole view: part by part, where it holds anything."""
    seats, seen = match.chairs.seats(), _views(match)
    for part in seen[0]:
        yield from _shared({seat: f"{part}: {seen[seat][part]}" for seat in seats if seen[seat][part]}, len(seats))


def _answered(answered: Reply | Refusal, trump: Trump | None) -> str:
    match answered:
        case Signalled(sender, signal, to):
            return f"to {' '.join(map(str, to))}: seat {sender} signals {signal.name.lower().replace('_', ' ')}"
        case TrumpsShown(to, trumps):
            shown = "; ".join(f"{seat} holds {write(cards, trump) or 'none'}" for seat, cards in trumps)
            return f"to {to}: {shown}"
        case refusal:
            return _refused(refusal, trump)


def _refused(refusal: Refusal, trump: Trump | None) -> str:
    said = f"refused with code {code(refusal).value}: {type(refusal).__name__}"
    if isinstance(refusal, IllegalFollow):
        return f"{said} ({type(refusal.breach).__name__}); legal would be {write(refusal.legal, trump)}"
    if isinstance(refusal, IllegalLead):
        return f"{said} ({type(refusal.fault).__name__}); legal would be {write(refusal.legal, trump)}"
    return said
