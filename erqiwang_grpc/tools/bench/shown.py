"""The figures of a bench for people, on a terminal."""

from collections.abc import Iterator
from statistics import median

from rich import box
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from erqiwang_grpc.tools.bench.figures import MOST_RATIO, Case, Result


def shown(result: Result) -> RenderableType:
    """All figures with explanations; what was played as fast as it can comes first. Raises what `Result.ratios` raises."""
    rates = sorted({case.rate for case in result.cases}, key=lambda rate: rate is not None)
    tables = [_table(result, [case for case in result.cases if case.rate == rate]) for rate in rates]
    return Group(*_before(result), *tables, _memory(result), *_after(result))


def _before(result: Result) -> Iterator[Text]:
    machine, number = result.machine, len(result.rounds)
    yield Text(
        f"Core {machine.core}, service {machine.service}, Python {machine.python}, {machine.cores} cores; "
        f"load average {machine.load_before:.1f} before, {machine.load_after:.1f} after."
    )
    rounds = "one round" if number == 1 else f"medians of {number} rounds"
    yield Text(
        f"{result.rooms:,} rooms of {result.seats} scripted seats; {rounds} of {result.seconds:g} s. A turn is one "
        f"command, and its {result.bytes_per_turn:,.0f} bytes of messages to all seats of the room."
    )


def _table(result: Result, cases: list[Case]) -> RenderableType:
    """The cases of one rate."""
    pace = cases[0].pace
    table = _framed(
        f"{pace[0].upper()}{pace[1:]}",
        "CPU,\n× relay",
        "lowest–\nhighest",
        "CPU, µs\na turn",
        "turns a\nsecond",
        "of a\ncore",
        "p50,\nms",
        "p99,\nms",
    )
    for case in cases:
        figures, ratios = result.figures(case), result.ratios(case)
        table.add_row(
            case.name,
            f"{median(ratios):.2f}",
            f"{ratios[0]:.2f}–{ratios[-1]:.2f}",
            f"{figures.cpu_us_per_turn:,.0f}",
            f"{figures.turns_per_second:,.0f}",
            f"{figures.core_percent:.0f}%",
            f"{figures.p50_ms:.1f}",
            f"{figures.p99_ms:.1f}",
        )
    return table


def _memory(result: Result) -> RenderableType:
    """The memory, which has nothing to do with the rate: what was measured as fast as they can stands for all."""
    table = _framed("Memory", "KiB\na room", "KiB an\nattached seat")
    for case in result.cases:
        if case.rate is None:
            figures = result.figures(case)
            table.add_row(case.name, f"{figures.kib_per_room:,.1f}", f"{figures.kib_per_seat:,.1f}")
    return table


def _framed(title: str, *names: str) -> Table:
    """An empty table of figures, so narrow that 80 columns show it whole."""
    columns = (Column(name, justify="right", no_wrap=True) for name in names)
    return Table(
        Column("", no_wrap=True),
        *columns,
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.HORIZONTALS,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def _after(result: Result) -> Iterator[Text]:
    streams, gateway = (MOST_RATIO[way][result.machine.service] for way in ("streams", "gateway"))
    yield Text(
        "The relay sends the same messages and knows no game; its CPU a turn over streams is 1. Over streams each seat "
        "has its own stream and connection; a gateway has all seats of a process on one stream. p50 and p99 are from a "
        "command to its own notice."
    )
    if result.idle_seats:
        yield Text(f"{result.idle_seats:,} more seats were attached and sent nothing.")
    yield Text(
        f"Aims as fast as they can in memory, service {result.machine.service}: {streams:g} over streams, {gateway:g} through "
        "a gateway, and 5,000 turns a second."
    )
    if result.failed:
        named = "; ".join(
            f"{result.figures(case).failed:,.0f} {case.pace}, {case.name}"
            for case in result.cases
            if result.figures(case).failed
        )
        yield Text(f"Rooms that failed: {named}.", style="bold")
