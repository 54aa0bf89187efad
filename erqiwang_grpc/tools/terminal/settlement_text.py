"""Settlements and accounts as text: every part of a deal's sum, and the totals of the match."""

from typing import Final

from erqiwang_core.awards import AwardKind, SeatAwards
from erqiwang_core.match import Account, Disbanding, DisbandReason, Outside
from erqiwang_core.parts import Result, Seen
from erqiwang_core.scoring import Disbanded, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade
from erqiwang_core.settlement import Settlement
from erqiwang_core.units import Seat
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from erqiwang_grpc.names import printable
from erqiwang_grpc.shuffling import opens
from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.terminal.card_text import cards, trump_name
from erqiwang_grpc.tools.terminal.seat_names import name

_AWARDS: Final = {
    AwardKind.JOKERS: "jokers",
    AwardKind.SEVENS: "7s",
    AwardKind.TWOS: "2s",
    AwardKind.CHAIN: "chain",
    AwardKind.JOKER_BONUS: "joker bonus 傍王",
    AwardKind.RUSH: "冲关",
}


def settlement(view: Seen, result: Result) -> RenderableType:
    """A settled deal: its outcome, every part of each seat's sum, and whether the deck opens its commitment.

    `view` is of the same match, after the deal.
    """
    settled = result.settlement
    parts: list[RenderableType] = [_came_out(view, settled), _captured(settled)]
    if settled.buried:
        parts.append(Text.assemble("buried: ", cards(settled.buried, settled.trump)))
    parts.append(Text(f"base {settled.base} × multiplier {settled.multiplier} = {settled.stake} between the sides"))
    parts.append(_sums(view, settled))
    opened = opens(view.progress.commitment, result.salt, result.deck)
    parts.append(Text("The deck opens its commitment." if opened else "The deck does NOT open its commitment!"))
    return Group(*parts)


def _came_out(view: Seen, settled: Settlement) -> Text:
    line = Text(f"Deal {view.progress.deal} is settled: ", "bold")
    if settled.contract is not None:
        line.append(f"{name(view, settled.contract.declarer)} bid {settled.contract.row.bid}")
    if settled.trump is not None:
        line.append_text(Text.assemble(", trump ", trump_name(settled.trump)))
    line.append(f"; {outcome(settled.outcome)}.")
    return line


def outcome(result: Outcome) -> str:
    """The outcome of a deal, in a player's words."""
    match result:
        case Shutout():
            return "shutout 大光"
        case NearShutout():
            return "near shutout 小光"
        case Made():
            return "made 过庄"
        case Upgrade(levels):
            return f"the defenders win, upgrade {levels} 升{levels}级"
        case Surrendered():
            return "surrendered 投降"
        case Disbanded():
            return "disbanded 解散"


def _captured(settled: Settlement) -> Text:
    line = f"captured: {settled.trick_points} in tricks"
    capture = settled.kitty_capture
    if capture is not None:
        line += f" + {capture.points} × {capture.multiplier} of the buried cards 扣底"
    needed = "" if settled.contract is None else f" (the defenders need {settled.contract.row.target})"
    return Text(f"{line} = {settled.grade} points{needed}")


def _sums(view: Seen, settled: Settlement) -> Table:
    # Titles in two rows keep the table within 80 columns. `no_wrap` keeps the numbers whole.
    titles = ("for\nthe bid", "for\nawards", "this\ndeal", "match")
    right = [Column(title, justify="right", no_wrap=True) for title in titles]
    table = Table("seat", "awards 奖", *right)
    declarer = None if settled.contract is None else settled.contract.declarer
    for seat, score in settled.seats.items():
        role = " (declarer)" if seat == declarer else ""
        amounts = (score.base_chips, score.award_chips, score.score, view.progress.totals[seat])
        table.add_row(name(view, seat) + role, _awards(score.awards), *(f"{amount:+}" for amount in amounts))
    return table


def _awards(earned: SeatAwards) -> Text:
    if not earned.awards:
        return Text("none")
    text = Text(", ".join(f"{_AWARDS[award.kind]} {award.number}" for award in earned.awards))
    return text.append_text(Text.assemble(": ", cards(earned.cards)))


def account(view: Seen, settled: Account) -> RenderableType:
    """How the match ended: who won or why it was disbanded, the scores of each deal, and the totals."""
    seats = view.chairs.players.seats()
    table = Table("deal", *(Column(name(view, seat), justify="right") for seat in seats), show_footer=False)
    for number, scores in enumerate(settled.deals, start=1):
        table.add_row(str(number), *(f"{score:+}" for score in scores))
    table.add_section()
    table.add_row("match", *(f"{total:+}" for total in settled.totals), style="bold")
    title = "The match is over. " if settled.disbanding is None else _disbanded(view, settled.disbanding)
    return Group(Text(f"{title}{_winners(view, settled)}", "bold"), table)


_REASONS: Final = {
    DisbandReason.AGREED: "The players agreed.",
    DisbandReason.ABSENT: "A player is away.",
    DisbandReason.MISCONDUCT: "A player broke the platform's rules.",
    DisbandReason.MAINTENANCE: "The platform needs the table to end.",
    DisbandReason.EXPIRED: "It did not begin in time.",
}
"""The sentence for each reason. A reason without a sentence is not mentioned."""


def _disbanded(view: Seen, asked: Disbanding) -> str:
    """Sentences that say that the match was disbanded, which seat asked for it if one did, and the reason if given."""
    said = ["The match was disbanded 解散."]
    if not isinstance(asked.asker, Outside):
        said.append(f"{name(view, asked.asker)} asked for it.")
    if asked.reason in _REASONS:
        said.append(_REASONS[asked.reason])
    if asked.text:
        said.append(f"“{printable(asked.text)}”")
    return " ".join(said) + " "


def _winners(view: Seen, settled: Account) -> str:
    best = max(settled.totals)
    names = [name(view, Seat(seat)) for seat, total in settled.totals.items() if total == best]
    return f"{wording.listed(names)} won {best:+}." if best else "Nobody won anything."
