"""The figures as tables. All of them fit into 80 columns."""

from typing import Final

from erqiwang_core.seats import seats
from rich.table import Column, Table

from erqiwang_grpc.tools.simulate.gains import Comparison, Gain
from erqiwang_grpc.tools.simulate.tally import OUTCOMES, Tally
from erqiwang_grpc.tools.terminal.console import Console

# Broken by hand: where a table is too wide, headings are cut apart before they are broken.
_DECLARED: Final = ("declared", "contested", "surrenders", "won of\nplayed", "captured\na deal", "ms to\ndecide")


def show(tally: Tally, comparison: Comparison | None, seconds: float) -> None:
    """Print all counts, the comparison if there is one, and how fast it went."""
    console = Console()
    console.print(_outcomes(tally))
    console.print(_counts(tally))
    console.print(_declared(tally))
    console.print(_chips(tally) if comparison is None else _gains(comparison))
    console.print(
        f"{tally.deals:,} deals in {seconds:.1f} s: {tally.deals / seconds:,.0f} deals "
        f"and {tally.decisions / seconds:,.0f} decisions a second"
    )


def _outcomes(tally: Tally) -> Table:
    table = Table(Column("bid", justify="right"), *(_outcome_column(name) for name in OUTCOMES))
    for bid in tally.bids():
        table.add_row(str(bid), *(f"{tally.outcomes[bid, name] or '':}" for name in OUTCOMES))
    return table


def _outcome_column(name: str) -> Column:
    """A column as wide as the longest word of its name, so that all of them fit into 80 columns."""
    return Column(name, justify="right", width=max(len(word) for word in name.split()))


def _counts(tally: Tally) -> Table:
    table = Table("", Column("in all", justify="right"), Column("a deal", justify="right"))
    rows = {
        "tricks": tally.tricks,
        "captured points": tally.captured,
        "throws": tally.throws,
        "failed throws": tally.failed_throws,
        "ruffs": tally.ruffs,
    }
    rows |= {f"kitty captured ×{times}": number for times, number in sorted(tally.kitty_captures.items())}
    for name, number in rows.items():
        table.add_row(name, f"{number:,}", f"{number / tally.deals:.2f}")
    return table


def _chips(tally: Tally) -> Table:
    table = Table(
        "policy",
        Column("chips", justify="right"),
        Column("a deal and seat", justify="right"),
        Column("95 %", justify="right"),
    )
    for name in tally.policies():
        chips, per_deal = f"{tally.chips[name]:+,}", f"{tally.chips_per_deal(name):+.2f}"
        table.add_row(name, chips, per_deal, _interval(tally.margin(name)))
    return table


def _declared(tally: Tally) -> Table:
    """What each policy made of the deals that it declared, and how long it thinks."""
    table = Table("policy", *(Column(name, justify="right") for name in _DECLARED))
    for name in tally.policies():
        declared = tally.declared[name]
        table.add_row(
            name,
            f"{declared.deals:,}",
            f"{declared.contested:,}",
            f"{declared.surrenders:,}",
            "" if declared.won_share is None else f"{declared.won_share:.1%}",
            "" if declared.captured_per_deal is None else f"{declared.captured_per_deal:.1f}",
            f"{tally.paces[name].milliseconds:.2f}",
        )
    return table


def _gains(comparison: Comparison) -> Table:
    table = Table(
        "policy",
        "seat",
        Column(f"all {comparison.baseline}", justify="right"),
        Column("with the policy", justify="right"),
        Column("gain a deal", justify="right"),
        Column("95 %", justify="right"),
    )
    for name in comparison.others:
        for seat in seats(comparison.seats):
            table.add_row(name, str(seat), *_gain(comparison.gain(name, (seat,))))
        table.add_row(name, "all", *_gain(comparison.gain(name, seats(comparison.seats))), end_section=True)
    return table


def _gain(gain: Gain) -> tuple[str, str, str, str]:
    return f"{gain.baseline:+z.2f}", f"{gain.policy:+z.2f}", f"{gain.gain:+z.2f}", _interval(gain.margin)


def _interval(margin: float | None) -> str:
    return "" if margin is None else f"±{margin:.2f}"
